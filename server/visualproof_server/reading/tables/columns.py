"""Columns: between upright rules, and where words leave white gaps."""

import re
import statistics
from itertools import pairwise

from visualproof_server.reading.tables.grid import Area, place
from visualproof_server.reading.tables.text import Phrase, TextLine, character_width, tight_gap

# Share of lines that may run across a gap between columns: headings, notes.
CROSSING = 0.12
# Median width of a gap, in characters, from which it parts columns: of words, of numbers, and of
# few lines.
GAP_WORDS, GAP_NUMBERS, GAP_FEW = 1.7, 1.0, 2.5
FEW_LINES = 5
# A single phrase wider than this share of the area is a heading or a note.
HEADING_WIDTH = 0.5

_SIGNS = frozenset("$€£¥₹")


def column_edges(
    area: Area, lines: list[TextLine], cuts: list[float], height: float
) -> list[float]:
    """Edges of columns, left to right, the area's own included; cuts are x of upright rules."""
    inner = [x for x in cuts if area.left + 0.6 * height < x < area.right - 0.6 * height]
    for begin, end in gutters(lines, cuts, area, height):
        if begin <= area.left + 0.5 * height or end >= area.right - 0.5 * height:
            continue
        if any(begin - 0.7 * height <= x <= end + 0.7 * height for x in cuts):
            continue
        inner.append((begin + end) / 2)
    return _without_units([area.left, *sorted(inner), area.right], lines, cuts)


def _without_units(xs: list[float], lines: list[TextLine], cuts: list[float]) -> list[float]:
    """Edges without those that part a currency sign from its amount, or an amount from its %."""
    texts: list[set[str]] = [set() for _ in xs[1:]]
    for line in lines:
        for word in line.words:
            texts[place((word.left + word.right) / 2, xs)].add(word.text)
    dropped = set()
    for column, found in enumerate(texts):
        if found and found <= _SIGNS and column + 1 < len(texts):
            dropped.add(xs[column + 1])
        elif found == {"%"} and column > 0:
            dropped.add(xs[column])
    return [x for x in xs if x not in dropped or x in cuts]


def gutters(
    lines: list[TextLine], cuts: list[float], area: Area, height: float
) -> list[tuple[float, float]]:
    """White gaps (left, right) between columns: almost no line runs across them, at least two
    lines have words on both sides, and they are wider than the space between words."""
    words = [w for line in lines for w in line.words]
    if len(words) < 4:
        return []
    char = character_width(words)
    counted = _counted(lines, cuts, area, height, tight_gap(char))
    if len(counted) < 2:
        return []
    left = int(area.left)
    cover = _cover(counted, left, int(area.right) + 2 - left)
    allowed = max(1 if len(counted) >= 4 else 0, int(CROSSING * len(counted)))
    found = []
    for begin, end in _runs([x for x, count in enumerate(cover) if count <= allowed]):
        # Of a gap that some lines cross, the clearest part.
        least = min(cover[begin:end])
        clearest = _runs([x for x in range(begin, end) if cover[x] == least])
        begin, end = max(clearest, key=lambda r: r[1] - r[0])
        if end - begin >= 0.5 * char and _parts(
            counted, begin + left, end + left, cuts, area, char
        ):
            found.append((float(begin + left), float(end + left)))
    return found


def _counted(
    lines: list[TextLine], cuts: list[float], area: Area, height: float, gap: float
) -> list[list[Phrase]]:
    """Phrases of the lines that show columns: those with values if there are enough."""
    with_values = [t for t in lines if any(p.is_value for p in t.phrases(gap, cuts))]
    counted = []
    for line in with_values if len(with_values) >= 4 else lines:
        wide = line.phrases(1.5 * height, cuts)
        if len(wide) > 1 or wide[0].right - wide[0].left <= HEADING_WIDTH * area.width:
            counted.append(line.phrases(gap, cuts))
    return counted


def _cover(counted: list[list[Phrase]], left: int, width: int) -> list[int]:
    """How many lines have a phrase over each x, from `left` on."""
    steps = [0] * (width + 1)
    for phrases in counted:
        for phrase in phrases:
            steps[min(width, max(0, int(phrase.left) - left))] += 1
            steps[min(width, max(0, int(phrase.right) + 1 - left))] -= 1
    total, cover = 0, []
    for step in steps[:-1]:
        total += step
        cover.append(total)
    return cover


def _parts(
    counted: list[list[Phrase]],
    begin: int,
    end: int,
    cuts: list[float],
    area: Area,
    char: float,
) -> bool:
    """Whether a gap has words on both sides, between the rules around it, in enough lines."""
    x = (begin + end) / 2
    left = max([c for c in cuts if c <= x], default=area.left)
    right = min([c for c in cuts if c > x], default=area.right)
    pairs: list[tuple[Phrase, Phrase]] = []
    lines = 0
    for phrases in counted:
        before = [p for p in phrases if left - 2 <= p.centre <= x]
        after = [p for p in phrases if x <= p.centre <= right + 2]
        lines += bool(before or after)
        if before and after:
            pairs.append((before[-1], after[0]))
    if len(pairs) < max(2, 0.15 * lines):
        return False
    gap = statistics.median(b.left - a.right for a, b in pairs)
    numbers = sum(a.is_number and b.is_number for a, b in pairs) >= 0.8 * len(pairs)
    if numbers and not all(_one_number(a, b) for a, b in pairs) and len(pairs) >= 4:
        return gap >= GAP_NUMBERS * char
    return gap >= (GAP_FEW if len(counted) < FEW_LINES else GAP_WORDS) * char


def _one_number(a: Phrase, b: Phrase) -> bool:
    """Whether two neighbours may be groups of one number: 12 345."""
    return re.fullmatch(r"[-+(]?\d{1,3}", a.text) is not None and (
        re.match(r"\d{3}(?!\d)", b.text) is not None
    )


def _runs(values: list[int]) -> list[tuple[int, int]]:
    """Runs of consecutive integers as (first, last + 1)."""
    if not values:
        return []
    breaks = [0, *[i + 1 for i, (a, b) in enumerate(pairwise(values)) if b != a + 1], len(values)]
    return [(values[a], values[b - 1] + 1) for a, b in pairwise(breaks)]
