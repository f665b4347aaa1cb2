"""Tables from rules and white space, and what is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading.sheet import NoEngine, Sheet, texts
from visualproof_server.reading.tables.again import Again
from visualproof_server.reading.tables.find import find_tables
from visualproof_server.reading.tables.grid import Grid
from visualproof_server.reading.tables.rules import find_rules, without_strikes
from visualproof_server.reading.tesseract import Tesseract

XS: list[float] = [100, 450, 700, 950]
EDGES: list[float] = [90, 430, 680, 930, 1150]
ROWS = [
    ["State", "Total", "White", "Black"],
    ["Alabama", "7,731", "4,210", "2,118"],
    ["Alaska", "1,204", "880", "97"],
    ["Arizona", "9,310", "6,004", "433"],
    ["Arkansas", "4,018", "3,117", "702"],
]
PROSE = "The committee met again in the spring and found that little had changed since then."


def only(sheet: Sheet) -> Grid:
    (grid,) = sheet.tables()
    return grid


def lines_of(top: float, count: int, pitch: float = 40) -> list[float]:
    return [top + pitch * n for n in range(count + 1)]


def test_a_ruled_table() -> None:
    grid = only(Sheet().rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5)))
    assert texts(grid) == ROWS
    assert [c.column_header for c in grid.cells] == [True] * 4 + [False] * 16
    assert [c.text for c in grid.cells if c.row_header] == [r[0] for r in ROWS[1:]]
    assert not grid.doubtful


@pytest.mark.parametrize("rules", [[200, 240, 400], [200, 240], []], ids=["three", "two", "none"])
def test_level_rules_and_none(rules: list[float]) -> None:
    sheet = Sheet().text(100, 100, PROSE).rows(XS, 208, ROWS).text(100, 600, PROSE)
    for y in rules:
        sheet.rule(90, y, 1150, y)
    assert texts(only(sheet)) == ROWS
    assert " ".join(sheet.loose()) == f"{PROSE} {PROSE}"


def test_only_the_first_column_is_ruled_off() -> None:
    sheet = Sheet().rows(XS, 208, ROWS).rule(430, 200, 430, 400)
    for y in (200, 240, 400):
        sheet.rule(90, y, 1150, y)
    assert texts(only(sheet)) == ROWS


def test_merged_cells_by_their_missing_rules() -> None:
    sheet = Sheet()
    rows = [["", "Sample", "", "Note"], ["Faculty", "1999", "2004", ""], *ROWS[1:3]]
    sheet.rows(XS, 208, rows)
    sheet.grid(EDGES, lines_of(200, 4))
    # White over the rule under the first cell, and over the one right of "Sample".
    for x0, y0, x1, y1 in ((92, 235, 428, 245), (675, 203, 685, 237), (932, 235, 1148, 245)):
        sheet.shade(x0, y0, x1, y1, 255)
    grid = only(sheet)
    spans = {c.text: (c.row, c.row_end, c.column, c.column_end) for c in grid.cells if c.text}
    assert spans["Faculty"] == (0, 2, 0, 1)
    assert spans["Sample"] == (0, 1, 1, 3)
    assert spans["Note"] == (0, 2, 3, 4)
    assert spans["1999"] == (1, 2, 1, 2)


def test_a_heading_over_several_columns_without_rules() -> None:
    sheet = Sheet().text(640, 168, "Race or ethnicity of pupils").rows(XS, 208, ROWS)
    grid = only(sheet)
    heading = next(c for c in grid.cells if c.text.startswith("Race"))
    assert (heading.row, heading.column, heading.column_end) == (0, 1, 4)
    assert texts(grid)[1:] == ROWS


def test_wrapped_cells_are_one_row() -> None:
    sheet = Sheet().grid(EDGES, [200, 240, 310, 350])
    sheet.rows(XS, 208, ROWS[:1]).rows(XS, 248, [["Northern", "7,731", "4,210", "18"]])
    sheet.text(100, 276, "Territory").rows(XS, 318, [ROWS[2]])
    assert texts(only(sheet))[1] == ["Northern Territory", "7,731", "4,210", "18"]


def test_narrow_columns_of_numbers_part() -> None:
    xs: list[float] = [100, 400, 478, 562]
    rows = [["Item", "n", "Rate", "Sum"]]
    rows += [[f"Label {c}", f"1,{n}14", f"19{n}.5", f"2{n}1"] for n, c in enumerate("abcdefg")]
    sheet = Sheet().text(100, 100, PROSE).rows(xs, 208, rows)
    for y in (200, 240, 520):
        sheet.rule(90, y, 640, y)
    assert texts(only(sheet)) == rows


def test_two_tables_on_a_page_and_a_caption_between() -> None:
    sheet = Sheet().rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5))
    sheet.text(100, 440, "Table 2: the same for pupils of private schools")
    sheet.rows(XS, 508, ROWS).grid(EDGES, lines_of(500, 5))
    assert [texts(g) for g in sheet.tables()] == [ROWS, ROWS]
    assert sheet.loose()[0] == "Table"


def test_a_title_inside_the_frame_is_no_row() -> None:
    sheet = Sheet().text(300, 168, "Exhibit B: pupils by state and origin")
    sheet.rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5))
    sheet.rule(90, 160, 1150, 160).rule(90, 160, 90, 200).rule(1150, 160, 1150, 200)
    assert texts(only(sheet)) == ROWS
    assert sheet.loose()[:2] == ["Exhibit", "B:"]


def test_coloured_rows_and_light_print_on_a_dark_head() -> None:
    sheet = Sheet().shade(90, 200, 1150, 240, 70)
    for n in (1, 3):
        sheet.shade(90, 200 + 40 * n, 1150, 240 + 40 * n, 215)
    for x, name in zip(XS, ROWS[0], strict=True):
        sheet.text(x, 208, name, grey=250)
    assert texts(only(sheet.rows(XS, 248, ROWS[1:]))) == ROWS


@pytest.mark.parametrize("degrees", [0.0, 0.15])
def test_a_little_skew_is_borne(degrees: float) -> None:
    from PIL import Image

    sheet = Sheet().rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5))
    turned = Image.fromarray(sheet.image).rotate(degrees, fillcolor=255, center=(600, 300))
    found, _ = find_tables(np.asarray(turned), sheet.words, NoEngine(), ("eng",))
    assert [texts(g) for g in found] == [ROWS]


def test_double_rules_make_no_columns() -> None:
    sheet = Sheet().rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5))
    for x in EDGES[1:-1]:
        sheet.rule(x + 12, 200, x + 12, 400)
    assert texts(only(sheet)) == ROWS


def prose_columns() -> Sheet:
    sheet = Sheet()
    for n in range(14):
        sheet.text(100, 200 + 34 * n, f"In {1990 + n} the board met {n} times and wrote")
        sheet.text(650, 200 + 34 * n, f"to all {n} members that the fee of 20 was")
    return sheet


def form() -> Sheet:
    """Boxes of several sizes, each with a label and a value."""
    sheet = Sheet().grid([90, 1150], [200, 280, 360, 440, 520])
    for x, y in ((500, 200), (800, 200), (300, 280), (900, 360), (450, 440), (700, 440)):
        sheet.rule(x, y, x, y + 80)
    labels = [(100, 205, "Name"), (510, 205, "Born"), (810, 205, "Sex"), (100, 285, "Street")]
    labels += [(310, 285, "Town"), (100, 365, "Bank"), (910, 365, "Code"), (100, 445, "Sum")]
    for x, y, text in labels:
        sheet.text(x, y, text).text(x + 10, y + 35, "1234")
    return sheet


def frame() -> Sheet:
    sheet = Sheet().grid([90, 1150], [200, 500])
    return sheet.text(110, 220, PROSE).text(110, 300, PROSE)


def receipt() -> Sheet:
    rows = [[f"ITEM {n}", "1", f"{n}.90", f"{n}.90"] for n in range(2, 9)]
    return Sheet().text(100, 100, "SHOP").rows([100, 250, 300, 400], 208, rows)


def chart() -> Sheet:
    sheet = Sheet().grid([200, 340, 480, 620, 760, 900], lines_of(200, 9))
    return sheet.text(300, 208, "30.5").text(600, 328, "49.0").text(100, 580, "2001")


def leaders() -> Sheet:
    sheet = Sheet().text(100, 100, PROSE)
    for n, name in enumerate(("Charters", "Mergers", "Suits", "Appeals")):
        sheet.text(100, 200 + 40 * n, name)
        for x in range(300, 900, 40):
            sheet.text(x, 200 + 40 * n, ".")
        sheet.text(950, 200 + 40 * n, "W-8BEN")
    return sheet


def label_and_value() -> Sheet:
    rows = [["Order", "7781"], ["Date", "2026-10-15"], ["Sum", "75.00"], ["Due", "30 days"]]
    return Sheet().text(100, 100, PROSE).rows([100, 700], 208, rows)


@pytest.mark.parametrize(
    "make", [prose_columns, form, frame, receipt, chart, leaders, label_and_value]
)
def test_what_is_no_table(make: object) -> None:
    sheet: Sheet = make()  # type: ignore[operator]
    assert sheet.tables() == []
    assert sheet.loose() == [w.text for w in sheet.words]


def test_no_word_is_lost_and_none_stands_twice() -> None:
    sheet = Sheet().text(100, 100, PROSE).rows(XS, 208, ROWS).grid(EDGES, lines_of(200, 5))
    sheet.text(100, 440, "Source: own count")
    grids, loose = find_tables(sheet.image, sheet.words, NoEngine(), ("eng",))
    inside = [w for g in grids for c in g.cells for w in c.words]
    assert sorted(map(id, inside + loose)) == sorted(map(id, sheet.words))


def test_a_column_that_fits_no_row_makes_a_table_doubtful() -> None:
    sheet = Sheet().text(100, 100, PROSE).rows(XS[:3], 208, [r[:3] for r in ROWS])
    sheet.rows([820], 263, [["5,000"], ["7,000"], ["9,000"]])
    assert [g.doubtful for g in sheet.tables()] == [True]


def test_streaks_through_words_are_no_rules() -> None:
    sheet = Sheet().rows([300], 208, [["Description 12345"]] * 10, pitch=30)
    sheet.rule(360, 200, 360, 520)
    rules = find_rules(sheet.image, 20)
    assert len(rules.upright) == 1
    assert without_strikes(rules, sheet.words).upright == ()


def test_single_figures_that_the_engine_missed_are_read_again() -> None:
    sheet = Sheet().rows(XS, 208, ROWS[:4]).grid(EDGES, lines_of(200, 5))
    sheet.text(100, 368, "Texas").text(460, 368, "8", known=False).text(710, 368, "31", known=False)
    (grid,), _ = find_tables(sheet.image, sheet.words, Tesseract(), ("eng",))
    assert texts(grid)[4] == ["Texas", "8", "31", ""]


def test_print_on_end_in_a_head() -> None:
    from PIL import Image

    sheet = Sheet().grid(EDGES, [100, 240, 280, 320, 360])
    sheet.rows(XS, 248, ROWS[1:4]).text(100, 208, "State").text(710, 208, "White")
    word = Sheet().text(10, 10, "Inhabitants", known=False).image[:40, :140]
    page = sheet.image.copy()
    page[105:235, 480:520] = np.rot90(word[:40, 5:135])
    (grid,), _ = find_tables(page, sheet.words, Tesseract(), ("eng",))
    assert texts(grid)[0][1] == "Inhabitants"
    assert Image.fromarray(page).size == (1240, 1754)


def test_the_second_reading_invents_nothing_from_rules() -> None:
    sheet = Sheet().rows(XS, 208, [r if r[0] != "Alaska" else ["Alaska", "", "", ""] for r in ROWS])
    sheet.grid(EDGES, lines_of(200, 5))
    again = Again(sheet.image, 20, Tesseract(), ("eng",))
    (grid,) = sheet.tables()
    again.fill([grid], sheet.words)
    assert texts(grid)[2] == ["Alaska", "", "", ""]


PLACES = st.tuples(
    st.integers(0, 1100), st.integers(0, 700), st.sampled_from(["12", "Sum", "4.50"])
)
LINES = st.tuples(st.booleans(), st.integers(20, 1100), st.integers(20, 700), st.integers(40, 900))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(PLACES, min_size=6, max_size=60),
    st.lists(LINES, max_size=12),
    st.lists(st.integers(1, 20), max_size=6),
)
def test_any_words_and_rules_give_whole_tables(
    places: list[tuple[int, int, str]], lines: list[tuple[bool, int, int, int]], rows: list[int]
) -> None:
    sheet = Sheet()
    for x, y, text in places:
        sheet.text(x, y, text)
    for n in rows:
        sheet.rows([100, 300, 500], 40 * n, [["Name", "12.50", "7"]])
    for level, x, y, length in lines:
        sheet.rule(x, y, x + length if level else x, y if level else y + length)
    grids, loose = sheet.found()
    inside = [w for g in grids for c in g.cells for w in c.words]
    assert sorted(map(id, inside + loose)) == sorted(map(id, sheet.words))
    for grid in grids:
        covered = [
            (r, c)
            for cell in grid.cells
            for r in range(cell.row, cell.row_end)
            for c in range(cell.column, cell.column_end)
        ]
        assert sorted(covered) == [(r, c) for r in range(grid.rows) for c in range(grid.columns)]
