"""Glyphs that are unlike all others which were read as the same character on their page.

In clean print all 2s of one size are alike. One that is unlike them in a word whose other characters
are like theirs was another sign: a currency read as a digit, an O read as 0. Pages whose print varies
(photographs, faxes, worn type) tell nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

# Likeness of two glyphs: shared ink over all ink, at one size, times how alike their shapes are.
SAME, UNLIKE = 0.85, 0.6
# A page tells something from so many pairs of equal characters on, if most pairs are so alike.
PAIRS, CLEAN = 10, 0.9
# Glyphs of one size differ by no more than this share of their height.
SIZE = 0.12
# Characters of one kind that are compared: enough to find a twin.
MOST = 40
_WIDTH, _HEIGHT = 20, 28


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character as it was read, in which word, and its ink."""

    character: str
    word: int
    height: int
    shape: float
    ink: NDArray[np.bool_]


def glyph(character: str, word: int, ink: NDArray[Any]) -> Glyph:
    """A character's ink, cut at its edges."""
    height, width = ink.shape
    sized = cv2.resize(
        np.where(ink > 0, np.uint8(255), np.uint8(0)),
        (_WIDTH, _HEIGHT),
        interpolation=cv2.INTER_AREA,
    )
    return Glyph(character, word, height, width / max(1, height), sized > 100)


def unlike_words(glyphs: Iterable[Glyph]) -> set[int]:
    """Words with a glyph that is no twin of its likes, though the word's others are of theirs."""
    kinds: dict[str, list[Glyph]] = defaultdict(list)
    for one in glyphs:
        if len(kinds[one.character]) < MOST:
            kinds[one.character].append(one)
    best: list[tuple[Glyph, float]] = []
    pairs: list[float] = []
    for alike in kinds.values():
        for n, one in enumerate(alike):
            found = [
                _likeness(one, other)
                for m, other in enumerate(alike)
                if m != n and abs(one.height - other.height) <= SIZE * max(one.height, other.height)
            ]
            pairs += found
            if found:
                best.append((one, max(found)))
    if len(pairs) < 2 * PAIRS or float(np.median(pairs)) < CLEAN:
        return set()
    told: dict[int, list[float]] = defaultdict(list)
    for one, likeness in best:
        told[one.word].append(likeness)
    return {
        word
        for word, values in told.items()
        if min(values) < UNLIKE and sum(v >= SAME for v in values) >= 2
    }


def _likeness(one: Glyph, other: Glyph) -> float:
    either = max(1, int(np.count_nonzero(one.ink | other.ink)))
    both = int(np.count_nonzero(one.ink & other.ink))
    narrow, wide = sorted((one.shape, other.shape))
    return both / either * narrow / wide
