"""Words into lines in reading order."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

from visualproof_server.model.document import Line, Word
from visualproof_server.model.geometry import Box, box_of, y_overlap
from visualproof_server.reading.cleanup import Cleaned
from visualproof_server.reading.engine import EngineWord

_DECIMALS = re.compile(r"[.,]\d{2}")
# Box heights, in medians of the page, beyond which a glyph is a rule or a picture.
MAX_HEIGHT_RATIO = 8.0
# Words of one engine line further apart than this (heights) are pieces of their own.
PIECE_GAP = 2.5
# Rows of prose side by side from which there are columns.
MIN_COLUMN_ROWS = 4
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
    if w < 1 or h < 1 or (w > 0.98 * width and h > 0.5 * height):
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


def to_lines(
    words: list[EngineWord], cleaned: Cleaned, engine: str, areas: Sequence[Box] = ()
) -> tuple[tuple[Line, ...], list[tuple[int, int]]]:
    """Lines in reading order, on the page as shown; and (area, lines before it) in that order.

    An engine's lines are cut at wide gaps. Columns of prose are read one after the other; what
    else stands side by side is one line, so that a label and the value beside it stay together.
    Areas (of tables, in pixels of the cleaned image) take part in the order as blocks.
    """
    by_line: dict[int, list[EngineWord]] = {}
    for word in words:
        by_line.setdefault(word.line, []).append(word)
    pieces = [piece for line in by_line.values() for piece in _cut(line)]
    blocks = [
        EngineWord("", a.left, a.top, a.right, a.bottom, 1.0, 0, number)
        for number, a in enumerate(areas)
    ]
    rows = _ordered([*pieces, *([block] for block in blocks)])
    lines: list[Line] = []
    before: list[tuple[int, int]] = []
    for row in rows:
        before += [(w.line, len(lines)) for w in row if not w.text]
        printed = [w for w in row if w.text]
        if printed:
            made = tuple(to_word(w, cleaned, engine) for w in mended(printed))
            lines.append(Line(made, len(lines)))
    return tuple(lines), before


def mended(row: list[EngineWord]) -> list[EngineWord]:
    """Joins what an engine split at a decimal mark: nothing else begins with a mark and digits."""
    out: list[EngineWord] = []
    for word in row:
        last = out[-1] if out else None
        gap = (word.left - last.right) / max(1.0, word.bottom - word.top) if last else 0.0
        if last is not None and last.text[-1].isdigit() and gap < 1.0:
            if _DECIMALS.fullmatch(word.text):
                out[-1] = replace(
                    last,
                    text=last.text + word.text,
                    right=max(last.right, word.right),
                    top=min(last.top, word.top),
                    bottom=max(last.bottom, word.bottom),
                    confidence=min(last.confidence, word.confidence),
                    trust=max(last.trust, word.trust),
                )
                continue
        out.append(word)
    return out


def _cut(line: list[EngineWord]) -> list[list[EngineWord]]:
    """Pieces of an engine's line between wide gaps."""
    ordered = sorted(line, key=lambda w: w.left)
    height = statistics.median(w.bottom - w.top for w in ordered)
    pieces = [[ordered[0]]]
    for word in ordered[1:]:
        if word.left - pieces[-1][-1].right > PIECE_GAP * height:
            pieces.append([word])
        else:
            pieces[-1].append(word)
    return pieces


def _ordered(pieces: list[list[EngineWord]], depth: int = 0) -> list[list[EngineWord]]:
    """Rows of words; prose columns left to right, within the band that they share."""
    gutter = _gutter(pieces) if depth < 6 else None
    if gutter is None:
        return _joined(pieces)
    x, top, bottom = gutter
    parts: tuple[list[list[EngineWord]], ...] = ([], [], [], [])
    for piece in pieces:
        box = _box(piece)
        if box.middle < top:
            parts[0].append(piece)
        elif box.middle > bottom:
            parts[3].append(piece)
        else:
            parts[1 if box.right <= x else 2].append(piece)
    if not parts[1] or not parts[2]:
        return _joined(pieces)
    return [row for part in parts for row in _ordered(part, depth + 1)]


def _gutter(pieces: list[list[EngineWord]]) -> tuple[float, float, float] | None:
    """(x, top, bottom) of the clearest gap between two columns of prose, None if there is none."""
    boxes = [_box(p) for p in pieces]
    prose = sorted((boxes[i] for i, p in enumerate(pieces) if _is_prose(p)), key=lambda b: b.top)
    gaps: list[tuple[int, int, int, int]] = []
    for number, left in enumerate(prose):
        for right in prose[max(0, number - 6) : number + 7]:
            beside = y_overlap(left, right) > 0.3 * min(left.height, right.height)
            if beside and left.right < right.left:
                top, bottom = min(left.top, right.top), max(left.bottom, right.bottom)
                gaps.append((left.right, right.left, top, bottom))
    best: list[tuple[int, int, int, int]] = []
    for left_edge, right_edge, _, _ in gaps:
        x = (left_edge + right_edge) / 2
        through = [g for g in gaps if g[0] <= x <= g[1]]
        if len(through) > len(best):
            best = through
    if len(best) < MIN_COLUMN_ROWS:
        return None
    x = (max(g[0] for g in best) + min(g[1] for g in best)) / 2
    if not all(g[0] <= x <= g[1] for g in best):
        x = statistics.median((g[0] + g[1]) / 2 for g in best)
    # The band reaches to what stands across the gap.
    across = [b for b in boxes if b.left < x < b.right]
    middle = statistics.median((g[2] + g[3]) / 2 for g in best)
    top = max((b.bottom for b in across if b.middle < middle), default=0)
    bottom = min((b.top for b in across if b.middle > middle), default=10**6)
    inside = [g for g in best if top - 2 <= (g[2] + g[3]) / 2 <= bottom + 2]
    if len(inside) < MIN_COLUMN_ROWS:
        return None
    return x, top, bottom


def _is_prose(piece: list[EngineWord]) -> bool:
    letters = sum(w.text.strip(".,;:()'\"-").isalpha() for w in piece)
    return len(piece) >= 4 and letters >= 0.6 * len(piece)


def _joined(pieces: list[list[EngineWord]]) -> list[list[EngineWord]]:
    """Merges pieces that stand side by side on one row; top to bottom, left to right."""
    rows: list[tuple[Box, list[list[EngineWord]]]] = []
    for piece in sorted(pieces, key=lambda p: (_box(p).middle, _box(p).left)):
        box = _box(piece)
        for index in range(len(rows) - 1, max(-1, len(rows) - 9), -1):
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


def to_word(word: EngineWord, cleaned: Cleaned, engine: str) -> Word:
    """A word on the page as shown."""
    quad = cleaned.quad(word.left, word.top, word.right, word.bottom)
    return Word(
        word.text,
        box_of(quad),
        quad,
        round(word.confidence, 4),
        word.engine or engine,
        word.trust,
    )
