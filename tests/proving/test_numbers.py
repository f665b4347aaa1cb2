"""Every way to write a number, and what is none."""

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.locales import conventions
from visualproof_server.proving.values.number_read import readings_of
from visualproof_server.proving.values.numbers import scan_numbers


def values(text: str) -> list[Decimal]:
    """Signed, scaled values of the numbers that can be read in one way."""
    out: list[Decimal] = []
    for read in scan_numbers(plain(text)):
        if not read.doubts and len(read.values()) == 1:
            out += read.values()
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16,020.00", "16020.00"),
        ("1.256,70 EUR", "1256.70"),
        ("1'234.50", "1234.50"),
        ("12,34,567.00", "1234567.00"),
        ("1,234,567", "1234567"),
        ("(52)", "-52"),
        ("52-", "-52"),
        ("−1,200.00", "-1200.00"),
        ("$-2", "-2"),
        ("-RM5", "-5"),
        ("RM33.90", "33.90"),
        ("$4.2 billion", "4200000000"),
        ("12.4M", "12400000.0"),
        ("3 lakh", "300000"),
        (".50", "0.50"),
        ("٣٤٥", "345"),
        ("20 %", "20"),
        ("4°C", "4"),
        ("32A", "32"),
    ],
)
def test_reads(text: str, expected: str) -> None:
    assert values(text) == [Decimal(expected)]


@pytest.mark.parametrize(
    "text",
    [
        "INV-2026-0417", "2019-2020", "25/12/2018", "12:30", "1.2.3.4", "B111", "007-9", "10²",
        "104110x3", "1,23,4", "12.34.56",
    ],
)  # fmt: skip
def test_is_no_number(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("GBP 250,000.00 in each year", ""), ("EUR 12.50 a month", ""), ("12 in each box", ""),
        ("£4.00 kg", ""), ("12 in", "in"), ("12in wide", "in"), ("16 A", "A"), ("5 kg net", "kg"),
    ],
)  # fmt: skip
def test_units_are_told_from_words_of_the_sentence(text: str, unit: str) -> None:
    (read,) = scan_numbers(plain(text))
    assert read.unit == unit


@pytest.mark.parametrize("text", ["1.250", "1,250"])
def test_one_mark_and_three_digits_can_be_read_twice(text: str) -> None:
    assert {r.value for r in readings_of(text)} == {Decimal("1250"), Decimal("1.250")}


@pytest.mark.parametrize("text", ["Total - 52.00", "52.00 CR"])
def test_a_detached_dash_or_credit_leaves_the_sign_open(text: str) -> None:
    assert [r.sign for r in scan_numbers(text)] == ["?"]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**9))
def test_english_grouping_reads_back(value: Decimal) -> None:
    assert values(f"{value:,.2f}") == [value]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**9))
def test_german_grouping_reads_back(value: Decimal) -> None:
    text = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    assert values(text) == [value]


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_scanned_within_bounds(text: str) -> None:
    for read in scan_numbers(plain(text)):
        assert 0 <= read.start < read.end <= len(text)


def test_long_digits_cost_no_more_than_their_length() -> None:
    # Compared within one run: doubling the input must not square the time.
    def cost(length: int) -> float:
        text = "1," * length
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            scan_numbers(text)
            best = min(best, time.perf_counter() - start)
        return best

    cost(1000)
    assert cost(40_000) < 40 * max(cost(10_000), 1e-3)


def test_locales_settle_marks_and_orders() -> None:
    assert conventions("de-DE").decimal_mark == ","
    assert conventions("fr-FR").groups_by_space
    assert conventions("en-MY").date_order == "DMY"
    assert conventions("en-US").date_order == "MDY"
    assert conventions("en").date_order == ""
    assert conventions("no such tag").decimal_mark == ""
