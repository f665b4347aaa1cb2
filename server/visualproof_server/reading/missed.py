"""Ink that looks like print where an engine read nothing."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.raster import Grey

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


def missed_boxes(
    image: Grey,
    words: list[EngineWord],
    narrowest: float = 1.2,
    rules: Sequence[Box] = (),
) -> list[Box]:
    """Boxes (left, top, right, bottom) of ink that has the height of the page's letters and lies
    outside all words, wider than `narrowest` letters are high.

    rules (boxes likewise) are no ink, and nothing runs over them.
    """
    if len(words) < 5:
        letter = 20.0
    else:
        letter = float(np.median([w.bottom - w.top for w in words]))
    ink = cv2.adaptiveThreshold(
        image, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 20
    )
    for word in words:
        pad = letter * 0.2
        top, bottom = max(0, int(word.top - pad)), int(word.bottom + pad) + 1
        left, right = max(0, int(word.left - pad)), int(word.right + pad) + 1
        ink[top:bottom, left:right] = 0
    _erase(ink, rules)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    heights, widths = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH]
    letters = (heights > 0.35 * letter) & (heights < 2.0 * letter) & (widths < 6 * letter)
    letters[0] = False
    marks = np.where(letters[labels], np.uint8(255), np.uint8(0))
    reach = max(3, int(letter * 0.9))
    runs = cv2.morphologyEx(marks, cv2.MORPH_CLOSE, np.ones((1, reach), np.uint8))
    _erase(runs, rules)
    contours, _ = cv2.findContours(runs, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    out = []
    for contour in contours:
        left, top, width, height = cv2.boundingRect(contour)
        if not (0.5 * letter < height < 2.5 * letter and width > narrowest * letter):
            continue
        area = cv2.countNonZero(runs[top : top + height, left : left + width])
        if area > 0.25 * width * height:
            out.append((float(left), float(top), float(left + width), float(top + height)))
    return sorted(out, key=lambda b: (b[1], b[0]))


def _erase(ink: NDArray[Any], boxes: Sequence[Box]) -> None:
    for left, top, right, bottom in boxes:
        ink[max(0, int(top)) : int(bottom) + 1, max(0, int(left)) : int(right) + 1] = 0
