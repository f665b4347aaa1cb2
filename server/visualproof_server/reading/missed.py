"""Patches of a page read as single lines, and ink that looks like print where nothing was read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.raster import Grey

# Mean confidence from which a patch that was missed is print.
MISSED_TRUST = 0.8

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


def line_pad(box: Box) -> tuple[float, float]:
    """Space that a line's crop needs around it: (left and right, above and below)."""
    pad = max(2.0, (box[3] - box[1]) * 0.15)
    return 2 * pad, pad


def read_patches(
    image: Grey,
    boxes: Sequence[Box],
    engine: OcrEngine,
    languages: tuple[str, ...],
    pad: Callable[[Box], tuple[float, float]] = line_pad,
) -> list[list[EngineWord]]:
    """The words of each box, read as one line, in pixels of the image; as high as the box."""
    height, width = image.shape
    crops, starts = [], []
    for box in boxes:
        left, top, right, bottom = box
        across, down = pad(box)
        start = max(0, int(left - across))
        end = min(width, int(right + across) + 1)
        rows = slice(max(0, int(top - down)), min(height, int(bottom + down) + 1))
        crops.append(np.ascontiguousarray(image[rows, start:end]))
        starts.append(start)
    return [
        [
            replace(w, left=start + w.left, right=start + w.right, top=box[1], bottom=box[3])
            for w in words
        ]
        for box, start, words in zip(
            boxes, starts, engine.read_lines(crops, languages), strict=True
        )
    ]


def read_missed(
    image: Grey,
    boxes: Sequence[Box],
    letters: int,
    engine: OcrEngine,
    languages: tuple[str, ...],
) -> list[EngineWord]:
    """The words of patches that are print: read surely, with so many letters or digits at least."""
    out = []
    for number, words in enumerate(read_patches(image, boxes, engine, languages)):
        sure = sum(w.confidence for w in words) >= MISSED_TRUST * max(1, len(words))
        if sure and sum(c.isalnum() for w in words for c in w.text) >= letters:
            line = -1 - number
            name = engine.name
            out += [replace(w, block=line, line=line, engine=w.engine or name) for w in words]
    return out


def _erase(ink: NDArray[Any], boxes: Sequence[Box]) -> None:
    for left, top, right, bottom in boxes:
        ink[max(0, int(top)) : int(bottom) + 1, max(0, int(left)) : int(right) + 1] = 0
