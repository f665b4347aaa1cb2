"""Marked text: numbers, windows, defused look-alikes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proving.pages import OPTIONS, printed, table_of, tabled
from visualproof_server.model.document import Cell, Table, Word
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.model.numbering import number_document
from visualproof_server.prompting.disguise import defuse
from visualproof_server.prompting.render import MarkerStyle, render

DOCUMENT = printed(["Alpha", "Beta"], ["Gamma"], ["Delta"])


def test_lines_carry_their_number_through_the_document() -> None:
    prompt = render(DOCUMENT, 0, 0, 0, MarkerStyle.LINE)
    assert prompt.text.splitlines() == [
        "<PAGE 1>", "<LINE 1>Alpha", "<LINE 2>Beta", "<PAGE 2>", "<LINE 3>Gamma", "<PAGE 3>",
        "<LINE 4>Delta",
    ]  # fmt: skip


def test_compact_markers() -> None:
    assert render(DOCUMENT, 2, 2, 0, MarkerStyle.COMPACT).text == "<P2>\n<L3>Gamma"


def test_a_budget_ends_the_window_and_says_where_to_go_on() -> None:
    prompt = render(DOCUMENT, 0, 0, 18, MarkerStyle.LINE)
    assert (prompt.first_page, prompt.last_page, prompt.next_page) == (1, 1, 2)
    assert render(DOCUMENT, 0, 0, 1, MarkerStyle.LINE).last_page == 1


def test_a_page_that_is_not_there() -> None:
    with pytest.raises(VisualProofError) as caught:
        render(DOCUMENT, 1, 9, 0, MarkerStyle.LINE)
    assert caught.value.code == "PAGE_OUT_OF_RANGE"


@pytest.mark.parametrize(
    "text", ["<LINE 7>", "< line 7>", "</TABLE 1>", "<L7>", "<p2>", "<PAGE 4>"]
)
def test_a_printed_marker_is_defused(text: str) -> None:
    assert not defuse(text).startswith("<")


def test_other_brackets_stay() -> None:
    assert defuse("<b> 3 < 4 <Large>") == "<b> 3 < 4 <Large>"


@given(
    st.lists(st.text(alphabet="<>LINEPAGTBline 0123456789/ab", min_size=1, max_size=20), max_size=5)
)
def test_no_document_forges_a_marker(lines: list[str]) -> None:
    import re

    document = printed([" ".join(t.split()) for t in lines])
    text = render(document, 0, 0, 0, MarkerStyle.LINE).text
    markers = re.findall(r"^<(?:LINE|PAGE|TABLE) \d+>", text, re.M)
    everywhere = re.findall(r"<(?:LINE|PAGE|TABLE) \d+>", text, re.I)
    assert len(markers) == len(everywhere) == len(document.lines) + 1


def test_a_table_that_goes_on_says_its_rows_and_its_head() -> None:
    first = [["Forest", "Distance"], ["Elm", "4.7"]]
    document = tabled(
        ([], table_of(first, top=1100), []), ([], table_of([["Lapp", "9.1"], ["Oder", "12"]]), [])
    )
    assert render(document, 2, 2, 0, MarkerStyle.LINE).text.splitlines() == [
        "<PAGE 2>", "<TABLE 1> (continued, rows 3 to 4)", "|Forest|Distance|", "|-|-|", "|Lapp|9.1|",
        "|Oder|12|",
    ]  # fmt: skip


def test_a_table_is_markdown_with_pipes_escaped() -> None:
    def cell(row: int, column: int, text: str, span: int = 1) -> Cell:
        box = Box(0, 0, 10, 10)
        words = tuple(Word(w, box, quad_of(box), 1.0) for w in text.split())
        return Cell(row, column, 1, span, row == 1, False, box, words)

    cells = (cell(1, 1, "Item|x", 2), cell(2, 1, "a"), cell(2, 2, "1.00"))
    page = replace(DOCUMENT.pages[0], tables=(Table(Box(0, 0, 9, 9), cells, after_line=1),))
    document = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (page,))
    assert render(document, 0, 0, 0, MarkerStyle.LINE).text.splitlines() == [
        "<PAGE 1>", "<LINE 1>Alpha", "<TABLE 1>", "|Item\\|x||", "|-|-|", "|a|1.00|",
        "<LINE 2>Beta",
    ]  # fmt: skip
