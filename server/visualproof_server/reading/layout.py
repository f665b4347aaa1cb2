"""Words into lines in reading order."""

import statistics
from itertools import groupby

from visualproof_server.model.document import Line, Word
from visualproof_server.model.geometry import Box, y_overlap
from visualproof_server.reading.cleanup import Cleaned
from visualproof_server.reading.engine import EngineWord

# Box heights, in medians of the page, beyond which a glyph is a rule or a picture.
MAX_HEIGHT_RATIO = 8.0
# Two boxes stand on one line when they share this much of the lower one's height.
SAME_LINE_OVERLAP = 0.5


def drop_noise(words: list[EngineWord], width: int, height: int) -> list[EngineWord]:
    """Leaves out what engines read from rules, specks and pictures."""
    if not words:
        return []
    median = statistics.median(w.bottom - w.top for w in words)
    return [w for w in words if not _is_noise(w, width, height, median)]


def _is_noise(word: EngineWord, width: int, height: int, median: float) -> bool:
    w, h = word.right - word.left, word.bottom - word.top
    if w < 1 or h < 1 or w > 0.98 * width and h > 0.5 * height:
        return True
    letters = sum(c.isalnum() for c in word.text)
    if h > MAX_HEIGHT_RATIO * median and letters <= 2:
        return True
    if letters:
        return False
    # Marks alone: rules read as dashes and bars, specks read as points.
    if set(word.text) <= set("|_—–-~=.,:;'`‘’\"“”·•¦"):
        return word.confidence < 0.6 or w > 12 * h or h > 4 * w
    return word.confidence < 0.3


def to_lines(words: list[EngineWord], cleaned: Cleaned, engine: str) -> tuple[Line, ...]:
    """Lines in reading order, on the page as shown.

    An engine's own lines are kept together. Pieces of one row that an engine reported apart are
    joined within their block, so that a label and the value beside it are one line.
    """
    rows: list[Line] = []
    for _, group in groupby(_by_block(words), key=lambda w: w.block):
        pieces = [list(g) for _, g in groupby(sorted(group, key=_line_key), key=_line_key)]
        rows += [
            Line(tuple(_word(w, cleaned, engine) for w in row), row[0].block)
            for row in _joined(pieces)
        ]
    return tuple(rows)


def _line_key(word: EngineWord) -> int:
    return word.line


def _by_block(words: list[EngineWord]) -> list[EngineWord]:
    order: dict[int, int] = {}
    for word in words:
        order.setdefault(word.block, len(order))
    return sorted(words, key=lambda w: order[w.block])


def _joined(pieces: list[list[EngineWord]]) -> list[list[EngineWord]]:
    """Merges pieces that stand side by side on one row; top to bottom, left to right."""
    rows: list[tuple[Box, list[list[EngineWord]]]] = []
    for piece in sorted(pieces, key=lambda p: (_box(p).middle, _box(p).left)):
        box = _box(piece)
        for index in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            row_box, members = rows[index]
            if _same_row(box, members):
                members.append(piece)
                rows[index] = (_around(row_box, box), members)
                break
        else:
            rows.append((box, [piece]))
    rows.sort(key=lambda r: r[0].middle)
    return [
        [word for piece in sorted(members, key=lambda p: _box(p).left) for word in piece]
        for _, members in rows
    ]


def _same_row(box: Box, members: list[list[EngineWord]]) -> bool:
    """Level with its nearest neighbour of the row, and not on top of any."""
    boxes = [_box(m) for m in members]
    if any(min(b.right, box.right) - max(b.left, box.left) > 0.3 * box.height for b in boxes):
        return False
    nearest = min(boxes, key=lambda b: max(b.left - box.right, box.left - b.right))
    return y_overlap(box, nearest) >= SAME_LINE_OVERLAP * max(
        min(box.height, nearest.height), 0.6 * max(box.height, nearest.height)
    )


def _around(a: Box, b: Box) -> Box:
    return Box(
        min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom)
    )


def _box(words: list[EngineWord]) -> Box:
    return Box(
        round(min(w.left for w in words)),
        round(min(w.top for w in words)),
        round(max(w.right for w in words)),
        round(max(w.bottom for w in words)),
    )


def _word(word: EngineWord, cleaned: Cleaned, engine: str) -> Word:
    quad = cleaned.quad(word.left, word.top, word.right, word.bottom)
    xs, ys = [x for x, _ in quad], [y for _, y in quad]
    box = Box(min(xs), min(ys), max(xs), max(ys))
    return Word(word.text, box, quad, round(word.confidence, 4), engine)
