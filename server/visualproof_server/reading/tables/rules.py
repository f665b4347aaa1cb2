"""Ruled lines of a page."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.raster import Grey

# A rule is at least this many text heights long, and this much thinner than text.
MIN_LENGTH = 2.0
MAX_THICKNESS = 0.5
# Grey levels between a rule and the paper around it.
MIN_CONTRAST = 16
# Text height in pixels at which rules are still found well: larger pages are halved.
SMALL_TEXT = 11.0
# Share of a rule that may lie inside of words
# (engines read two rows of a narrow table as one word, two columns hardly ever).
MAX_STRIKE_LEVEL, MAX_STRIKE_UPRIGHT = 0.6, 0.3


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line: its place across (`at`), and from where to where it runs, in pixels."""

    at: float
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def covers(self, start: float, end: float) -> float:
        """Share of [start, end) along which the rule is drawn."""
        return max(0.0, min(self.end, end) - max(self.start, start)) / max(1.0, end - start)


@dataclass(frozen=True, slots=True)
class Rules:
    """Level rules by their y, upright rules by their x."""

    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def find_rules(image: Grey, text_height: float) -> Rules:
    """Rules of a deskewed page, also grey ones and edges of shaded rows.

    Opening by long thin kernels leaves what is straight: the common way since Breuel's and
    Gatos' ruling line detectors; strokes of letters are shorter than the kernels.
    """
    if text_height >= 2 * SMALL_TEXT:
        half = cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        found = find_rules(half, text_height / 2)
        return Rules(
            tuple(Rule(2 * r.at, 2 * r.start, 2 * r.end) for r in found.level),
            tuple(Rule(2 * r.at, 2 * r.start, 2 * r.end) for r in found.upright),
        )
    thin = max(5, round(2 * MAX_THICKNESS * text_height) | 1)
    edges = cv2.adaptiveThreshold(
        image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 2 * thin + 1, 8
    )
    turned, turned_edges = np.ascontiguousarray(image.T), np.ascontiguousarray(edges.T)
    level = _straight(_thin(image, thin), text_height) + _straight(edges, text_height)
    upright = _straight(_thin(turned, thin), text_height) + _straight(turned_edges, text_height)
    rows, columns = image.shape
    return Rules(
        tuple(r for r in _joined(level, text_height) if _inside(r, rows, text_height)),
        tuple(r for r in _joined(upright, text_height) if _inside(r, columns, text_height)),
    )


def _inside(rule: Rule, side: int, text_height: float) -> bool:
    """Not the edge of the paper on the scanner's bed."""
    return text_height < rule.at < side - text_height


def without_strikes(rules: Rules, words: list[EngineWord]) -> Rules:
    """Without what runs through words: streaks, folds, strokes of a pen, crossed-out text."""
    across = [(w.left, w.right, w.top, w.bottom) for w in words]
    along = [(w.top, w.bottom, w.left, w.right) for w in words]
    return Rules(
        tuple(r for r in rules.level if not _strikes(r, across, MAX_STRIKE_LEVEL)),
        tuple(r for r in rules.upright if not _strikes(r, along, MAX_STRIKE_UPRIGHT)),
    )


def _strikes(rule: Rule, words: list[tuple[float, float, float, float]], most: float) -> bool:
    """Whether a good part of a rule lies inside of words, given as (start, end, low, high)."""
    inside = 0.0
    for start, end, low, high in words:
        margin = 0.2 * (high - low)
        if low + margin < rule.at < high - margin:
            inside += max(0.0, min(end, rule.end) - max(start, rule.start))
    return inside > most * rule.length


def _thin(image: NDArray[Any], thickness: int) -> NDArray[Any]:
    """What is darker than its surroundings above and below, and no thicker than given."""
    hat = cv2.morphologyEx(image, cv2.MORPH_BLACKHAT, np.ones((thickness, 1), np.uint8))
    return cv2.threshold(hat, MIN_CONTRAST, 255, cv2.THRESH_BINARY)[1]


def _straight(ink: NDArray[Any], text_height: float) -> list[Rule]:
    """Level rules in an image of ink, joined where they run on."""
    kernel = max(20, round(1.4 * text_height))
    lines = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, kernel), np.uint8))
    # Thick pieces are blocks, whatever rule they touch.
    thick = max(4, round(MAX_THICKNESS * text_height) + 1)
    blocks = cv2.morphologyEx(lines, cv2.MORPH_OPEN, np.ones((thick, thick), np.uint8))
    lines = cv2.subtract(lines, blocks)
    gap = max(3, round(0.4 * text_height))
    lines = cv2.morphologyEx(lines, cv2.MORPH_CLOSE, np.ones((3, gap), np.uint8))
    # Contours: on a page with few lines a quarter of the cost of labelling its components.
    contours, _ = cv2.findContours(lines, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour in contours:
        left, top, width, height = cv2.boundingRect(contour)
        if width < MIN_LENGTH * text_height or height > text_height:
            continue
        # A tilted rule is high, but thin.
        area = cv2.countNonZero(lines[top : top + height, left : left + width])
        if area / width <= MAX_THICKNESS * text_height:
            found.append(Rule(top + (height - 1) / 2, left, left + width))
    return found


def _joined(rules: list[Rule], text_height: float) -> list[Rule]:
    """Pieces of one rule, and both edges of a thick or double one, as one."""
    out: list[Rule] = []
    for rule in sorted(rules, key=lambda r: (r.at, r.start)):
        near = (i for i in range(len(out) - 1, -1, -1) if _is_one(out[i], rule, text_height))
        index = next(near, None)
        if index is None:
            out.append(rule)
            continue
        other = out[index]
        longer = rule if rule.length > other.length else other
        out[index] = Rule(longer.at, min(rule.start, other.start), max(rule.end, other.end))
    return out


def _is_one(a: Rule, b: Rule, text_height: float) -> bool:
    reach = 0.6 * text_height
    return (
        abs(a.at - b.at) <= 0.35 * text_height
        and a.start <= b.end + reach
        and b.start <= a.end + reach
    )
