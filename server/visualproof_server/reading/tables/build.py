"""From an area to the table that stands in it."""

from dataclasses import replace
from itertools import pairwise

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.tables.cells import drawn, drawn_shares, make_cells
from visualproof_server.reading.tables.columns import column_edges
from visualproof_server.reading.tables.grid import Area, Grid, GridCell, clustered
from visualproof_server.reading.tables.head import mark_head
from visualproof_server.reading.tables.rows import row_partings
from visualproof_server.reading.tables.rules import Rules
from visualproof_server.reading.tables.text import TextLine, text_lines

# Shares of cells and of rows with words under which a grid is a chart or a form.
MIN_FILLED, MIN_ROWS_FILLED = 0.35, 0.7
# Share of rows with words in three columns, in tables without upright rules.
MIN_WIDE_ROWS = 0.5
# Mean share of rows that an upright rule between columns runs through: columns of a table; less
# are boxes of a form, and hardly any is a stray line.
MIN_DRAWN, MAX_STRAY = 0.75, 0.2
# Share of cells with a single character from which a row of boxes is for one number.
MAX_BOXES = 0.6


def read_grid(area: Area, words: list[EngineWord], rules: Rules, height: float) -> Grid | None:
    """The table in an area, None if what stands there has no rows and columns."""
    words = [w for w in words if area.holds(w)]
    rules = _within(rules, area)
    if rules.upright:
        grid = _grid(area, words, rules, height)
        shares = drawn_shares(grid, rules, height) if grid is not None else []
        share = sum(shares) / len(shares) if shares else 0.0
        if grid is not None and share >= MIN_DRAWN and (grid.rows > 2 or _is_plain(grid)):
            return grid
        if grid is not None and len(shares) >= 2 and _is_headed(grid, rules, height):
            return grid
        if grid is not None and share > max(MAX_STRAY, 1 / grid.rows):
            return None
        rules = Rules(rules.level, ())
    grid = _grid(area, words, rules, height)
    return grid if grid is not None and _is_regular(grid) else None


def _grid(area: Area, words: list[EngineWord], rules: Rules, height: float) -> Grid | None:
    bands = _bands(area, words, rules, height)
    lines = [line for _, _, band in bands for line in band]
    if not lines:
        return None
    cuts = clustered((r.at for r in rules.upright), 0.7 * height)
    xs = column_edges(area, lines, cuts, height)
    xs = _without_strips(xs, [(w.left + w.right) / 2 for w in words], 1.6 * height)
    if len(xs) < 3:
        return None
    ys = [area.top]
    for number, (_, bottom, band) in enumerate(bands):
        head = number == 0 and len(bands) > 1
        ys += [*row_partings(band, xs, height, head), bottom]
    ys = _without_strips(ys, [(w.top + w.bottom) / 2 for w in words], 0.8 * height)
    grid = _trimmed(make_cells(xs, ys, lines, rules, height))
    if grid is None or not _is_table(grid):
        return None
    mark_head(grid, rules, height)
    return grid


def _within(rules: Rules, area: Area) -> Rules:
    return Rules(
        tuple(
            r
            for r in rules.level
            if area.top - 3 <= r.at <= area.bottom + 3 and r.covers(area.left, area.right) > 0
        ),
        tuple(
            r
            for r in rules.upright
            if area.left - 3 <= r.at <= area.right + 3 and r.covers(area.top, area.bottom) > 0
        ),
    )


def _bands(
    area: Area, words: list[EngineWord], rules: Rules, height: float
) -> list[tuple[float, float, list[TextLine]]]:
    """(top, bottom, lines) between level rules."""
    inner = clustered((r.at for r in rules.level), 0.5 * height)
    inner = [y for y in inner if area.top + 0.6 * height < y < area.bottom - 0.6 * height]
    out = []
    for top, bottom in pairwise([area.top, *inner, area.bottom]):
        inside = [w for w in words if top <= (w.top + w.bottom) / 2 < bottom]
        out.append((top, bottom, text_lines(inside)))
    return out


def _without_strips(edges: list[float], places: list[float], least: float) -> list[float]:
    """Edges without the narrow empty strips that double rules leave."""
    out = [edges[0]]
    for index, edge in enumerate(edges[1:], 1):
        begin = out[-1]
        if edge - begin >= least or any(begin <= p < edge for p in places):
            out.append(edge)
        elif len(out) > 1:
            out[-1] = edge if index == len(edges) - 1 else (begin + edge) / 2
    return out


def _trimmed(grid: Grid) -> Grid | None:
    """Without titles and notes: first and last rows that are one cell through all columns."""
    first, end = 0, grid.rows
    while first < end and _is_title(grid, first):
        first += 1
    while end > first and _is_title(grid, end - 1):
        end -= 1
    if end - first < 2:
        return None
    moved = [
        GridCell(
            max(c.row, first) - first,
            c.column,
            min(c.row_end, end) - first,
            c.column_end,
            c.phrases,
        )
        for c in grid.cells
        if c.row < end and c.row_end > first
    ]
    return replace(grid, ys=grid.ys[first : end + 1], cells=moved)


def _is_table(grid: Grid) -> bool:
    """Charts and rows of boxes have grids too, but hardly a word in them."""
    filled = [c for c in grid.cells if c.phrases]
    if len(filled) < MIN_FILLED * len(grid.cells):
        return False
    if len({c.row for c in filled}) < MIN_ROWS_FILLED * grid.rows:
        return False
    boxes = [c for c in filled if len(c.text) == 1 and c.row > 0]
    return len(boxes) < MAX_BOXES * len(filled) or grid.rows > grid.columns


def _is_headed(grid: Grid, rules: Rules, height: float) -> bool:
    """Whether every column is ruled in the first row, and values stand under it."""
    right = drawn(grid.xs, grid.ys, rules, height).right[0]
    heads = [c for c in grid.cells if c.row == 0]
    named = len(heads) == grid.columns and all(c.phrases for c in heads)
    return all(right[:-1]) and named and _value_columns(grid) >= 1


def _is_plain(grid: Grid) -> bool:
    return len(grid.cells) == grid.rows * grid.columns


def _is_regular(grid: Grid) -> bool:
    """Whether most rows have words in three columns or more: label and value alone are a form."""
    wide = 0
    for row in range(grid.rows):
        filled = [c for c in grid.cells if c.row <= row < c.row_end and c.phrases]
        wide += len(filled) >= 3
    return wide >= MIN_WIDE_ROWS * grid.rows and wide >= 3 and _value_columns(grid) >= 2


def _value_columns(grid: Grid) -> int:
    """Columns with values in most of their cells under the head."""
    count = 0
    for column in range(1, grid.columns):
        cells = [c for c in grid.cells if c.column == column and c.phrases and not c.column_header]
        values = [c for c in cells if len(c.phrases) == 1 and c.phrases[0].is_value]
        count += len(values) >= max(2, 0.6 * len(cells))
    return count


def _is_title(grid: Grid, row: int) -> bool:
    cells = [c for c in grid.cells if c.row <= row < c.row_end]
    return len(cells) == 1 or not any(c.phrases for c in cells)
