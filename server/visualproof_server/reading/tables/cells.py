"""Cells of a grid: which places are one cell, and which words stand in it."""

import statistics
from dataclasses import dataclass

from visualproof_server.reading.tables.grid import Grid, GridCell, Joined, place
from visualproof_server.reading.tables.rules import Rule, Rules
from visualproof_server.reading.tables.text import (
    Phrase,
    TextLine,
    character_width,
    heading_gap,
    tight_gap,
)

# A side is drawn if a rule runs along this much of it.
DRAWN = 0.6
# Share of its length from which a parting counts as ruled: then places without the rule are one.
RULED = 0.5

Slot = tuple[int, int]
"""(row, column), 0-based."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Which sides of places are drawn: right[row][column] and below[row][column]."""

    right: list[list[bool]]
    below: list[list[bool]]


def make_cells(
    xs: list[float], ys: list[float], lines: list[TextLine], rules: Rules, height: float
) -> Grid:
    """Fills a grid with the words of its lines; merges what no rule and no white space parts."""
    sides = drawn(xs, ys, rules, height)
    phrases = _phrases(xs, ys, lines, sides)
    merged = Joined((r, c) for r in range(len(ys) - 1) for c in range(len(xs) - 1))
    _merge_where_rules_end(merged, sides)
    bodies = _bodies(phrases, xs)
    reaches = [
        [_reach(p, xs, bodies, _rule_under(p, xs, ys[r + 1], rules, height)) for p in row]
        for r, row in enumerate(phrases)
    ]
    for row, spans in enumerate(reaches):
        for first, end in spans:
            for column in range(first, end - 1):
                if not sides.right[row][column]:
                    merged.join((row, column), (row, column + 1))
    cells, doubtful = _rectangles(merged)
    by_slot = {
        (r, c): cell
        for cell in cells
        for r in range(cell.row, cell.row_end)
        for c in range(cell.column, cell.column_end)
    }
    for row, (found, spans) in enumerate(zip(phrases, reaches, strict=True)):
        for phrase, (first, _) in zip(found, spans, strict=True):
            by_slot[row, first].phrases.append(phrase)
    return Grid(xs, ys, cells, doubtful)


def drawn_shares(grid: Grid, rules: Rules, height: float) -> list[float]:
    """For each parting of columns that has a rule anywhere, the share of rows that it parts."""
    right = drawn(grid.xs, grid.ys, rules, height).right
    shares = [
        sum(right[r][c] for r in range(grid.rows)) / grid.rows for c in range(grid.columns - 1)
    ]
    return [share for share in shares if share > 0]


def _rectangles(merged: Joined[Slot]) -> tuple[list[GridCell], bool]:
    """Rectangular cells in reading order, and whether some joined places were none."""
    cells, doubtful = [], False
    for slots in merged.groups():
        rows, columns = {r for r, _ in slots}, {c for _, c in slots}
        if len(rows) * len(columns) == len(slots):
            cells.append(GridCell(min(rows), min(columns), max(rows) + 1, max(columns) + 1))
        else:
            doubtful = True
            cells += [GridCell(r, c, r + 1, c + 1) for r, c in slots]
    return sorted(cells, key=lambda c: (c.row, c.column)), doubtful


def drawn(xs: list[float], ys: list[float], rules: Rules, height: float) -> Sides:
    rows, columns = range(len(ys) - 1), range(len(xs) - 1)

    def on(found: tuple[Rule, ...], at: float, start: float, end: float) -> bool:
        return any(abs(r.at - at) < 0.8 * height and r.covers(start, end) > DRAWN for r in found)

    return Sides(
        [[on(rules.upright, xs[c + 1], ys[r], ys[r + 1]) for c in columns] for r in rows],
        [[on(rules.level, ys[r + 1], xs[c], xs[c + 1]) for c in columns] for r in rows],
    )


def _phrases(
    xs: list[float], ys: list[float], lines: list[TextLine], sides: Sides
) -> list[list[Phrase]]:
    """Phrases of each row, line after line; only drawn sides and wide gaps part them."""
    char = character_width([w for line in lines for w in line.words])
    rows: list[list[Phrase]] = [[] for _ in ys[1:]]
    for line in lines:
        row = place(line.middle, ys)
        cuts = [xs[c + 1] for c in range(len(xs) - 2) if sides.right[row][c]]
        tight = line.phrases(tight_gap(char), cuts)
        loose = line.phrases(heading_gap(char), cuts)
        # Values that stand close are columns; words that stand as close are one heading.
        rows[row] += tight if any(p.is_number for p in tight) else loose
    return rows


def _merge_where_rules_end(merged: Joined[Slot], sides: Sides) -> None:
    rows, columns = range(len(sides.right)), range(len(sides.right[0]))
    for column in columns[:-1]:
        if sum(sides.right[r][column] for r in rows) >= RULED * len(rows):
            for row in rows:
                if not sides.right[row][column]:
                    merged.join((row, column), (row, column + 1))
    for row in rows[:-1]:
        if sum(sides.below[row]) >= RULED * len(columns):
            for column in columns:
                if not sides.below[row][column]:
                    merged.join((row, column), (row + 1, column))


def _bodies(phrases: list[list[Phrase]], xs: list[float]) -> list[tuple[float, float]]:
    """Where each column's words lie (left, right), by the phrases that stay in one column."""
    out = []
    for column in range(len(xs) - 1):
        own = [
            p
            for row in phrases
            for p in row
            if place(p.left, xs) == column == place(p.right - 1, xs)
        ]
        if own:
            left = statistics.median(p.left for p in own)
            out.append((left, statistics.median(p.right for p in own)))
        else:
            out.append((xs[column], xs[column + 1]))
    return out


def _rule_under(
    phrase: Phrase, xs: list[float], y: float, rules: Rules, height: float
) -> Rule | None:
    """A rule right under a heading that is wider than it and does not run through the table."""
    for rule in rules.level:
        if abs(rule.at - y) < 0.8 * height and rule.covers(phrase.left, phrase.right) > 0.9:
            if rule.covers(xs[0], xs[-1]) < 0.9:
                return rule
    return None


def _reach(
    phrase: Phrase, xs: list[float], bodies: list[tuple[float, float]], rule: Rule | None
) -> tuple[int, int]:
    """Columns [first, end) that a phrase stands in: those whose words it covers by half."""
    home = place(phrase.centre, xs)
    left, right = (rule.start, rule.end) if rule else (phrase.left, phrase.right)
    first, last = place(left, xs), place(right - 1, xs)
    inside = [home]
    for column in range(first, last + 1):
        begin, end = bodies[column]
        if min(right, end) - max(left, begin) >= 0.5 * (end - begin):
            inside.append(column)
    return min(inside), max(inside) + 1
