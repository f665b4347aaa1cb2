"""Which way up the print of a page stands, asked only when a reading is poor."""

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytesseract

from visualproof_server.reading.children import OCR, within
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.source import PagePlan

LIMITS = replace(OCR, wall_s=20, cpu_s=20)
# Tesseract's own measure of how clear the orientation is; right turns were never under 2.
MIN_ORIENTATION_CONFIDENCE = 1.5
_TURNS = {90: cv2.ROTATE_90_CLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_COUNTERCLOCKWISE}


def turn_needed(image: Grey) -> int:
    """Degrees clockwise that make the print upright: 0, 90, 180 or 270; 0 where unclear."""
    with tempfile.TemporaryDirectory(prefix="osd-") as folder:
        path = Path(folder) / "page.png"
        cv2.imwrite(str(path), image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
        try:
            with within(LIMITS):
                text = pytesseract.image_to_osd(str(path), config="--psm 0", timeout=LIMITS.wall_s)
        except (pytesseract.TesseractError, RuntimeError, OSError):
            # Too little print to tell, or no osd data.
            return 0
    turn = re.search(r"Rotate: (\d+)", text)
    clear = re.search(r"Orientation confidence: ([\d.]+)", text)
    if turn is None or clear is None or float(clear[1]) < MIN_ORIENTATION_CONFIDENCE:
        return 0
    return int(turn[1]) if int(turn[1]) in _TURNS else 0


def turned(image: Grey, degrees: int) -> Grey:
    """The image turned clockwise by 90, 180 or 270 degrees."""
    return np.ascontiguousarray(cv2.rotate(image, _TURNS[degrees]))


def turned_plan(plan: PagePlan, degrees: int) -> PagePlan:
    """The plan of a page that was turned clockwise to be upright."""
    swap = degrees != 180
    return replace(
        plan,
        width=plan.height if swap else plan.width,
        height=plan.width if swap else plan.height,
        width_pt=plan.height_pt if swap else plan.width_pt,
        height_pt=plan.width_pt if swap else plan.height_pt,
        rotation=(plan.rotation + degrees) % 360,
        pdf_transform=_turned_transform(plan.pdf_transform, degrees),
    )


def _turned_transform(transform: tuple[float, ...], degrees: int) -> tuple[float, ...]:
    """The same map to points, from fractions of the turned page."""
    if not transform:
        return ()
    a, b, c, d, e, f = transform
    if degrees == 90:  # u = v', v = 1 - u'
        return (-c, -d, a, b, e + c, f + d)
    if degrees == 180:  # u = 1 - u', v = 1 - v'
        return (-a, -b, -c, -d, e + a + c, f + b + d)
    return (c, d, -a, -b, e + a, f + b)  # u = 1 - v', v = u'
