"""Statuses, reasons and actions: one behaviour each."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from visualproof_server.model.document import Cell, Document, Table, Word, number_document
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.model.report import (
    REASONS,
    Action,
    FieldResult,
    FieldSpec,
    Relation,
    Report,
    Status,
)
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.prove import Index, LookAgain, prove
from visualproof_server.proving.request import ProveRequest, ShownPages, StatusAction

from proving.pages import OPTIONS, printed


def report_of(
    document: Document,
    answer: Any,
    *fields: FieldSpec,
    look: LookAgain = lambda *_: [],
    **request: Any,
) -> Report:
    wanted = ProveRequest(fields=fields, **request)
    return prove(Index(document), json.dumps(answer).encode(), wanted, look)


def result_of(
    lines: list[str],
    value: Any,
    proof: Any = None,
    confidence: float | None = 0.97,
    look: LookAgain = lambda *_: [],
    **spec: Any,
) -> FieldResult:
    answer = {"a": {"value": value, "proof": proof} if proof is not None else value}
    document = printed(lines, confidence=confidence)
    return report_of(document, answer, FieldSpec("/a", **spec), look=look).results[0]


def word(line: int, text: str) -> list[dict[str, Any]]:
    return [{"type": "WORD", "line": line, "value": text}]


def codes(result: FieldResult) -> list[str]:
    return [r.code for r in result.reasons]


def test_smallest_run_without_its_decoys() -> None:
    lines = ["2 ovens 6 and 7 shelves", "6 x 7000 Watts  32 A", "6 x 70 kg"]
    result = result_of(lines, "6 x 7000 Watts", word(2, "6 x 7000 Watts"), kind="text")
    assert result.evidence[0].block_ids == ("L2.W1", "L2.W2", "L2.W3", "L2.W4")


def test_a_run_goes_on_into_the_next_line() -> None:
    lines = ["Six-burner range with", "cast iron supports"]
    value = "range with cast iron"
    result = result_of(lines, value, word(1, value), kind="text")
    assert result.status is Status.VERIFIED
    assert len(result.evidence[0].boxes) == 2


def test_a_run_goes_on_down_its_column() -> None:
    lines = [
        "Harbour Hotels      Net 20.00",
        "12 Quay Street      VAT 4.00",
        "Hull HU1 2PN        Sum 24.00",
    ]
    result = result_of(lines, "Harbour Hotels, 12 Quay Street, Hull HU1 2PN", kind="text")
    assert result.status is Status.VERIFIED
    assert len(result.evidence[0].boxes) == 3


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
        "boolean", "choice", "text", "quote",
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


def test_digits_that_may_go_on_are_ambiguous() -> None:
    # As an OCR engine splits it: "60" and ".30" close together.
    assert result_of(["Sum 60 .30"], 60, kind="number").status is Status.AMBIGUOUS
    assert codes(result_of(["No 530 848 134"], "530848", kind="identifier")) == ["GROUPING_UNKNOWN"]


@pytest.mark.parametrize(
    ("locale", "value", "status"),
    [
        ("fr-FR", 1234.5, Status.VERIFIED),
        ("fr-FR", 234.5, Status.AMBIGUOUS),
        ("de-DE", 234.5, Status.VERIFIED),
        ("de-DE", 1234.5, Status.AMBIGUOUS),
        ("", 1234.5, Status.AMBIGUOUS),
        ("", 234.5, Status.AMBIGUOUS),
    ],
)
def test_spaces_group_digits_where_the_locale_says_so(
    locale: str, value: float, status: Status
) -> None:
    result = result_of(["Total 1 234,50"], value, kind="money", locale=locale)
    assert result.status is status
    cited = result_of(["Total 1 234,50"], value, word(1, "1 234,50"), kind="money", locale=locale)
    assert cited.status is status


def test_wide_gaps_and_other_grouping_part_numbers() -> None:
    assert result_of(["Qty 2   500.00"], 500, kind="money").status is Status.VERIFIED
    assert result_of(["Qty 2   500.00"], 2500, kind="money").status is Status.NOT_FOUND
    assert result_of(["Net 2 500.00", "Sum 1,234.00"], 500, kind="money").status is Status.VERIFIED


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


def test_equal_items_take_their_places_in_order() -> None:
    document = printed(["Item A 1,200.00", "Item B 1,200.00"])
    report = report_of(
        document, {"items": [{"p": 1200}, {"p": 1200}]}, FieldSpec("/items/*/p", "money")
    )
    assert [r.evidence[0].block_ids for r in report.results] == [("L1.W3",), ("L2.W3",)]
    assert [r.status for r in report.results] == [Status.VERIFIED] * 2


def test_a_label_decides_right_under_and_above() -> None:
    right = ["Subtotal 900.00", "Total 800.00", "Other 800.00"]
    assert result_of(right, 800, kind="money", labels=("Total",)).evidence[0].block_ids == (
        "L2.W2",
    )
    under = ["Invoice date      Due date", "15 October 2026   14 November 2026"]
    assert (
        result_of(under, "2026-11-14", kind="date", labels=("Due date",)).status is Status.VERIFIED
    )
    wrong = result_of(under, "2026-10-15", kind="date", labels=("Due date",))
    assert (wrong.status, wrong.printed_text) == (Status.MISMATCH, "14 November 2026")


def test_a_part_of_the_text_at_a_label_is_not_the_value() -> None:
    lines = ["Name: John Smith      Room 7", "Terms: 30 days", "net from the invoice date"]
    assert result_of(lines, "John Smith", kind="text", labels=("Name",)).status is Status.VERIFIED
    part = result_of(lines, "John", kind="text", labels=("Name",))
    assert (part.status, codes(part), part.printed_text) == (
        Status.EVIDENCE_ONLY,
        ["WORD_DIFFERS"],
        "John Smith",
    )
    long = result_of(lines, "30 days net from the invoice date", kind="text", labels=("Terms",))
    assert long.status is Status.VERIFIED


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


def test_a_wrapped_label_is_found() -> None:
    lines = ["Total amount", "payable      75.00"]
    assert (
        result_of(lines, 75, kind="money", labels=("Total amount payable",)).status
        is Status.VERIFIED
    )


def test_several_amounts_at_a_label_are_ambiguous() -> None:
    result = result_of(["VAT 20% 900.00 180.00"], 900, kind="money", labels=("VAT",))
    assert result.status is Status.AMBIGUOUS


def test_label_not_found_and_value_elsewhere() -> None:
    result = result_of(["Sum 75.00"], 75, kind="money", labels=("Total",))
    assert (result.status, codes(result)[0]) == (Status.FOUND_ELSEWHERE, "LABEL_NOT_FOUND")


def test_a_cited_value_at_another_label_is_found_elsewhere() -> None:
    lines = ["Net 75.00", "Total 90.00"]
    result = result_of(lines, 75, word(1, "75.00"), kind="money", labels=("Total",))
    assert (result.status, codes(result)[0]) == (Status.FOUND_ELSEWHERE, "NOT_AT_LABEL")


def test_slipped_by_a_line_is_found_at_its_place() -> None:
    lines = ["Terms: 30 days net", "PO number: PO-88213"]
    result = result_of(lines, "PO-88213", word(1, "PO-88213"), kind="identifier")
    assert (result.status, codes(result)[0]) == (Status.FOUND_ELSEWHERE, "NOT_AT_PROOF")
    assert result.evidence[0].block_ids == ("L2.W3",)


@pytest.mark.parametrize(
    ("proof", "code"),
    [
        ([{"type": "LINE", "id": 99}], "PROOF_ID_UNKNOWN"),
        ([{"type": "NOPE"}], "PROOF_MALFORMED"),
        ([{"type": "QUOTE", "text": "Sum 75.00", "page": 9}], "PAGE_OUT_OF_RANGE"),
        ([{"type": "QUOTE", "text": "something else"}], "PROOF_NOT_FOUND"),
        ([{"type": "REGION", "page": 1, "box": [0.9, 0.9, 0.05, 0.05]}], "PROOF_NOT_FOUND"),
    ],
)
def test_an_invalid_proof_is_a_reason_and_no_better_than_found_elsewhere(
    proof: list[Any], code: str
) -> None:
    result = result_of(["Sum 75.00"], 75, proof, kind="money")
    assert result.status is Status.FOUND_ELSEWHERE
    assert code in codes(result)


def test_a_table_claim_where_no_table_was_read_is_unsupported() -> None:
    result = result_of(["Sum 75.00"], 75, [{"type": "TABLE", "id": 1}], kind="money")
    assert (result.status, codes(result)) == (Status.UNSUPPORTED, ["TABLES_NOT_READ"])


YEARS = [
    "                 2023       2024",
    "Revenue          900.00     950.00",
    "Costs            700.00     720.00",
]


@pytest.mark.parametrize(
    ("value", "status", "code"),
    [
        (950, Status.VERIFIED, ""),
        (900, Status.MISMATCH, "WRONG_COLUMN"),
        (720, Status.MISMATCH, "WRONG_ROW"),
        (955, Status.MISMATCH, "DIGIT_DIFFERS"),
    ],
)
def test_row_and_column_label_meet_in_a_cell(value: int, status: Status, code: str) -> None:
    result = result_of(YEARS, value, kind="money", row_label="Revenue", column_label="2024")
    assert (result.status, codes(result)[:1]) == (status, [code] if code else [])
    assert result.printed_text == "950.00"


def test_a_column_goes_on_over_the_page() -> None:
    document = printed(YEARS[:2], ["Costs            700.00     720.00"])
    field = FieldSpec("/a", "money", row_label="Costs", column_label="2024")
    assert report_of(document, {"a": 720}, field).results[0].status is Status.VERIFIED
    assert report_of(document, {"a": 700}, field).results[0].status is Status.MISMATCH


def test_name_and_value_in_one_row_where_the_name_wraps() -> None:
    lines = ["1 Barpall R.     2.2 SW", "  F.", "2 Semra R. F.    4.7 N"]
    name = "Barpall R. F."
    assert result_of(lines, 2.2, kind="number", row_label=name).status is Status.VERIFIED
    assert result_of(lines, 4.7, kind="number", row_label=name).status is Status.MISMATCH


def test_a_quote_on_another_page() -> None:
    document = printed(["Summary"], ["Revenue was 1,874.60 in 2025."])
    quote = {"type": "QUOTE", "text": "Revenue was 1,874.60 in 2025.", "page": 1}
    answer = {"a": {"value": quote["text"], "proof": [quote]}}
    (result,) = report_of(document, answer, FieldSpec("/a", "quote")).results
    assert (result.status, codes(result)[0]) == (Status.FOUND_ELSEWHERE, "WRONG_PAGE")
    assert result.evidence[0].page == 2


def test_other_proofs_still_count() -> None:
    proof = [{"type": "LINE", "id": 99}, {"type": "LINE", "id": 1}]
    result = result_of(["Sum 75.00"], 75, proof, kind="money")
    assert (result.status, codes(result)) == (Status.VERIFIED, ["PROOF_ID_UNKNOWN"])


def test_a_region_proves_what_is_printed_in_it() -> None:
    proof = [{"type": "REGION", "page": 1, "box": [0.0, 0.0, 0.5, 0.05]}]
    assert result_of(["Sum 75.00", "Sum 90.00"], 75, proof, kind="money").status is Status.VERIFIED


def test_ids_never_shown_are_refused() -> None:
    document = printed(["Sum 75.00"], ["Sum 90.00"])
    answer = {"a": {"value": 90, "proof": [{"type": "LINE", "id": 2}]}}
    report = report_of(document, answer, FieldSpec("/a", "money"), shown=(ShownPages(1, 1),))
    assert "PROOF_NOT_SHOWN" in codes(report.results[0])
    assert report.results[0].status is Status.FOUND_ELSEWHERE


def test_a_long_text_is_proven_by_several_lines() -> None:
    lines = ["Goods remain our property", "until paid in full."]
    proof = [{"type": "LINE", "id": 1}, {"type": "LINE", "id": 2}]
    value = "Goods remain our property until paid in full."
    assert result_of(lines, value, proof, kind="text").status is Status.VERIFIED


def test_a_value_that_is_not_in_its_proof_is_evidence_only() -> None:
    lines = ["6 x 7000 Watts"]
    result = result_of(lines, 42, word(1, "6 x 7000 Watts"), kind="number")
    assert (result.status, codes(result)) == (Status.EVIDENCE_ONLY, ["VALUE_NOT_IN_PROOF"])


@pytest.mark.parametrize(
    ("value", "code"), [("it is Done.", "CASE_DIFFERS"), ("It is, Done", "PUNCTUATION_DIFFERS")]
)
def test_a_quote_is_verbatim(value: str, code: str) -> None:
    result = result_of(["It is Done."], value, word(1, value), kind="quote")
    assert (result.status, codes(result)[0]) == (Status.EVIDENCE_ONLY, code)


def test_look_alikes_locate_and_do_not_verify() -> None:
    result = result_of(
        ["No INV-2O26-O417"], "INV-2026-0417", word(1, "INV-2026-0417"), kind="identifier"
    )
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "OCR_CONFUSION")
    amount = result_of(["Sum l6,O20.00"], 16020, word(1, "16,020.00"), kind="money")
    assert amount.status is Status.UNCERTAIN


def test_low_confidence_is_uncertain_until_a_second_look_agrees() -> None:
    lines = ["Total 60.30"]
    doubtful = result_of(lines, 60.3, kind="money", confidence=0.5)
    assert (doubtful.status, codes(doubtful)[0]) == (Status.UNCERTAIN, "LOW_CONFIDENCE")
    agreed = result_of(
        lines, 60.3, kind="money", confidence=0.5, look=lambda *_: [[("60.30", 0.97)]]
    )
    assert agreed.status is Status.VERIFIED
    for again in ([("60.80", 0.97)], [("60.30", 0.4)], []):
        other = result_of(lines, 60.3, kind="money", confidence=0.5, look=lambda *_, a=again: [a])
        assert other.status is Status.UNCERTAIN


def test_two_more_readings_that_agree_settle_a_look_alike() -> None:
    def read(*again: str) -> Status:
        readings = [[(text, 0.97)] for text in again]
        return result_of(
            ["MR. D.1.Y. SDN BHD"], "MR. D.I.Y. SDN BHD", kind="text", look=lambda *_: readings
        ).status

    assert read("MR. D.I.Y. SDN BHD", "MR D.I.Y SDNBHD") is Status.VERIFIED
    assert read("MR. D.I.Y. SDN BHD") is Status.UNCERTAIN
    assert read("MR. D.I.Y. SDN BHD", "MR. D.1.Y. SDN BHD") is Status.UNCERTAIN
    assert read("MR. D.I.Y. SDN BHD", "MR. D.L.Y. SDN BHD") is Status.UNCERTAIN


def test_a_difference_in_doubtful_words_is_uncertain_not_wrong() -> None:
    result = result_of(
        ["Menara Dion Level Two"], "Menara Dian Level Two", kind="text", confidence=0.5
    )
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "LOW_CONFIDENCE")


def test_a_wrong_check_digit_asks_for_a_second_look() -> None:
    line = ["IBAN DE88 3704 0044 0532 0130 00"]
    result = result_of(line, "DE88370400440532013000", kind="identifier")
    assert result.status is Status.UNCERTAIN
    assert "CHECK_DIGIT" in codes(result)


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


def test_null_without_labels_and_required_null() -> None:
    assert codes(result_of(["x"], None)) == ["NO_LABEL"]
    required = result_of(["x"], None, labels=("VAT",), required=True)
    assert (required.status, required.action) == (Status.ABSENT, Action.BLOCK)
    assert "REQUIRED" in codes(required)


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


def test_doubts_have_their_codes() -> None:
    assert codes(result_of(["Menge 1.250"], 1250, kind="number")) == ["SEPARATOR_UNKNOWN"]
    assert codes(result_of(["Date 03/04/2026"], "2026-04-03", kind="date")) == [
        "DATE_ORDER_UNKNOWN"
    ]
    assert codes(result_of(["Sum - 52.00"], 52, kind="money")) == ["SIGN_UNKNOWN"]
    assert codes(result_of(["Sum 52.00"], "USD 52.00", kind="money")) == ["CURRENCY_UNKNOWN"]


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
        prove(index, answer, request, lambda *_: [])
        start = time.perf_counter()
        for _ in range(3):
            prove(index, answer, request, lambda *_: [])
        return time.perf_counter() - start

    assert miss(100) < 200 * max(miss(5), 1e-3)


def tabled() -> Document:
    """Page 1: a line, and a table of two rows whose second has an empty cell."""

    def cell(row: int, column: int, text: str) -> Cell:
        left, top = 40 + 300 * (column - 1), 100 + 40 * (row - 1)
        words, at = [], left
        for part in text.split():
            box = Box(at, top, at + 10 * len(part), top + 20)
            words.append(Word(part, box, quad_of(box), 0.97, "tesseract"))
            at += 10 * (len(part) + 1)
        return Cell(
            row,
            column,
            1,
            1,
            row == 1,
            column == 1,
            Box(left, top, left + 280, top + 30),
            tuple(words),
        )

    rows = [["Item", "2023", "2024"], ["Revenue", "900.00", "950.00"], ["Costs", "", "720.00"]]
    cells = [cell(r, c, t) for r, row in enumerate(rows, 1) for c, t in enumerate(row, 1)]
    page = replace(
        printed(["Figures of the year"]).pages[0],
        tables=(Table(Box(40, 100, 920, 220), tuple(cells), after_line=1),),
    )
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (page,))


@pytest.mark.parametrize(
    ("value", "proof", "status", "code"),
    [
        (950, {"type": "CELL", "table": 1, "row": 2, "column": 3}, Status.VERIFIED, ""),
        (950, {"type": "CELL", "table": 1, "value": "950.00"}, Status.VERIFIED, ""),
        (950, {"type": "TABLE", "id": 1}, Status.VERIFIED, ""),
        (
            950,
            {"type": "CELL", "table": 1, "row": 2, "column": 2},
            Status.FOUND_ELSEWHERE,
            "NOT_AT_PROOF",
        ),
        (
            955,
            {"type": "CELL", "table": 1, "row": 2, "column": 3},
            Status.MISMATCH,
            "DIGIT_DIFFERS",
        ),
        (
            950,
            {"type": "CELL", "table": 1, "row": 3, "column": 2},
            Status.FOUND_ELSEWHERE,
            "PROOF_ID_UNKNOWN",
        ),
        (
            950,
            {"type": "CELL", "table": 7, "row": 1, "column": 1},
            Status.FOUND_ELSEWHERE,
            "PROOF_ID_UNKNOWN",
        ),
    ],
)
def test_cells_prove_by_row_and_column(
    value: int, proof: dict[str, Any], status: Status, code: str
) -> None:
    report = report_of(
        tabled(), {"a": {"value": value, "proof": [proof]}}, FieldSpec("/a", "money")
    )
    assert (report.results[0].status, codes(report.results[0])[:1]) == (
        status,
        [code] if code else [],
    )


def test_a_cells_words_have_ids_of_their_own() -> None:
    report = report_of(tabled(), {"a": 720}, FieldSpec("/a", "money"))
    assert report.results[0].evidence[0].block_ids == ("T1.R3C3.W1",)


def test_two_items_cannot_use_one_place() -> None:
    document = printed(["Item A 1,200.00", "Item B 1,300.00"])
    answer = {"items": [{"p": {"value": 1200, "proof": word(1, "1,200.00")}}] * 2}
    report = report_of(document, answer, FieldSpec("/items/*/p", "money"))
    assert [r.status for r in report.results] == [Status.VERIFIED, Status.AMBIGUOUS]
    assert codes(report.results[1]) == ["CLAIMED_TWICE"]


def test_derivations_use_printed_numbers_only() -> None:
    def derived(value: int, expression: str) -> FieldResult:
        answer = {
            "a": {"value": value, "derivation": expression, "proof": word(1, "6 x 7000 Watts")}
        }
        return report_of(printed(["6 x 7000 Watts"]), answer).results[0]

    assert derived(42, "6 * 7000 / 1000").status is Status.DERIVED
    assert codes(derived(43, "6 * 7000 / 1000"))[0] == "DERIVATION_FAILS"
    assert codes(derived(35, "5 * 7000 / 1000"))[0] == "DERIVATION_INPUT"
    for bad in ("6 *", "6 ** 7000", "__import__('os')", "6 / (7000 - 7000)", "9" * 600):
        assert codes(derived(42, bad))[0] == "DERIVATION_INVALID"


def test_a_whole_number_among_amounts_with_decimals_is_doubtful() -> None:
    lines = ["A 1.10", "B 2.20", "C 3.30", "Total 43"]
    result = result_of(lines, 43, word(4, "43"), kind="money")
    assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["DECIMALS_MISSING"])


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


def test_a_value_in_hidden_text_is_not_found_and_says_so() -> None:
    document = printed(["Total due 90.00"])
    page = replace(document.pages[0], hidden="Secret discount 77.00")
    hiding = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (page,))
    (result,) = report_of(hiding, {"a": "Secret discount"}, FieldSpec("/a", "text")).results
    assert (result.status, codes(result)[0]) == (Status.NOT_FOUND, "HIDDEN_TEXT")


def test_hostile_proofs_cost_little() -> None:
    # 2 kB of quote against 200 kB of text, 20 proofs, within a bound that quadratic work breaks.
    rows = [
        f"{n} the quick brown fox jumps over the lazy dog again and again {n}" for n in range(3000)
    ]
    index = Index(printed(*[rows[at : at + 60] for at in range(0, 3000, 60)]))
    text = "the quick brown fix jumps ovar the lazy dig " * 45
    proofs = [{"type": "QUOTE", "text": text[n:]} for n in range(20)]
    answer = json.dumps({"a": {"value": text, "proof": proofs}}).encode()
    start = time.process_time()
    prove(index, b'{"a": 1}', ProveRequest(), lambda *_: [])
    once = max(time.process_time() - start, 0.01)
    start = time.process_time()
    prove(index, answer, ProveRequest(), lambda *_: [])
    assert time.process_time() - start < 200 * once


def test_every_reason_is_produced_by_a_test() -> None:
    tests = "".join(p.read_text() for p in Path(__file__).parents[1].rglob("*.py"))
    assert [code for code in REASONS if f'"{code}"' not in tests] == []
