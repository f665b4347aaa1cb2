"""Frames around printed words: along the line they stand on, told apart by colour and style."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.evidence.presentation import COLOURS, ON_DARK
from visualproof_server.model.geometry import Quad, box_of, clipped, grown
from visualproof_server.model.report import Action

# Grey level of the ground under which lighter colours are seen better.
_DARK = 100


def with_air(quad: Quad) -> Quad:
    """A little air around the print, less where print is small; corners are whole pixels, so that
    a tilted one may be off by one."""
    tilted = quad[0][1] != quad[1][1]
    return grown(quad, max(1, min(3, round(box_of(quad).height / 10))) + tilted)


def draw_frame(canvas: NDArray[Any], quad: Quad, action: Action) -> None:
    """Solid for release, dashed for review, double for block; on a BGR image."""
    red, green, blue = (ON_DARK if _is_dark(canvas, quad) else COLOURS)[action]
    colour = (blue, green, red)
    # Thin enough for the print: the next line may be a stroke away.
    thick = max(1, min(round(max(canvas.shape[:2]) / 900), round(box_of(quad).height / 14)))
    if action is Action.REVIEW:
        for start, end in zip(quad, (*quad[1:], quad[0]), strict=True):
            _dashed(canvas, start, end, colour, thick)
        return
    _outline(canvas, quad, colour, thick)
    if action is Action.BLOCK:
        _outline(canvas, grown(quad, 2 * thick), colour, max(1, thick // 2))


def _outline(canvas: NDArray[Any], quad: Quad, colour: tuple[int, int, int], thick: int) -> None:
    # Smoothing would blur frames that stand upright.
    upright = quad[0][1] == quad[1][1]
    kind = cv2.LINE_8 if upright else cv2.LINE_AA
    cv2.polylines(canvas, [np.array(quad, np.int32)], True, colour, thick, kind)


def _dashed(
    canvas: NDArray[Any],
    start: tuple[int, int],
    end: tuple[int, int],
    colour: tuple[int, int, int],
    thick: int,
) -> None:
    along = np.array(end, float) - start
    length = float(np.hypot(*along))
    dash = 5 * thick
    for at in range(0, round(length), 2 * dash):
        a = start + along * (at / length)
        b = start + along * (min(at + dash, length) / length)
        cv2.line(canvas, _point(a), _point(b), colour, thick)


def _point(at: NDArray[Any]) -> tuple[int, int]:
    return round(float(at[0])), round(float(at[1]))


def _is_dark(canvas: NDArray[Any], quad: Quad) -> bool:
    """Whether the ground is dark where the frame is drawn: the print within says nothing of it."""
    box = clipped(box_of(quad), canvas.shape[1] - 1, canvas.shape[0] - 1)
    across, down = slice(box.left, box.right + 1), slice(box.top, box.bottom + 1)
    edges = (
        canvas[box.top, across], canvas[box.bottom, across],
        canvas[down, box.left], canvas[down, box.right],
    )  # fmt: skip
    return float(np.median(np.concatenate(edges))) < _DARK
