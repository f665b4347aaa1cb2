"""The tables of one page: where they may be, what the engine missed there, what they are."""

import statistics

from visualproof_server.model.document import Cell, Table
from visualproof_server.model.geometry import box_of
from visualproof_server.reading.cleanup import Cleaned
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.layout import mended, to_word
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.tables.again import Again
from visualproof_server.reading.tables.build import read_grid
from visualproof_server.reading.tables.grid import Area, Grid
from visualproof_server.reading.tables.regions import (
    aligned_areas,
    closed_areas,
    stacked_areas,
    with_head,
)
from visualproof_server.reading.tables.rules import Rules, find_rules, without_strikes
from visualproof_server.reading.tables.text import character_width, is_number, text_lines

# Characters side by side up to which print is a till roll's (they have 32 to 48): aligned numbers
# there are lines of items, and their heads rarely stand over them.
TILL_ROLL = 52
# How far beside a table, in text heights, a value may belong to it.
BESIDE = 12.0
MIN_WORDS = 6


def find_tables(
    image: Grey,
    words: list[EngineWord],
    engine: OcrEngine | None,
    languages: tuple[str, ...],
) -> tuple[list[Grid], list[EngineWord]]:
    """Tables of a cleaned page, and the words that stand in none.

    The engine reads doubtful cells once more; None leaves the words as they are.
    """
    if len(words) < MIN_WORDS:
        return [], words
    height = statistics.median(w.bottom - w.top for w in words)
    rules = without_strikes(find_rules(image, height), words)
    closed = closed_areas(rules, height)
    roll = print_width(words) < TILL_ROLL
    stacked = [] if roll else stacked_areas(rules, closed, words, height)
    again = Again(image, height, engine, languages) if engine is not None else None
    if again is not None and (closed or stacked):
        words = again.words(words, [*closed, *stacked], rules)
    grids, taken = _closed(closed, words, rules, height)
    if not roll:
        grids += _open(stacked, taken, words, rules, height)
    if again is not None:
        again.fill(grids, words)
    inside = {id(w) for grid in grids for cell in grid.cells for w in cell.words}
    return grids, [w for w in words if id(w) not in inside]


def _closed(
    areas: list[Area], words: list[EngineWord], rules: Rules, height: float
) -> tuple[list[Grid], list[Area]]:
    """Tables with rules on all sides, the largest first; and the areas that hold no others."""
    grids: list[Grid] = []
    taken: list[Area] = []
    for area in sorted(areas, key=lambda a: -a.width * a.height):
        if any(area.overlaps(t) for t in taken):
            continue
        grid = read_grid(area, words, rules, height)
        if grid is not None:
            grids.append(grid)
        # A form's boxes hold no table without rules; a band alone may be the head of one.
        if grid is not None or len(text_lines([w for w in words if area.holds(w)])) > 1:
            taken.append(area)
    return grids, taken


def _open(
    stacked: list[Area], taken: list[Area], words: list[EngineWord], rules: Rules, height: float
) -> list[Grid]:
    """Tables with level rules only, then those without rules, outside of what is taken."""
    grids: list[Grid] = []
    taken = list(taken)
    for area in stacked:
        if not any(area.overlaps(t) for t in taken):
            grid = _read(area, words, rules, height)
            if grid is not None:
                grids.append(grid)
                taken.append(grid.area)
    rest = [w for w in words if not any(t.holds(w) for t in taken)]
    for area in aligned_areas(rest, height):
        if not any(area.overlaps(t) for t in taken):
            grid = _read(area, rest, rules, height)
            if grid is not None:
                grid.doubtful = grid.doubtful or _has_more(grid, rest, height)
                grids.append(grid)
    return grids


def _read(area: Area, words: list[EngineWord], rules: Rules, height: float) -> Grid | None:
    """The table in an area, with the head that is printed over it."""
    grid = read_grid(area, words, rules, height)
    if grid is None:
        return None
    wider = with_head(grid, words, height)
    headed = read_grid(wider, words, rules, height) if wider is not None else None
    return headed if headed is not None and headed.columns == grid.columns else grid


def _has_more(grid: Grid, words: list[EngineWord], height: float) -> bool:
    """Whether values stand right beside a table without rules: a column that fits no row."""
    area = grid.area
    beside = [
        w
        for w in words
        if area.top < (w.top + w.bottom) / 2 < area.bottom
        and area.right < w.left < area.right + BESIDE * height
        and is_number(w.text)
    ]
    return len(beside) >= 2


def to_table(grid: Grid, after_line: int, cleaned: Cleaned, engine: str) -> Table:
    """A grid as a table on the page as shown, after that many lines of it."""
    cells = []
    for cell in grid.cells:
        place = grid.area_of(cell)
        quad = cleaned.quad(place.left, place.top, place.right, place.bottom)
        cells.append(
            Cell(
                cell.row + 1,
                cell.column + 1,
                cell.row_end - cell.row,
                cell.column_end - cell.column,
                cell.column_header,
                cell.row_header,
                box_of(quad),
                tuple(to_word(w, cleaned, engine) for w in mended(cell.words)),
                quad,
            )
        )
    area = grid.area
    outline = cleaned.quad(area.left, area.top, area.right, area.bottom)
    return Table(box_of(outline), tuple(cells), after_line, grid.doubtful, outline)


def print_width(words: list[EngineWord]) -> float:
    """How many characters stand side by side, without the outermost words."""
    lefts, rights = sorted(w.left for w in words), sorted(w.right for w in words)
    out = len(words) // 50
    return (rights[-1 - out] - lefts[out]) / character_width(words)
