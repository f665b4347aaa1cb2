"""Items of a list outside tables: which lines are an item's."""

from dataclasses import replace
from typing import Any

import pytest
from visualproof_server.model.document import Document, Line
from visualproof_server.model.geometry import Box
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldResult, FieldSpec, Status

from proving.claims import report_of
from proving.pages import OPTIONS, PITCH, printed

FIELDS = (
    FieldSpec("/items/*/name", "text"), FieldSpec("/items/*/quantity", "number"),
    FieldSpec("/items/*/amount", "money"),
)  # fmt: skip
ITEMS = [
    {"name": "Blue lamp", "quantity": 2, "amount": 40.0},
    {"name": "Oak desk", "quantity": 3, "amount": 90.0},
]
SWAPPED = [{**ITEMS[0], "amount": 90.0}, {**ITEMS[1], "amount": 40.0}]


def results(document: Document, items: Any) -> dict[str, FieldResult]:
    made = report_of(document, {"items": items}, *FIELDS)
    return {r.path: r for r in made.results}


def lowered(document: Document, texts: tuple[str, ...], by: int) -> Document:
    """The document with some words in lines of their own, set lower."""
    page = document.pages[0]
    lines: list[Line] = []
    for line in page.lines:
        kept = tuple(w for w in line.words if w.text not in texts)
        moved = tuple(
            replace(
                w,
                box=Box(w.box.left, w.box.top + by, w.box.right, w.box.bottom + by),
            )
            for w in line.words
            if w.text in texts
        )
        lines += [Line(words) for words in (kept, moved) if words]
    made = replace(page, lines=tuple(lines))
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (made,))


PLAIN = ["Article      Quantity   Amount", "Blue lamp    2          40.00", "",
         "Oak desk     3          90.00"]  # fmt: skip
CODES_FIRST = [
    "Code       Quantity   Amount",
    "4123-A     2          40.00",
    "Blue lamp",
    "boxed",
    "4123-B     3          90.00",
    "Oak desk",
]


@pytest.mark.parametrize(
    "document",
    [printed(PLAIN), lowered(printed(PLAIN), ("40.00", "90.00"), PITCH // 2),
     printed(CODES_FIRST)],
    ids=["one line", "a column set lower", "names under their numbers"],
)  # fmt: skip
def test_an_items_values_are_those_of_its_lines(document: Document) -> None:
    assert {r.status for r in results(document, ITEMS).values()} == {Status.VERIFIED}
    for item in (0, 1):
        assert results(document, SWAPPED)[f"/items/{item}/amount"].status is Status.FOUND_ELSEWHERE


def test_numbers_over_a_name_are_not_taken_where_each_name_has_its_own_under_it() -> None:
    lines = ["Quantity   Amount", "Blue lamp", "2          40.00", "Oak desk", "3          90.00"]
    assert results(printed(lines), ITEMS)["/items/1/amount"].status is Status.VERIFIED
    # The first item was left out; its numbers stand over the second's name.
    wrong = [{**ITEMS[1], "quantity": 2, "amount": 40.0}]
    told = results(printed(lines), wrong)
    assert told["/items/0/amount"].status is not Status.VERIFIED


def test_a_name_that_begins_as_the_numbers_over_it_has_no_band() -> None:
    told = results(printed(["2 40.00", "Blue lamp", "boxed"]), ITEMS[:1])
    assert told["/items/0/name"].status is Status.VERIFIED
    swapped = results(printed(["2 40.00", "Blue lamp", "boxed"]), SWAPPED[:1])
    assert swapped["/items/0/amount"].status is not Status.VERIFIED
