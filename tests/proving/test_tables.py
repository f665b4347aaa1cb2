"""Claims about tables: cells, rows and columns by name, parts over pages, lists of items."""

from typing import Any

import pytest
from visualproof_server.model.document import Document
from visualproof_server.model.report import Action, FieldResult, FieldSpec, Status

from proving.claims import codes, report_of
from proving.pages import printed, table_of, tabled

YEARS = [["Item", "2023", "2024"], ["Revenue", "900.00", "950.00"], ["Costs", "", "720.00"]]


def years(doubtful: bool = False) -> Document:
    return tabled((["Figures of the year"], table_of(YEARS, doubtful=doubtful), []))


def cell(row: int, column: int) -> list[dict[str, Any]]:
    return [{"type": "CELL", "table": 1, "row": row, "column": column}]


def ask(document: Document, value: Any, proof: Any = None, **spec: Any) -> FieldResult:
    answer = {"a": {"value": value, "proof": proof or []}}
    return report_of(document, answer, FieldSpec("/a", **spec)).results[0]


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
            "WRONG_COLUMN",
        ),
        (
            720,
            {"type": "CELL", "table": 1, "row": 2, "column": 3},
            Status.FOUND_ELSEWHERE,
            "WRONG_ROW",
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
            "NOT_AT_PROOF",
        ),
        (
            950,
            {"type": "CELL", "table": 1, "row": 9, "column": 2},
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
    report = report_of(years(), {"a": {"value": value, "proof": [proof]}}, FieldSpec("/a", "money"))
    assert (report.results[0].status, codes(report.results[0])[:1]) == (
        status,
        [code] if code else [],
    )


def test_a_cells_words_have_ids_of_their_own() -> None:
    report = report_of(years(), {"a": 720}, FieldSpec("/a", "money"))
    assert report.results[0].evidence[0].block_ids == ("T1.R3C3.W1",)


def test_what_the_claimed_cell_prints_is_said() -> None:
    result = ask(years(), 950, cell(2, 2), kind="money")
    assert result.reasons[0].message == (
        'Row 2, column 2 of table 1 prints "900.00"; the value stands in row 2, column 3.'
    )
    empty = ask(years(), 720, cell(3, 2), kind="money")
    assert (empty.status, codes(empty)[0]) == (Status.FOUND_ELSEWHERE, "WRONG_COLUMN")
    assert "is empty" in empty.reasons[0].message


@pytest.mark.parametrize(
    ("row", "column", "value", "status", "code"),
    [
        ("Revenue", "2024", 950, Status.VERIFIED, ""),
        ("Revenue", "2023", 900, Status.VERIFIED, ""),
        ("Revenue", "2024", 900, Status.MISMATCH, "WRONG_COLUMN"),
        ("Costs", "2024", 950, Status.MISMATCH, "WRONG_ROW"),
        ("Revenue", "", 950, Status.AMBIGUOUS, "SEVERAL_PLACES"),
    ],
)
def test_rows_and_columns_by_name(
    row: str, column: str, value: int, status: Status, code: str
) -> None:
    result = ask(years(), value, kind="money", row_label=row, column_label=column)
    assert (result.status, codes(result)[:1]) == (status, [code] if code else [])


def test_merged_cells_answer_for_each_place_they_cover() -> None:
    rows = [
        ["", "", "Men", "Women"],
        ["1991", "Total", "11.0", "6.6"],
        ["^", "Rural", "40.7", "16.0"],
    ]
    document = tabled(([], table_of(rows), []))
    named = {"kind": "number", "row_label": "1991", "column_label": "Women"}
    assert ask(document, 40.7, **named).status is Status.MISMATCH
    assert ask(document, 16.0, kind="number", row_label="Rural", column_label="Women").status is (
        Status.VERIFIED
    )
    assert ask(document, 1991, cell(3, 1), kind="number").status is Status.VERIFIED
    heads = [["State", "Schools", "<"], ["^", "Public", "Private"], ["Ohio", "7.1", "2.4"]]
    document = tabled(([], table_of(heads, head=2), []))
    for value in (7.1, 2.4):
        spec = {"kind": "number", "row_label": "Ohio", "column_label": "Schools"}
        assert ask(document, value, **spec).status is Status.AMBIGUOUS
    spec = {"kind": "number", "row_label": "Ohio", "column_label": "Private"}
    assert ask(document, 2.4, **spec).status is Status.VERIFIED
    assert codes(ask(document, 7.1, **spec)) == ["WRONG_COLUMN"]


def test_a_number_never_runs_over_two_cells() -> None:
    document = tabled(([], table_of([["Item", "n", "Rate"], ["Bolts", "12", "345"]]), []))
    assert ask(document, 12345, kind="number").status is Status.NOT_FOUND
    assert ask(document, 12, cell(2, 2), kind="number").status is Status.VERIFIED


def test_a_doubtful_table_turns_nothing_green() -> None:
    result = ask(years(doubtful=True), 950, cell(2, 3), kind="money")
    assert (result.status, result.action) == (Status.UNCERTAIN, Action.REVIEW)
    assert codes(result) == ["TABLE_DOUBTFUL"]
    labelled = {"kind": "money", "row_label": "Revenue", "column_label": "2024"}
    assert ask(years(doubtful=True), 950, **labelled).status is Status.UNCERTAIN
    # What does not rest on rows and columns is not touched by that.
    assert ask(years(doubtful=True), 950, kind="money").status is Status.VERIFIED


def long_table() -> Document:
    """A table of two pages, its head printed again and a row broken by the page's end."""
    first = [
        ["Forest", "Town", "Distance"],
        ["Barpall", "Rennau", "2.2"],
        ["Elm", "Graslebener", "4.7"],
    ]
    more = [["Forest", "Town", "Distance"], ["", "Heide", ""], ["Lapp", "Kremlingen", "9.1"]]
    return tabled(
        (["Forests"], table_of(first, top=1100), ["page 1"]),
        (["Forests"], table_of(more, top=100), []),
    )


def test_a_table_over_two_pages_is_one() -> None:
    document = long_table()
    assert [(t.number, t.page, t.table.rows) for t in document.tables] == [(1, 1, 3), (1, 2, 4)]
    assert ask(document, 9.1, cell(4, 3), kind="number").status is Status.VERIFIED
    assert ask(document, "Graslebener Heide", cell(3, 2)).status is Status.VERIFIED
    spec = {"kind": "number", "row_label": "Lapp", "column_label": "Distance"}
    assert ask(document, 9.1, **spec).status is Status.VERIFIED
    assert codes(ask(document, 4.7, **spec)) == ["WRONG_ROW"]
    evidence = ask(document, "Kremlingen").evidence[0]
    assert (evidence.page, evidence.block_ids) == (2, ("T1.R4C2.W1",))


ITEMS = [
    ["Description", "Qty", "Amount"],
    ["Oven", "1", "950.00"],
    ["Counter", "2", "950.00"],
    ["Delivery", "1", "120.00"],
    ["Total", "", "2,020.00"],
]


def items(
    *wanted: tuple[str, int, float], doubtful: bool = False
) -> dict[str, tuple[Status, tuple[str, ...]]]:
    document = tabled((["Invoice"], table_of(ITEMS, doubtful=doubtful), []))
    answer = {"items": [{"d": d, "q": q, "a": a} for d, q, a in wanted]}
    fields = [FieldSpec("/items/*/q", "number"), FieldSpec("/items/*/a", "money")]
    results = report_of(document, answer, *fields).results
    return {r.path: (r.status, tuple(codes(r))) for r in results}


ALL = (("Oven", 1, 950.0), ("Counter", 2, 950.0), ("Delivery", 1, 120.0))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_items_take_their_rows_in_any_order(order: tuple[int, ...]) -> None:
    found = items(*(ALL[n] for n in order))
    assert set(found.values()) == {(Status.VERIFIED, ())}
    assert len(found) == 9


def test_a_doubtful_table_settles_no_items() -> None:
    assert items(ALL[0])["/items/0/a"] == (Status.VERIFIED, ())
    found = items(ALL[0], doubtful=True)
    assert found["/items/0/a"] == (Status.AMBIGUOUS, ("ROLE_UNKNOWN", "SEVERAL_PLACES"))
    assert "/items/-/3" not in items(ALL[0], ALL[2], doubtful=True)


def test_a_value_of_another_row_is_not_the_items() -> None:
    found = items(("Oven", 1, 950.0), ("Counter", 2, 120.0), ("Delivery", 1, 120.0))
    assert found["/items/1/a"][0] is not Status.VERIFIED
    assert found["/items/1/a"][1][0] == "WRONG_ROW"
    assert found["/items/2/a"][0] is Status.VERIFIED


def test_equal_prints_in_one_row_go_by_the_other_items_column() -> None:
    rows = [["What", "Price", "Sum"], ["Oven", "475.00", "950.00"], ["Freight", "120.00", "120.00"]]
    document = tabled(([], table_of(rows), []))
    answer = {"items": [{"d": "Oven", "a": 950.0}, {"d": "Freight", "a": 120.0}]}
    results = report_of(document, answer, FieldSpec("/items/*/a", "money")).results
    assert {r.status for r in results} == {Status.VERIFIED}
    assert results[3].evidence[0].block_ids == ("T1.R3C3.W1",)


def test_a_rival_at_the_label_is_no_place_of_the_value() -> None:
    # 5.00 is printed once: the second claim of it must not take the 7.00 beside it.
    answer = {"items": [{"a": 5.0}, {"a": 5.0}]}
    spec = FieldSpec("/items/*/a", "money", labels=("Amount",))
    results = report_of(printed(["Amount 5.00  7.00"]), answer, spec).results
    assert [r.status for r in results] == [Status.AMBIGUOUS] * 2


def test_values_printed_in_many_rows_take_their_own() -> None:
    rows = [["What", "Qty", "Sum"], *([f"Part {n}", "1", f"{n}7.00"] for n in range(100, 160))]
    document = tabled(([], table_of(rows), []))
    answer = {"items": [{"d": d, "q": int(q), "a": float(a)} for d, q, a in rows[1:]]}
    fields = (FieldSpec("/items/*/q", "number"), FieldSpec("/items/*/a", "money"))
    results = report_of(document, answer, *fields).results
    assert {r.status for r in results} == {Status.VERIFIED}
    assert results[-2].evidence[0].block_ids == ("T1.R61C2.W1",)


def test_missing_and_invented_items_are_told_apart() -> None:
    missing = items(ALL[0], ALL[2])
    assert missing["/items/-/3"] == (Status.UNCERTAIN, ("ITEM_MISSING",))
    assert [path for path in missing if "/-/" in path] == ["/items/-/3"]
    invented = items(*ALL, ("Sofa", 7, 77.0))
    assert {path for path in invented if "/-/" in path} == set()
    assert {invented[f"/items/3/{name}"][0] for name in "dqa"} == {Status.NOT_FOUND}
    twice = items(*ALL, ALL[2])
    assert twice["/items/3/a"] == (Status.AMBIGUOUS, ("CLAIMED_TWICE",))
    assert {twice[f"/items/{n}/a"][0] for n in range(3)} == {Status.VERIFIED}


def test_name_and_number_from_different_rows() -> None:
    document = tabled((["Invoice"], table_of(ITEMS), []))
    answer = {"items": [{"d": "Oven", "a": 120.0}]}
    results = report_of(document, answer, FieldSpec("/items/*/a", "money")).results
    assert [r.status for r in results] == [Status.VERIFIED, Status.FOUND_ELSEWHERE]
    assert codes(results[1]) == ["WRONG_ROW"]
