"""Every shape of date, in several languages."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visualproof_server.proving.values.dates import scan_dates


def days(text: str) -> set[str]:
    return {str(r.day) for read in scan_dates(text) for r in read.readings}


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-15", "2026/10/15", "15.10.2026", "15/10/2026", "October 15, 2026",
        "15 October 2026", "15th of October 2026", "15-Oct-26", "15OCT2026", "15. Oktober 2026",
        "15 octobre 2026", "15 de octubre de 2026", "15 ottobre 2026", "15 de outubro de 2026",
        "15 oktober 2026", "20261015", "2026年10月15日", "Date:2026-10-1513:18:48",
        "15-10-202618:05",
    ],
)  # fmt: skip
def test_reads_the_fifteenth_of_october(text: str) -> None:
    assert days(text) == {"2026-10-15"}


def test_an_undecided_order_keeps_both_days() -> None:
    assert days("03/04/2026") == {"2026-04-03", "2026-03-04"}


@pytest.mark.parametrize(
    "text",
    ["1.2.3.4", "INV-12-05-2018", "January l1, 2028", "32/13/2020", "2026-02-30", "12345678901"],
)
def test_is_no_date(text: str) -> None:
    assert days(text) == set()


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2100, 12, 31)))
def test_every_day_reads_back(day: date) -> None:
    assert days(day.isoformat()) == {day.isoformat()}
    assert day.isoformat() in days(day.strftime("%d/%m/%Y"))
    assert days(day.strftime("%d %B %Y")) == {day.isoformat()}


@given(st.text(max_size=60))
def test_any_text_is_scanned(text: str) -> None:
    scan_dates(text)
