"""Check boxes: drawn squares beside words, as the words ☐ and ☒.

OCR engines leave boxes out or read them as letters, so they are told from the ink: a frame of the
size of a letter, whole on all four sides, that stands alone beside an option's words. What is drawn
in it, a cross, a tick or all black, ticks it; a digit in it makes it a form's comb.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.model.document import Trust
from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.raster import Grey

EMPTY, TICKED = "☐", "☒"
# Sides of a box, in heights of the page's words.
SIDES = (0.5, 2.0)
# How much of a side is ink within this share of the box.
WHOLE_SIDE, RIM = 0.9, 0.16
# Ink in the middle of a box: under it it is empty, over it ticked, between them nothing is sure.
CLEAN, DRAWN, SOLID = 0.03, 0.07, 0.9
# A page with more squares is no form.
MOST = 500
_BAND = 64
# An option's words are this near, in sides of the box; boxes of a comb are nearer to each other.
NEAR, COMB = 2.0, 0.6


@dataclass(frozen=True, slots=True)
class _Square:
    left: int
    top: int
    side: int
    ink: float


def with_boxes(words: list[EngineWord], image: Grey) -> list[EngineWord]:
    """The words with a mark for each check box, in place of what engines read from its lines."""
    if len(words) < 3:
        return words
    letter = float(np.median([w.bottom - w.top for w in words]))
    squares = _squares(image, letter)
    if len(squares) > MOST:
        return words
    near = _Level(words)
    squares = [s for s in squares if not _holds_print(s, near.of(s))]
    squares = [
        s
        for s in squares
        if not any(_is_comb(s, o) for o in squares) and any(_is_beside(s, w) for w in near.of(s))
    ]
    # A black square is a bullet, but beside boxes of its size.
    hollow = [s.side for s in squares if s.ink < SOLID]
    squares = [
        s for s in squares if s.ink < SOLID or any(abs(s.side - h) <= 0.15 * h for h in hollow)
    ]
    if not squares:
        return words
    made_of = {id(w) for s in squares for w in near.of(s) if _is_box_alone(w, s)}
    kept = [w for w in words if id(w) not in made_of]
    first = 1 + max((w.line for w in words), default=0)
    marks = [_mark(s, first + n) for n, s in enumerate(squares)]
    return [*kept, *marks]


class _Level:
    """Words by bands of the page's height, so that few are looked at for each square."""

    def __init__(self, words: Sequence[EngineWord]) -> None:
        self._bands: dict[int, list[EngineWord]] = {}
        for word in words:
            for band in range(int(word.top) // _BAND, int(word.bottom) // _BAND + 1):
                self._bands.setdefault(band, []).append(word)

    def of(self, square: _Square) -> list[EngineWord]:
        """Words that may touch a square's height."""
        bands = range(square.top // _BAND, (square.top + square.side) // _BAND + 1)
        return list({id(w): w for b in bands for w in self._bands.get(b, ())}.values())


def _squares(image: Grey, letter: float) -> list[_Square]:
    ink = cv2.adaptiveThreshold(
        image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 51, 15
    )
    # Where everything is black there is no edge to see.
    ink = np.where(image < 64, np.uint8(255), ink)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    low, high = SIDES[0] * letter, SIDES[1] * letter
    found = []
    for number in range(1, len(stats)):
        left, top, width, height = (int(v) for v in stats[number][:4])
        side = max(width, height)
        if not (low <= side <= high and side >= 9 and abs(width - height) <= 0.15 * side):
            continue
        own = labels[top : top + height, left : left + width] == number
        if not _has_four_sides(own):
            continue
        down, across = round(0.24 * height), round(0.24 * width)
        inside = ink[top + down : top + height - down, left + across : left + width - across]
        found.append(_Square(left, top, side, float(np.count_nonzero(inside)) / inside.size))
    return found


def _has_four_sides(own: NDArray[Any]) -> bool:
    height, width = own.shape
    down, across = max(2, round(RIM * height)), max(2, round(RIM * width))
    sides = (
        own[:down].any(axis=0),
        own[-down:].any(axis=0),
        own[:, :across].any(axis=1),
        own[:, -across:].any(axis=1),
    )
    return all(float(side.mean()) >= WHOLE_SIDE for side in sides) and all(
        # A straight side is one line, a curve crosses the rim.
        own[row].mean() > 0.6 or own[row + 1].mean() > 0.6
        for row in (0, height - 2)
    )


def _shared(word: EngineWord, square: _Square) -> float:
    across = min(word.right, square.left + square.side) - max(word.left, square.left)
    down = min(word.bottom, square.top + square.side) - max(word.top, square.top)
    return max(0.0, across) * max(0.0, down)


def _holds_print(square: _Square, words: Sequence[EngineWord]) -> bool:
    """Whether digits were read in a square, or it is a character of a script that has such ones."""
    for word in words:
        shared = _shared(word, square)
        area = max(1.0, (word.right - word.left) * (word.bottom - word.top))
        if shared > 0.6 * area and word.text.isdigit():
            return True
        if shared > 0.5 * square.side**2 and any(c > "\u2fff" for c in word.text):
            return word.trust is Trust.AGREED or len(word.text) > 1
    return False


def _is_box_alone(word: EngineWord, square: _Square) -> bool:
    """Whether a word is what an engine made of a box."""
    area = max(1.0, (word.right - word.left) * (word.bottom - word.top))
    return len(word.text) <= 2 and _shared(word, square) > 0.5 * area


def _is_comb(square: _Square, other: _Square) -> bool:
    if other is square or abs(other.top - square.top) > 0.5 * square.side:
        return False
    gap = max(other.left - square.left - square.side, square.left - other.left - other.side)
    return gap < COMB * square.side


def _is_beside(square: _Square, word: EngineWord) -> bool:
    middle = square.top + square.side / 2
    if not word.top <= middle <= word.bottom or not any(c.isalpha() for c in word.text):
        return False
    gap = max(word.left - square.left - square.side, square.left - word.right)
    return -0.2 * square.side <= gap <= NEAR * square.side


def _mark(square: _Square, line: int) -> EngineWord:
    ticked = square.ink >= (CLEAN + DRAWN) / 2
    sure = square.ink <= CLEAN or square.ink >= DRAWN
    mark = EngineWord(
        TICKED if ticked else EMPTY,
        square.left,
        square.top,
        square.left + square.side,
        square.top + square.side,
        0.95,
        0,
        line,
        # No engine can read it again.
        trust=Trust.AGREED,
    )
    return mark if sure else replace(mark, confidence=0.5, trust=Trust.UNCLEAR)
