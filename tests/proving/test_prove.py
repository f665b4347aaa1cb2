"""Statuses, reasons and actions: one behaviour each."""

import time
from pathlib import Path
from typing import Any

import pytest
from visualproof_server.model.report import (
    REASONS,
    Action,
    FieldResult,
    FieldSpec,
    Relation,
    Status,
)
from visualproof_server.model.request import ProveRequest, StatusAction
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.prove import Index, prove

from proving.claims import codes, report_of, result_of, word
from proving.pages import printed


def test_smallest_run_without_its_decoys() -> None:
    lines = ["2 ovens 6 and 7 shelves", "6 x 7000 Watts  32 A", "6 x 70 kg"]
    result = result_of(lines, "6 x 7000 Watts", word(2, "6 x 7000 Watts"), kind="text")
    assert result.evidence[0].block_ids == ("L2.W1", "L2.W2", "L2.W3", "L2.W4")


def test_a_run_goes_on_into_the_next_line() -> None:
    lines = ["Six-burner range with", "cast iron supports"]
    value = "Six-burner range with cast iron supports"
    result = result_of(lines, value, word(1, value), kind="text")
    assert result.status is Status.VERIFIED
    assert len(result.evidence[0].boxes) == 2


@pytest.mark.parametrize(
    ("printed_line", "value", "code"),
    [
        ("The fee is not refundable", "The fee is refundable", "NEGATION_DIFFERS"),
        ("Room 17 north wing", "Room 11 north wing", "DIGIT_DIFFERS"),
        ("Room seven north wing", "Room seven south wing", "WORD_DIFFERS"),
    ],
)
def test_a_text_that_differs_says_how(printed_line: str, value: str, code: str) -> None:
    result = result_of([printed_line], value, word(1, value), kind="text")
    assert (result.status, codes(result)[0]) == (Status.MISMATCH, code)
    assert result.printed_text == printed_line


@pytest.mark.parametrize(
    ("kind", "line", "value", "code"),
    [
        ("money", "Total 16,020.00", 16200.00, "DIGIT_DIFFERS"),
        ("money", "Total 602.00", 60.2, "VALUE_DIFFERS"),
        ("number", "Net (52)", 52, "SIGN_DIFFERS"),
        ("money", "Net income $4.2 billion", "$4.2 million", "SCALE_DIFFERS"),
        ("money", "Due EUR 12.40", "USD 12.40", "CURRENCY_DIFFERS"),
        ("date", "Issued 2026-10-15", "2026-10-16", "VALUE_DIFFERS"),
        ("identifier", "No INV-2026-0417", "INV-2026-0471", "DIGIT_DIFFERS"),
        ("percent", "Rate 19 %", "20%", "DIGIT_DIFFERS"),
        ("quantity", "Weight 20 kg", "20 t", "UNIT_DIFFERS"),
        ("phone", "Tel +44 113 496 0000", "+44 113 496 0001", "DIGIT_DIFFERS"),
        ("boolean", "Insured: no", True, "VALUE_DIFFERS"),
    ],
)
def test_a_typed_value_that_differs_is_never_green(
    kind: str, line: str, value: Any, code: str
) -> None:
    result = result_of([line], value, word(1, str(value)), kind=kind)
    assert result.status is Status.MISMATCH
    assert code in codes(result)


def test_a_text_of_digits_with_zeros_before_them_is_no_number() -> None:
    for value, line in (("00123", "Account 0123"), ("0123", "Account 123"), ("000", "Code 0000")):
        assert result_of([line], value, word(1, value)).status is not Status.VERIFIED
        assert result_of([line], value).status is not Status.VERIFIED
    for value, line in (("0123", "Account 0123"), ("0.50", "Fee 0.50"), ("0", "Items 0")):
        assert result_of([line], value, word(1, value)).status is Status.VERIFIED


@pytest.mark.parametrize(
    ("kind", "line", "value"),
    [
        ("money", "Total RM 33.90", 33.9),
        ("money", "Total due 16,020.00", "16020.00"),
        ("number", "Staff 1,204", "1,204"),
        ("percent", "Rate 7.5 %", 7.5),
        ("quantity", "Weight 20 kg", "20 kg"),
        ("quantity", "Six 7000 Watts", "7000 W"),
        ("date", "Issued October 15, 2026", "2026-10-15"),
        ("identifier", "IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("phone", "Tel: +44 (113) 496-0000", "+441134960000"),
        ("email", "write to Sales@Example.com.", "sales@example.com"),
        ("url", "see https://example.com/a/", "example.com/a"),
        ("boolean", "Insured: Yes", True),
        ("choice", "Incoterm: DAP", "dap"),
        ("text", "Ｆｕｌｌ width", "full WIDTH"),
        ("quote", "“It’s done”", '"It\'s done"'),
    ],
)
def test_what_is_printed_is_verified(kind: str, line: str, value: Any) -> None:
    locale = "en-GB" if kind == "number" else ""
    assert (
        result_of([line], value, word(1, str(value)), kind=kind, locale=locale).status
        is Status.VERIFIED
    )


def test_every_kind_has_a_case_above() -> None:
    assert set(KINDS) <= {
        "money", "number", "percent", "quantity", "date", "identifier", "phone", "email", "url",
        "boolean", "choice", "text", "quote", "time", "datetime",
    }  # fmt: skip


def test_likeness_never_makes_green() -> None:
    lines = ["The quick brown fox jumps over the lazy dog near the old stone bridge by the river."]
    value = lines[0].replace("stone", "store")
    assert result_of(lines, value, word(1, value), kind="text").status is not Status.VERIFIED


def test_a_part_of_a_number_identifier_or_word_is_not_it() -> None:
    line = ["Water 104110 m3, order INV-2026-0417, Subtotal"]
    assert result_of(line, 41, kind="number").status is Status.NOT_FOUND
    assert result_of(line, "INV-2026", kind="identifier").status is not Status.VERIFIED
    assert result_of(line, "total", kind="text").status is not Status.VERIFIED


def test_a_repeated_amount_is_ambiguous_and_a_repeated_name_is_proven() -> None:
    amounts = result_of(["50.00 food", "50.00 fuel"], 50, kind="money")
    assert (amounts.status, len(amounts.candidates)) == (Status.AMBIGUOUS, 2)
    assert codes(amounts) == ["SEVERAL_PLACES"]
    names = result_of(["Northgate Ltd", "Northgate Ltd"], "Northgate Ltd", kind="text")
    assert (names.status, len(names.candidates)) == (Status.VERIFIED, 1)


def test_an_amount_on_a_total_row_outranks_its_tender() -> None:
    result = result_of(["Total 33.90", "Cash 33.90"], 33.9, kind="money")
    assert (result.status, result.evidence[0].block_ids) == (Status.VERIFIED, ("L1.W2",))


def test_a_negative_amount_beside_its_positive_is_ambiguous() -> None:
    assert result_of(["Total 33.90", "Cash -33.90"], -33.9, kind="money").status is Status.AMBIGUOUS


@pytest.mark.parametrize(
    ("line", "value", "code"),
    [
        ("Rate 0%", "0", "UNIT_DIFFERS"),
        ("Change -52", "52", "SIGN_DIFFERS"),
        ("Sum $12.4M", "12.4M", "UNIT_DIFFERS"),
    ],
)
def test_a_text_does_not_lose_its_sign_or_unit(line: str, value: str, code: str) -> None:
    result = result_of([line], value, kind="text")
    assert (result.status, codes(result)) == (Status.EVIDENCE_ONLY, [code])


def test_a_table_claim_where_no_table_was_read_is_unsupported() -> None:
    result = result_of(["Sum 75.00"], 75, [{"type": "TABLE", "id": 1}], kind="money")
    assert (result.status, codes(result)) == (Status.UNSUPPORTED, ["TABLES_NOT_READ"])


def test_a_long_text_is_proven_by_several_lines() -> None:
    lines = ["Goods remain our property", "until paid in full."]
    proof = [{"type": "LINE", "id": 1}, {"type": "LINE", "id": 2}]
    value = "Goods remain our property until paid in full."
    assert result_of(lines, value, proof, kind="text").status is Status.VERIFIED


@pytest.mark.parametrize(
    ("value", "code"), [("it is Done.", "CASE_DIFFERS"), ("It is, Done", "PUNCTUATION_DIFFERS")]
)
def test_a_quote_is_verbatim(value: str, code: str) -> None:
    result = result_of(["It is Done."], value, word(1, value), kind="quote")
    assert (result.status, codes(result)[0]) == (Status.EVIDENCE_ONLY, code)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["VAT number: GB 123"], Status.MISMATCH),
        (["Invoice number: 12"], Status.ABSENT),
        (["VAT number:"], Status.ABSENT),
    ],
)
def test_null_is_checked(lines: list[str], status: Status) -> None:
    result = result_of(lines, None, kind="identifier", labels=("VAT number:",))
    assert result.status is status
    assert codes(result) == ["LABEL_HAS_VALUE" if status is Status.MISMATCH else "SEARCHED"]


def test_a_field_that_the_answer_leaves_out_is_reported() -> None:
    report = report_of(printed(["x"]), {}, FieldSpec("/a", labels=("VAT",)))
    assert [codes(r)[0] for r in report.results] == ["FIELD_MISSING"]


def test_stale_and_unsupported() -> None:
    document = printed(["Sum 75.00"])
    other = report_of(document, {"a": 75}, source_sha256="b" * 64)
    assert [(r.status, codes(r)) for r in other.results] == [(Status.STALE, ["SOURCE_STALE"])]
    older = report_of(document, {"a": 75}, reader_version="reader/0")
    assert codes(older.results[0]) == ["READER_STALE"]
    odd = result_of(["x"], "x", kind="astrology")
    assert (odd.status, codes(odd)) == (Status.UNSUPPORTED, ["KIND_UNKNOWN"])
    assert codes(report_of(document, {"a": {"value": {"b": 1}}}).results[0]) == ["NOT_ALLOWED"]


def test_unparsable_and_empty_values() -> None:
    odd = result_of(["Due soon"], "Due soon", kind="date")
    assert (odd.status, "VALUE_UNPARSABLE" in codes(odd)) == (Status.EVIDENCE_ONLY, True)
    assert codes(result_of(["x"], "\u00ad", kind="text")) == ["EMPTY_VALUE"]


def test_actions_follow_statuses_and_a_policy_can_only_be_stricter() -> None:
    document = printed(["Sum 75.00"])
    stricter = (StatusAction(Status.VERIFIED, Action.REVIEW),)
    milder = (StatusAction(Status.NOT_FOUND, Action.RELEASE),)
    assert report_of(document, {"a": 75}).action is Action.RELEASE
    assert report_of(document, {"a": 75}, policy=stricter).action is Action.REVIEW
    assert report_of(document, {"a": 76}, policy=milder).action is Action.BLOCK
    assert report_of(document, {}).action is Action.BLOCK


def test_every_reason_that_rules_give_is_documented() -> None:
    assert all(code.isupper() and text.endswith(".") for code, text in REASONS.items())


def test_values_in_seconds_and_a_miss_in_milliseconds() -> None:
    # Ratios within one run: 20 times the text must not make a miss 200 times slower.
    def miss(pages: int) -> float:
        index = Index(
            printed(
                *[[f"line {n} of page {p} says {n * p}" for n in range(40)] for p in range(pages)]
            )
        )
        request, answer = ProveRequest(), b'"nowhere printed at all 9999999"'
        prove(index, answer, request, lambda *_: {})
        start = time.perf_counter()
        for _ in range(3):
            prove(index, answer, request, lambda *_: {})
        return time.perf_counter() - start

    assert miss(100) < 200 * max(miss(5), 1e-3)


def test_derivations_use_printed_numbers_only() -> None:
    def derived(value: int, expression: str) -> FieldResult:
        answer = {
            "a": {"value": value, "derivation": expression, "proof": word(1, "6 x 7000 Watts")}
        }
        return report_of(printed(["6 x 7000 Watts"]), answer).results[0]

    assert derived(42, "6 * 7000 / 1000").status is Status.DERIVED
    assert codes(derived(43, "6 * 7000 / 1000"))[0] == "DERIVATION_FAILS"
    assert codes(derived(35, "5 * 7000 / 1000"))[0] == "DERIVATION_INPUT"
    # Each printed number counts once; powers of ten are factors only.
    assert codes(derived(12, "6 + 6"))[0] == "DERIVATION_INPUT"
    assert codes(derived(16, "6 + 10"))[0] == "DERIVATION_INPUT"
    for bad in ("6 *", "6 ** 7000", "__import__('os')", "'a'.zfill(7000)", "6 == 6", "9" * 600):
        assert codes(derived(42, bad))[0] in ("DERIVATION_INVALID", "DERIVATION_INPUT")


def test_relations_hold_fail_or_are_undefined() -> None:
    document = printed(["a 10", "b 4", "from 2026-10-15", "to 2026-11-14"])
    answer = {
        "a": {"value": 10, "proof": word(1, "10")},
        "b": {"value": 4, "proof": word(2, "4")},
        "from": {"value": "2026-10-15", "proof": word(3, "2026-10-15")},
        "to": {"value": "2026-11-14", "proof": word(4, "2026-11-14")},
        "c": 99,
        "items": [{"v": {"value": 10, "proof": word(1, "10")}}],
    }
    expected = {
        "/a - /b = 6": "HOLDS", "/a * /b = 41": "FAILS", "ratio(/a, /b) = 2.5": "HOLDS", "/a / /b >= 2.5": "HOLDS",
        "days(/from, /to) <= 30": "HOLDS", "days(/from, /to) < 30": "FAILS", "sum(/items/*/v) = /a": "HOLDS",
        "percent_change(/b, /a) = 150": "HOLDS", "max(/a, /b) != 10": "FAILS", "round(/a / 3, 2) = 3.33": "HOLDS",
        "/a / (/b - 4) = 1": "UNDEFINED", "/a = /c": "UNDEFINED", "/a = /nope": "UNDEFINED", "/a": "UNDEFINED",
        "/a = /from": "UNDEFINED", "/a ** 9999 = 1": "UNDEFINED", "open('x') = 1": "UNDEFINED",
    }  # fmt: skip
    relations = tuple(Relation(e) for e in expected)
    made = report_of(document, answer, relations=relations)
    assert {r.expression: r.outcome.name for r in made.relations} == expected
    near = report_of(document, answer, relations=(Relation("/a = 10.005", "0.01"),))
    assert near.relations[0].outcome.name == "HOLDS"


def test_every_reason_is_produced_by_a_test() -> None:
    tests = "".join(p.read_text() for p in Path(__file__).parents[1].rglob("*.py"))
    assert [code for code in REASONS if f'"{code}"' not in tests] == []
