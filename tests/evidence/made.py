"""Evidence of small documents, proven for real, with pages drawn to match."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from proving.claims import report_of
from proving.pages import printed
from visualproof_server.evidence.page import PageFacts, review_page
from visualproof_server.model.document import Document, Warning, Word
from visualproof_server.model.geometry import box_of
from visualproof_server.model.report import FieldSpec, Report

INVOICE = [
    "Northgate Kitchen Supply Ltd",
    "Invoice number: INV-2026-0417",
    "",
    "Subtotal      13,350.00",
    "VAT            2,670.00",
    "Total due     16,020.00",
    "",
    "Paid in 30 days, or 30 days",
]
TERMS = ["Terms", "", "Delivery within 14 days", "Deposit: 500.00"]
ANSWER: dict[str, Any] = {
    "vendor": "Northgate Kitchen Supply Ltd",
    "total": 16200,
    "vat": 2670,
    "term": 30,
    "deposit": {"amount": 500, "currency": "CHF"},
}
FIELDS = (
    FieldSpec("/total", "money", labels=("Total due",)),
    FieldSpec("/vat", "money", labels=("VAT",)),
    FieldSpec("/term", "number"),
    FieldSpec("/deposit/amount", "money", labels=("Deposit",)),
    FieldSpec("/deposit/currency", "text"),
)


def invoice() -> tuple[Document, Report]:
    """Two pages with a mismatch, an ambiguous value, one that is nowhere, and true ones."""
    document = printed(INVOICE, TERMS)
    first, second = document.pages
    document = replace(document, pages=(first, replace(second, label="ii")))
    return document, report_of(document, ANSWER, *FIELDS)


def grey(document: Document, ground: int = 255, ink: int = 0) -> Callable[[int], NDArray[Any]]:
    """Pages with a black bar for each word: what is drawn beside them is easily told."""

    def page(number: int) -> NDArray[Any]:
        found = document.page(number)
        assert found is not None
        canvas = np.full((found.height, found.width), ground, np.uint8)
        for word in found.words:
            cv2.fillConvexPoly(
                canvas, np.array(word.quad, np.int32) - [[0, 0], [1, 0], [1, 1], [0, 1]], ink
            )
        return canvas

    return page


def pictures(document: Document) -> dict[int, bytes]:
    """Pages with their words in print, as WebP."""
    font = ImageFont.load_default(18)
    made = {}
    for page in document.pages:
        image = Image.new("L", (page.width, page.height), 255)
        pen = ImageDraw.Draw(image)
        for word in page.words:
            pen.text((word.box.left, word.box.top), word.text, 0, font)
        out = io.BytesIO()
        image.save(out, "WEBP", quality=80)
        made[page.number] = out.getvalue()
    return made


def page_of(document: Document, report: Report, title: str = "invoice.pdf") -> bytes:
    """The page for reviewers."""
    warning = Warning("HIDDEN_TEXT", "Page 2 holds text that it does not show.", 2)
    facts = PageFacts(title, "0.1", "c" * 64, (warning,))
    return review_page(document, report, facts, pictures(document))


def turned(document: Document, slope: float) -> Document:
    """The first page with words along a slope, as a crooked scan has them."""

    def tilt(word: Word) -> Word:
        a, b, c, d = ((x, round(y + slope * x)) for x, y in word.quad)
        return replace(word, quad=(a, b, c, d), box=box_of((a, b, c, d)))

    page = document.pages[0]
    lines = tuple(replace(line, words=tuple(tilt(w) for w in line.words)) for line in page.lines)
    numbered = tuple(
        replace(n, line=line)
        for n, line in zip(
            document.lines, lines + tuple(x.line for x in document.lines[len(lines) :]), strict=True
        )
    )
    return replace(
        document, pages=(replace(page, lines=lines), *document.pages[1:]), lines=numbered
    )
