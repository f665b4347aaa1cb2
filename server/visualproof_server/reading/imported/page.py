"""Pages whose words another reader read: opened, checked, and laid on the document's own pixels."""

import json
import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from lxml import etree

from visualproof_server.model.document import Page, Warning
from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading.imported.content import Content, Reading
from visualproof_server.reading.imported.ethos import EthosReading
from visualproof_server.reading.imported.hocr import HocrReading
from visualproof_server.reading.imported.textract import TextractReading
from visualproof_server.reading.source import (
    ASSUMED_WIDTH_INCHES,
    MIN_SIDE_PX,
    POINTS_PER_INCH,
    PageLimits,
    PagePlan,
)

# What a body raises that is not as its format says.
_MALFORMED = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError,
    etree.LxmlError,
)  # fmt: skip
# A page that exists as a reading only: US letter where it states no size.
NO_SIZE = (8.5, 11.0)
DPI = 200.0


def looks_like_reading(head: bytes) -> bool:
    """Whether the first bytes of a file may be JSON or hOCR; what it really is, opening tells."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start[:1] in (b"{", b"[") or (start[:1] == b"<" and b"html" in head.lower())


def open_reading(path: Path) -> Reading:
    """Textract JSON, hOCR or Ethos grounding JSON; error READING_INVALID."""
    stat = path.stat()
    return _opened(str(path), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=2)
def _opened(path: str, _changed: int, _size: int) -> Reading:
    # Each page opens the same file: the last ones stay parsed.
    data = Path(path).read_bytes()
    try:
        reading = _parsed(data)
    except _MALFORMED:
        reading = None
    if reading is None or not reading.numbers() or reading.numbers()[0] < 1:
        raise VisualProofError(
            "READING_INVALID",
            "The reading is no Textract JSON, hOCR or Ethos grounding JSON with pages.",
        )
    return reading


def _parsed(data: bytes) -> Reading | None:
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        return HocrReading(data)
    body = json.loads(data)
    if isinstance(body, list) or "Blocks" in body:
        return TextractReading(body)
    return EthosReading(body) if "pages" in body else None


def page_count(path: Path) -> int:
    """Pages of a reading without its document."""
    return max(open_reading(path).numbers())


def content_of(path: Path, plan: PagePlan) -> Content:
    """What a reading says of a page of that size; error READING_INVALID."""
    reading = open_reading(path)
    try:
        if plan.number not in reading.numbers():
            raise VisualProofError("READING_INVALID", f"The reading has no page {plan.number}.")
        return reading.content(plan.number, plan.width, plan.height)
    except _MALFORMED:
        raise VisualProofError(
            "READING_INVALID", f"The reading's page {plan.number} is not as its format says."
        ) from None


def plan_sheet(path: Path, number: int, limits: PageLimits) -> PagePlan:
    """Size of a page that exists as a reading only; errors READING_INVALID, PAGE_TOO_LARGE,
    PAGE_TOO_SMALL."""
    reading = open_reading(path)
    if number not in reading.numbers():
        raise VisualProofError("READING_INVALID", f"The reading has no page {number}.")
    try:
        sheet = reading.sheet(number)
    except _MALFORMED:
        raise VisualProofError("READING_INVALID", f"Page {number} has no size.") from None
    if not all(math.isfinite(x) for x in (sheet.width, sheet.height, sheet.dpi)):
        raise VisualProofError("READING_INVALID", f"Page {number} has no finite size.")
    if sheet.width < 1 or sheet.height < 1:
        width, height, dpi = NO_SIZE[0] * DPI, NO_SIZE[1] * DPI, DPI
    elif 0 < sheet.dpi <= POINTS_PER_INCH:
        # Points are too coarse for whole numbers.
        scale = DPI / sheet.dpi
        width, height, dpi = sheet.width * scale, sheet.height * scale, DPI
    else:
        width, height = sheet.width, sheet.height
        dpi = sheet.dpi or width / ASSUMED_WIDTH_INCHES
    if max(width, height) > limits.side or width * height > limits.pixels:
        raise VisualProofError("PAGE_TOO_LARGE", f"Page {number} of the reading is too large.")
    if min(width, height) < MIN_SIDE_PX:
        raise VisualProofError("PAGE_TOO_SMALL", f"Page {number} of the reading is too small.")
    return PagePlan(
        number, str(number), round(width), round(height), width * POINTS_PER_INCH / dpi,
        height * POINTS_PER_INCH / dpi, 0, dpi, (),
    )  # fmt: skip


def without_pixels(page: Page) -> Page:
    """Says what cannot be done with it."""
    note = Warning(
        "NO_PIXELS",
        f"Page {page.number} was imported without its image: there are no pictures, no second"
        " reading of doubtful words, and no check for hidden text.",
        page.number,
    )
    return replace(page, pixels=False, warnings=(*page.warnings, note))
