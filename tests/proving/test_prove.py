"""Statuses, reasons and actions: one behaviour each."""

import json
import time
from typing import Any

import pytest
from visualproof_server.model.document import Document
from visualproof_server.model.report import REASONS, Action, FieldResult, FieldSpec, Report, Status
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.prove import Index, LookAgain, prove
from visualproof_server.proving.request import ProveRequest, ShownPages, StatusAction

from proving.pages import printed


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


def test_a_repeated_amount_is_ambiguous_and_a_repeated_name_is_proven() -> None:
    amounts = result_of(["50.00 food", "50.00 fuel"], 50, kind="money")
    assert (amounts.status, len(amounts.candidates)) == (Status.AMBIGUOUS, 2)
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
        ([{"type": "TABLE", "id": 1}], "TABLES_NOT_READ"),
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
    assert result_of(lines, None, kind="identifier", labels=("VAT number:",)).status is status


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
    assert result_of(["x"], "x", kind="astrology").status is Status.UNSUPPORTED
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
