"""Tables that go on over pages, and such as do not."""

import pytest
from proving.pages import table_of, tabled
from visualproof_server.model.document import Document, Table

HEAD = ["Forest", "Town", "Distance"]
FIRST = [HEAD, ["Barpall", "Rennau", "2.2"], ["Elm", "Graslebener", "4.7"]]


def parts(first: Table, second: Table, foot: int = 1, lead: int = 1) -> Document:
    return tabled((["Forests"], first, ["foot"] * foot), (["Forests"] * lead, second, []))


def rows_of(document: Document) -> list[list[tuple[int, str, str]]]:
    """(row, id, text) of the first column of each part."""
    return [
        [(c.row, part.cell_id(c), c.text) for c in part.table.cells if c.column == 1]
        for part in document.tables
    ]


@pytest.mark.parametrize("head", [HEAD, ["Forest", "", "Distance"]], ids=["again", "with a blank"])
def test_a_head_that_is_printed_again(head: list[str]) -> None:
    document = parts(table_of(FIRST, top=1100), table_of([head, ["Lapp", "Kremlingen", "9.1"]]))
    assert rows_of(document)[1] == [(1, "T1.R1C1.P2", "Forest"), (4, "T1.R4C1", "Lapp")]
    assert [c.column_header for c in document.tables[1].table.cells] == [True] * 3 + [False] * 3


def test_no_head_on_the_second_page() -> None:
    more = table_of([["Lapp", "Kremlingen", "9.1"], ["Oder", "Calvoerde", "12"]])
    document = parts(table_of(FIRST, top=1100), more)
    assert rows_of(document)[1] == [(4, "T1.R4C1", "Lapp"), (5, "T1.R5C1", "Oder")]
    assert not any(c.column_header for c in document.tables[1].table.cells)


def test_a_row_broken_by_the_pages_end() -> None:
    more = table_of([HEAD, ["", "Heide", ""], ["Lapp", "Kremlingen", "9.1"]])
    document = parts(table_of(FIRST, top=1100), more)
    towns = [(c.row, c.text) for c in document.tables[1].table.cells if c.column == 2]
    assert towns == [(1, "Town"), (3, "Heide"), (4, "Kremlingen")]
    broken = next(c for c in document.tables[1].table.cells if c.text == "Heide")
    assert document.tables[1].cell_id(broken) == "T1.R3C2.P2"


@pytest.mark.parametrize(
    ("first", "second", "foot", "lead"),
    [
        (table_of(FIRST, top=300), table_of(FIRST), 1, 1),
        (table_of(FIRST, top=1100), table_of(FIRST, top=900), 1, 1),
        (table_of(FIRST, top=1100), table_of([[*r, "x"] for r in FIRST]), 1, 1),
        (table_of(FIRST, top=1100), table_of(FIRST), 6, 1),
        (table_of(FIRST, top=1100), table_of(FIRST), 1, 6),
    ],
    ids=["ends high", "begins low", "other columns", "text after", "text before"],
)
def test_two_tables_are_two(first: Table, second: Table, foot: int, lead: int) -> None:
    assert [t.number for t in parts(first, second, foot, lead).tables] == [1, 2]


def test_numbers_go_on_after_a_table_of_two_parts() -> None:
    document = tabled(
        ([], table_of(FIRST, top=1100), []),
        ([], table_of(FIRST), []),
        (["A line"] * 9, table_of(FIRST, top=700), []),
    )
    assert [(t.number, t.rows_before) for t in document.tables] == [(1, 0), (1, 3), (2, 0)]
