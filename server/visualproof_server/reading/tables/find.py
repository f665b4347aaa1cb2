"""The tables of one page: where they may be, what the engine missed there, what they are."""

import statistics
from dataclasses import replace

import numpy as np

from visualproof_server.model.document import Cell, Table
from visualproof_server.model.geometry import box_of
from visualproof_server.reading.cleanup import Cleaned
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.layout import mended, to_word
from visualproof_server.reading.missed import missed_boxes
from visualproof_server.reading.raster import Grey
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
# Mean confidence from which a word counts that only the second look at a cell found.
MISSED_TRUST = 0.7
MAX_MISSED = 400
# How far beside a table, in text heights, a value may belong to it.
BESIDE = 12.0
MIN_WORDS = 6


def find_tables(
    image: Grey, words: list[EngineWord], engine: OcrEngine, languages: tuple[str, ...]
) -> tuple[list[Grid], list[EngineWord]]:
    """Tables of a cleaned page, and the words that stand in none."""
    if len(words) < MIN_WORDS:
        return [], words
    height = statistics.median(w.bottom - w.top for w in words)
    rules = without_strikes(find_rules(image, height), words)
    closed = closed_areas(rules, height)
    roll = print_width(words) < TILL_ROLL
    stacked = [] if roll else stacked_areas(rules, closed, words, height)
    if closed or stacked:
        words = _read_again(image, words, [*closed, *stacked], rules, height, engine, languages)
    grids: list[Grid] = []
    taken: list[Area] = []
    for area in sorted(closed, key=lambda a: -a.width * a.height):
        if any(area.overlaps(t) for t in taken):
            continue
        grid = read_grid(area, words, rules, height)
        if grid is not None:
            grids.append(grid)
        # A form's boxes hold no table without rules; a band alone may be the head of one.
        if grid is not None or len(text_lines([w for w in words if area.holds(w)])) > 1:
            taken.append(area)
    if roll:
        return grids, words
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
    inside = {id(w) for grid in grids for cell in grid.cells for w in cell.words}
    return grids, [w for w in words if id(w) not in inside]


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
        quad = cleaned.quad(
            grid.xs[cell.column],
            grid.ys[cell.row],
            grid.xs[cell.column_end],
            grid.ys[cell.row_end],
        )
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


def _read_again(
    image: Grey,
    words: list[EngineWord],
    areas: list[Area],
    rules: Rules,
    height: float,
    engine: OcrEngine,
    languages: tuple[str, ...],
) -> list[EngineWord]:
    """Words with what the engine missed between rules: single figures, two rows read as one."""
    wrong = [w for w in words if any(a.holds(w) for a in areas) and _is_misread(w, rules, height)]
    dropped = {id(w) for w in wrong}
    words = [w for w in words if id(w) not in dropped]
    pad = max(2.0, 0.12 * height)
    drawn: list[tuple[float, float, float, float]] = [
        (r.start, r.at - pad, r.end, r.at + pad) for r in rules.level
    ]
    drawn += [(r.at - pad, r.start, r.at + pad, r.end) for r in rules.upright]
    boxes = [
        box
        for box in missed_boxes(image, words, 0.2, drawn)
        if any(a.left < (box[0] + box[2]) / 2 < a.right for a in areas)
        and any(a.top < (box[1] + box[3]) / 2 < a.bottom for a in areas)
        and not any(_is_rest_of(box, w, height) for w in words)
    ][:MAX_MISSED]
    margin = 0.25 * height
    crops = []
    for left, top, right, bottom in boxes:
        rows = slice(max(0, int(top - margin)), int(bottom + margin) + 1)
        columns = slice(max(0, int(left - margin)), int(right + margin) + 1)
        crops.append(np.ascontiguousarray(image[rows, columns]))
    for number, (box, found) in enumerate(
        zip(boxes, engine.read_lines(crops, languages), strict=True)
    ):
        if not found or statistics.mean(w.confidence for w in found) < MISSED_TRUST:
            continue
        if not any(c.isalnum() for w in found for c in w.text):
            continue
        start = box[0] - margin
        words += [
            replace(
                word,
                left=max(box[0], start + word.left) if len(found) > 1 else box[0],
                right=min(box[2], start + word.right) if len(found) > 1 else box[2],
                top=box[1],
                bottom=box[3],
                block=-MAX_MISSED - number,
                line=-MAX_MISSED - number,
            )
            for word in found
        ]
    # What could not be read better is kept: nothing printed is lost.
    return words + [w for w in wrong if _is_print(w) and not any(_covers(n, w) for n in words)]


def _is_print(word: EngineWord) -> bool:
    return any(c.isalnum() for c in word.text) and word.right - word.left > word.bottom - word.top


def _covers(new: EngineWord, old: EngineWord) -> bool:
    x = (new.left + new.right) / 2
    y = (new.top + new.bottom) / 2
    return old.left <= x <= old.right and old.top <= y <= old.bottom


def _is_rest_of(box: tuple[float, float, float, float], word: EngineWord, height: float) -> bool:
    """Whether ink is the end of a word whose box is too short."""
    apart = max(box[0] - word.right, word.left - box[2])
    level = min(box[3], word.bottom) - max(box[1], word.top)
    return apart < 0.25 * height and level > 0.5 * (box[3] - box[1])


def _is_misread(word: EngineWord, rules: Rules, height: float) -> bool:
    """A rule read as a letter, or words of two cells read as one."""
    high, wide = word.bottom - word.top, word.right - word.left
    for rule in rules.upright:
        along = rule.covers(word.top, word.bottom)
        if set(word.text) <= set("|[]{}()\\/lI1!") and wide < 0.8 * height:
            if along > 0.7 and word.left - 3 <= rule.at <= word.right + 3:
                return True
        if along > 0.8 and word.left + 0.6 * height < rule.at < word.right - 0.6 * height:
            return True
    return any(
        word.top + 0.3 * high < r.at < word.bottom - 0.3 * high
        and r.covers(word.left, word.right) > 0.6
        for r in rules.level
    )
