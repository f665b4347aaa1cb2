"""Where a value must stand: proofs, labels, rows, columns, lists."""

import json
import time
from typing import Any

import pytest
from visualproof_server.model.report import (
    Action,
    FieldSpec,
    Status,
)
from visualproof_server.model.request import ProveRequest, ShownPages
from visualproof_server.proving.prove import Index, prove

from proving.claims import codes, report_of, result_of, word
from proving.pages import printed


def test_a_run_goes_on_down_its_column() -> None:
    lines = [
        "Harbour Hotels      Net 20.00",
        "12 Quay Street      VAT 4.00",
        "Hull HU1 2PN        Sum 24.00",
    ]
    result = result_of(lines, "Harbour Hotels, 12 Quay Street, Hull HU1 2PN", kind="text")
    assert result.status is Status.VERIFIED
    assert len(result.evidence[0].boxes) == 3


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
        ["PART_OF_TEXT"],
        "John",
    )
    long = result_of(lines, "30 days net from the invoice date", kind="text", labels=("Terms",))
    assert long.status is Status.VERIFIED


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


def test_a_value_that_is_not_in_its_proof_is_evidence_only() -> None:
    lines = ["6 x 7000 Watts"]
    result = result_of(lines, 42, word(1, "6 x 7000 Watts"), kind="number")
    assert (result.status, codes(result)) == (Status.EVIDENCE_ONLY, ["VALUE_NOT_IN_PROOF"])


def test_null_without_labels_and_required_null() -> None:
    assert codes(result_of(["x"], None)) == ["NO_LABEL"]
    required = result_of(["x"], None, labels=("VAT",), required=True)
    assert (required.status, required.action) == (Status.ABSENT, Action.BLOCK)
    assert "REQUIRED" in codes(required)


def test_two_items_cannot_use_one_place() -> None:
    document = printed(["Item A 1,200.00", "Item B 1,300.00"])
    answer = {"items": [{"p": {"value": 1200, "proof": word(1, "1,200.00")}}] * 2}
    report = report_of(document, answer, FieldSpec("/items/*/p", "money"))
    assert [r.status for r in report.results] == [Status.VERIFIED, Status.AMBIGUOUS]
    assert codes(report.results[1]) == ["CLAIMED_TWICE"]


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
    prove(index, b'{"a": 1}', ProveRequest(), lambda *_: {})
    once = max(time.process_time() - start, 0.01)
    start = time.process_time()
    prove(index, answer, ProveRequest(), lambda *_: {})
    assert time.process_time() - start < 200 * once
