"""Rows between two level rules: one for each line of values, wrapped lines with their row."""

from itertools import pairwise

from visualproof_server.reading.tables.grid import place
from visualproof_server.reading.tables.text import (
    Phrase,
    TextLine,
    character_width,
    heading_gap,
)

# Space between lines, in text heights, up to which a line may belong to its neighbour's row.
CLOSE = 0.9
# Extra space, in text heights, that parts rows of a table without numbers.
WIDER = 0.6
# Share of a column's width that a phrase must cover to stand over it.
REACHES = 0.12

Filled = dict[int, Phrase]
"""What a line has in each column."""


def row_partings(band: list[TextLine], xs: list[float], height: float, head: bool) -> list[float]:
    """y between the rows of a band of lines that no rule parts; head: the table's first band."""
    if len(band) < 2:
        return []
    filled = [_by_column(line, xs) for line in band]
    values = [len(f) >= 2 and any(p.is_value for c, p in f.items() if c > 0) for f in filled]
    if sum(values) < 2 and not (head and _spans(band[0], xs)):
        return _text_partings(band, filled, height)
    first = values.index(True) if sum(values) >= 2 else len(band)
    owners = _head_levels(band[:first], xs)
    for number in range(first, len(band)):
        owners.append(number if values[number] else _owner(number, band, filled, values, height))
    return [
        (band[i].bottom + band[i + 1].top) / 2
        for i, (a, b) in enumerate(pairwise(owners))
        if a != b
    ]


def _by_column(line: TextLine, xs: list[float]) -> Filled:
    parts: dict[int, list[int]] = {}
    for number, word in enumerate(line.words):
        parts.setdefault(place((word.left + word.right) / 2, xs), []).append(number)
    return {c: Phrase(tuple(line.words[n] for n in numbers)) for c, numbers in parts.items()}


def _head_levels(head: list[TextLine], xs: list[float]) -> list[int]:
    """Levels of the lines above the first values, as negative numbers.

    A line with a phrase over several columns is a level of its own; other lines wrap.
    """
    levels: list[int] = []
    level = -1
    for line in head:
        spans = _spans(line, xs)
        if spans and levels and levels[-1] == level:
            level -= 1
        levels.append(level)
        if spans:
            level -= 1
    return levels


def _spans(line: TextLine, xs: list[float]) -> bool:
    """Whether a phrase of a line stands over several columns."""
    phrases = line.phrases(heading_gap(character_width(list(line.words))))
    if len(phrases) >= len(xs) - 1:
        return False
    for phrase in phrases:
        first, last = place(phrase.left, xs), place(phrase.right - 1, xs)
        into = [
            min(phrase.right, xs[c + 1]) - max(phrase.left, xs[c]) >= REACHES * (xs[c + 1] - xs[c])
            for c in range(first, last + 1)
        ]
        if sum(into) > 1:
            return True
    return False


def _owner(
    number: int, band: list[TextLine], filled: list[Filled], values: list[bool], height: float
) -> int:
    """Which line's row a line without values belongs to; its own if it is a row itself."""
    line, own = band[number], filled[number]
    near = CLOSE * height
    before = number - 1 if values[number - 1] and line.top - band[number - 1].bottom < near else -1
    after = number + 1 if number + 1 < len(band) and values[number + 1] else -1
    if after >= 0 and band[after].top - line.bottom >= near:
        after = -1
    if set(own) != {0}:
        return before if before >= 0 else after if after >= 0 else number
    label = own[0]
    if before >= 0 and 0 in filled[before]:
        indented = label.left - filled[before][0].left > 0.6 * height
        if label.text[:1].islower() or indented:
            return before
    if after >= 0 and (0 not in filled[after] or filled[after][0].text[:1].islower()):
        return after
    if before >= 0 and 0 not in filled[before]:
        return before
    return number


def _text_partings(band: list[TextLine], filled: list[Filled], height: float) -> list[float]:
    """Rows of a band without numbers: parted where the space between lines is clearly wider."""
    spaces = [b.top - a.bottom for a, b in pairwise(band)]
    least = min(spaces)
    return [
        (band[i].bottom + band[i + 1].top) / 2
        for i, space in enumerate(spaces)
        if space > least + WIDER * height and 0 in filled[i + 1]
    ]
