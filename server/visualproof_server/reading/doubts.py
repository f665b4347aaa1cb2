"""Print that can be meant in two ways, told from its ink alone.

An engine reads raised cents as plain digits, of 19.93 in a shadow `19` and `93`, and what is struck
out as if it were not, each with full confidence and at every size. So no second reading settles
such words.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.model.document import Page, Trust, Word
from visualproof_server.model.geometry import Box, quad_of, union
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.unlike import glyph, unlike_words

# A glyph is raised if it is so low (in heights of the word's tallest one), and ends so far above
# the others; digits of old-style fonts that hang below the line are at most 1.4 times as high.
RAISED_HEIGHT = (0.3, 0.66)
RAISED_BY = 0.3
# What engines read of a per mille sign.
_PER_MILLE = re.compile(r"%[oO0]")
# A sign after a decimal mark was a digit.
_SIGN_FOR_DIGIT = re.compile(r"\d[.,][€£¥$§&@]\d")
# Characters that stand high by themselves.
_HIGH = frozenset("'’‘`´\"”“*°º^¹²³⁰⁴⁵⁶⁷⁸⁹ª%‰~-–—=+(){}[]|/\\")
# Marks that are lower than any raised digit.
_LOW = frozenset(".,:;-–—_'’‘`´")
# Heights and distance (in heights of the word) of unread ink that may be a digit or a mark of it.
GLYPH = (0.7, 1.3)
GLYPH_WIDTH = (0.1, 1.2)
# How far off: before a number a point may be lost too.
GLYPH_BEFORE, GLYPH_AFTER = 1.4, 0.5
# The same of a point between two numbers.
POINT = (0.08, 0.35)
POINT_BESIDE = 0.7
# A rule has ink over so much of the height, in the middle of the gap (an engine's boxes of digits may
# be too narrow); and the digits of a form's boxes are at most so far apart, in heights of the word.
RULE_INK, RULE_EDGE = 0.9, 0.2
RULE_GAP = 2.5
# A stroke through a word: where its middle lies (shares of the word's height), over how much of the
# width it runs, how thick it may be, and how far it stands out on both sides: bars of small letters
# run into each other too.
STRIKE_LEVEL = (0.35, 0.75)
STRIKE_WIDTH, STRIKE_THICK = 0.99, 0.25
# Scripts whose letters no line joins: a word of others has ink all along.
_APART = ("LATIN", "DIGIT", "GREEK", "CYRILLIC")


def doubted(page: Page, image: Grey) -> Page:
    """The page with Trust.UNCLEAR on words whose print can be meant in two ways.

    Boxes of numbers that are too narrow for their own glyphs are made wider.
    """
    rows = [line.words for line in page.lines]
    rows += [cell.words for table in page.tables for cell in table.cells]
    if not page.words:
        return page
    ink = _Ink(image, page.words)
    changed = {id(w): wide for row in rows for w in row if (wide := _widened(w, ink)) is not w}
    for row in rows:
        for word in _unclear(row, ink):
            changed[id(word)] = replace(changed.get(id(word), word), trust=Trust.UNCLEAR)
    for word in _unlike(page.words, ink):
        changed[id(word)] = replace(changed.get(id(word), word), trust=Trust.UNCLEAR)
    if not changed:
        return page

    def marked(words: tuple[Word, ...]) -> tuple[Word, ...]:
        return tuple(changed.get(id(w), w) for w in words)

    return replace(
        page,
        lines=tuple(replace(line, words=marked(line.words)) for line in page.lines),
        tables=tuple(
            replace(table, cells=tuple(replace(c, words=marked(c.words)) for c in table.cells))
            for table in page.tables
        ),
    )


def _unclear(row: tuple[Word, ...], ink: "_Ink") -> Iterator[Word]:
    for word in row:
        misread = _PER_MILLE.search(word.text) or _SIGN_FOR_DIGIT.search(word.text)
        if misread or (_is_apart(word) and ink.is_struck(word)):
            yield word
        if _has_digit(word) and (_has_raised(word, ink) or len(ink.glyphs_beside(word)[1])):
            yield word
    for left, right in pairwise(row):
        if not left.text[-1:].isdigit() or not right.text[:1].isdigit():
            continue
        single = len(left.text) == 1 or len(right.text) == 1
        if ink.has_point(left, right) or (single and ink.has_rule(left, right)):
            yield left
            yield right


def _unlike(words: Sequence[Word], ink: "_Ink") -> Iterator[Word]:
    """Codes and numbers with a glyph that is unlike all that were read as the same character."""
    codes = [w for w in words if _has_digit(w) or (w.text.isupper() and len(w.text) > 3)]
    glyphs = [
        glyph(character, number, ink.cut(box))
        for number, word in enumerate(codes)
        for character, box in ink.told(word)
    ]
    for number in unlike_words(glyphs):
        yield codes[number]


def _has_digit(word: Word) -> bool:
    return any(c.isdigit() for c in word.text)


def _is_apart(word: Word) -> bool:
    """Whether a word has letters or digits of its own width, two at least."""
    letters = [c for c in word.text if c.isalnum()]
    return len(letters) > 1 and all(unicodedata.name(c, "").startswith(_APART) for c in letters)


def _widened(word: Word, ink: "_Ink") -> Word:
    """A number with the glyphs of its own that its box leaves out, if it stands upright."""
    if not _has_digit(word) or word.quad != quad_of(word.box):
        return word
    own, _ = ink.glyphs_beside(word)
    if not len(own):
        return word
    box = union([word.box, *(Box(*glyph) for glyph in own.tolist())])
    return replace(word, box=box, quad=quad_of(box))


def _has_raised(word: Word, ink: "_Ink") -> bool:
    """Whether more glyphs stand high and small than the characters that were read explain."""
    if not sum(c.isdigit() for c in word.text) > 1:
        return False
    glyphs = ink.glyphs(word)
    if len(glyphs) < 2:
        return False
    height = float((glyphs[:, 3] - glyphs[:, 1]).max())
    full = glyphs[(glyphs[:, 3] - glyphs[:, 1]) > 0.8 * height]
    base, top = float(np.median(full[:, 3])), float(np.median(full[:, 1]))
    high = (
        (glyphs[:, 3] - glyphs[:, 1] <= RAISED_HEIGHT[1] * height)
        & (base - glyphs[:, 3] >= RAISED_BY * height)
        & (glyphs[:, 1] - top <= RAISED_BY * height)
        & (glyphs[:, 2] - glyphs[:, 0] >= 0.1 * height)
    )
    raised = int(high.sum())
    # Broken or joined glyphs say nothing; raised ones stand at the end.
    told = len(glyphs) == sum(c not in _LOW for c in word.text)
    return told and bool(high[-raised:].all()) and raised > sum(c in _HIGH for c in word.text)


class _Pieces:
    """Connected pieces of ink by their boxes: N x 4 of left, top, right, bottom."""

    def __init__(self, boxes: NDArray[Any]) -> None:
        self._boxes = boxes[np.argsort(boxes[:, 1], kind="stable")]

    def at(self, left: float, top: float, right: float, bottom: float) -> NDArray[Any]:
        """Pieces that touch an area and are not far higher than it."""
        tops = self._boxes[:, 1]
        start, end = np.searchsorted(tops, (top - 2 * (bottom - top), bottom))
        near = self._boxes[start:end]
        touch = (near[:, 0] < right) & (near[:, 2] > left) & (near[:, 3] > top)
        found: NDArray[Any] = near[touch]
        return found


class _Ink:
    """The ink of a page: all of it, and what belongs to no word."""

    def __init__(self, image: Grey, words: tuple[Word, ...]) -> None:
        self._ink = cv2.adaptiveThreshold(
            image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 20
        )
        _, _, stats, _ = cv2.connectedComponentsWithStats(self._ink, connectivity=8)
        x, y, w, h = (stats[1:, n] for n in range(4))
        boxes = np.stack([x, y, x + w, y + h], axis=1)
        self._all = _Pieces(boxes)
        self._unread = _Pieces(boxes[~self._is_read(boxes, words)])

    def _is_read(self, boxes: NDArray[Any], words: tuple[Word, ...]) -> NDArray[np.bool_]:
        """Which boxes touch words."""
        mask = np.zeros(self._ink.shape, np.uint8)
        for word in words:
            b = word.box
            mask[max(0, b.top) : b.bottom, max(0, b.left) : b.right] = 1
        sums = cv2.integral(mask)
        left, top, right, bottom = boxes.T
        covered = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        result: NDArray[np.bool_] = covered > 0
        return result

    def glyphs(self, word: Word) -> NDArray[Any]:
        """Letters and digits of a word, without low marks; pieces over each other are one glyph."""
        b = word.box
        pieces = self._all.at(b.left, b.top, b.right, b.bottom)
        middle, level = (pieces[:, 0] + pieces[:, 2]) / 2, (pieces[:, 1] + pieces[:, 3]) / 2
        inside = (middle > b.left) & (middle < b.right) & (level > b.top) & (level < b.bottom)
        pieces = pieces[inside]
        pieces = pieces[np.argsort(pieces[:, 0])]
        out: list[list[int]] = []
        for left, top, right, bottom in pieces.tolist():
            if out and left < out[-1][2] - 0.3 * min(right - left, out[-1][2] - out[-1][0]):
                last = out[-1]
                last[1], last[3] = min(last[1], top), max(last[3], bottom)
                last[2] = max(last[2], right)
            else:
                out.append([left, top, right, bottom])
        glyphs = np.array(out).reshape(-1, 4)
        high = glyphs[:, 3] - glyphs[:, 1]
        found: NDArray[Any] = glyphs[high > RAISED_HEIGHT[0] * high.max(initial=0)]
        return found

    def told(self, word: Word) -> list[tuple[str, tuple[int, int, int, int]]]:
        """Letters and digits of a word with the box of each; none where these do not match."""
        found = self.glyphs(word).tolist()
        read = [c for c in word.text if c not in _LOW]
        if len(found) != len(read):
            return []
        return [(c, tuple(b)) for c, b in zip(read, found, strict=True) if c.isalnum()]

    def cut(self, box: tuple[int, int, int, int]) -> NDArray[Any]:
        left, top, right, bottom = box
        return self._ink[top:bottom, left:right]

    def glyphs_beside(self, word: Word) -> tuple[NDArray[Any], NDArray[Any]]:
        """Ink beside a number that may be digits and stands in no word's box: (what the number has
        read but its box leaves out, what was read as nothing)."""
        b = word.box
        left, right = b.left - GLYPH_BEFORE * b.height, b.right + GLYPH_AFTER * b.height
        near = self._unread.at(left, b.top, right, b.bottom)
        high, wide = near[:, 3] - near[:, 1], near[:, 2] - near[:, 0]
        level = (near[:, 1] + near[:, 3]) / 2
        near = near[
            (high > GLYPH[0] * b.height)
            & (high < GLYPH[1] * b.height)
            & (wide > GLYPH_WIDTH[0] * b.height)
            & (wide < GLYPH_WIDTH[1] * b.height)
            & (np.abs(level - b.middle) < 0.35 * b.height)
        ]
        if not len(near):
            return near, near
        apart = np.maximum(b.left - near[:, 2], near[:, 0] - b.right)
        near, apart = near[np.argsort(apart, kind="stable")], np.sort(apart)
        outside = sum(c not in _LOW for c in word.text) - len(self.glyphs(word))
        own = min(max(0, outside), int((apart < GLYPH_AFTER * b.height).sum()))
        return near[:own], near[own:]

    def has_point(self, left: Word, right: Word) -> bool:
        """Whether a point that was not read stands between two numbers: 19.93 as `19` and `93`."""
        a, b = left.box, right.box
        height, line = min(a.height, b.height), max(a.bottom, b.bottom)
        beside = POINT_BESIDE * height
        if not 0 < b.left - a.right < 2 * beside:
            return False
        near = self._all.at(a.right, line - 0.5 * height, b.left, line + 0.2 * height)
        high, wide = near[:, 3] - near[:, 1], near[:, 2] - near[:, 0]
        point = (
            (high > POINT[0] * height)
            & (high < POINT[1] * height)
            & (wide > POINT[0] * height)
            & (wide < POINT[1] * height)
            & (np.abs(near[:, 3] - line) < 0.15 * height)
            & (near[:, 0] > a.right - 0.1 * height)
            & (near[:, 0] < a.right + beside)
            & (near[:, 2] < b.left + 0.1 * height)
            & (near[:, 2] > b.left - beside)
        )
        return bool(point.any())

    def has_rule(self, left: Word, right: Word) -> bool:
        """Whether an upright rule parts two words that stand close."""
        a, b = left.box, right.box
        height = min(a.height, b.height)
        if b.left - a.right > RULE_GAP * height or b.left <= a.right:
            return False
        edge = round(RULE_EDGE * (b.left - a.right))
        gap = self._ink[max(0, a.top) : a.bottom, a.right + edge : b.left - edge]
        return gap.size > 0 and bool((gap > 0).mean(axis=0).max() > RULE_INK)

    def is_struck(self, word: Word) -> bool:
        """Whether a level stroke runs through a word, from its first letter to its last."""
        # Boxes of some engines are wide: a stroke ends within them.
        b = self._tight(word.box)
        if b.height < 6 or b.width < b.height:
            return False
        top, bottom = (b.top + round(share * b.height) for share in STRIKE_LEVEL)
        ink = self._ink[top:bottom, b.left : b.right] > 0
        if not ink.size:
            return False
        # A stroke that leans by a pixel is in two rows.
        two = ink[1:] | ink[:-1]
        full = two.mean(axis=1) > STRIKE_WIDTH
        return bool(full.any()) and int(full.sum()) <= 1 + STRIKE_THICK * b.height

    def _tight(self, box: Box) -> Box:
        """A box without the white at its edges."""
        ink = self._ink[box.top : box.bottom, box.left : box.right] > 0
        rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
        if not len(rows):
            return box
        return Box(
            box.left + int(columns[0]),
            box.top + int(rows[0]),
            box.left + int(columns[-1]) + 1,
            box.top + int(rows[-1]) + 1,
        )
