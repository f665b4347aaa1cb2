"""Words of a PDF's text layer that put ink on the page: what `text_layer=VISIBLE` reads.

The page is drawn twice by pdfium, as it is and with all its text invisible. Where the two differ
is the text's ink. A word counts if each of its letters and digits fills its own place with such
ink and no other word claims that place. What it says is still only the file's word for it: a value
that it proves is read again from its pixels (proving/second_reading.py).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from visualproof_server.model.document import Trust
from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.missed import missed_boxes, read_missed
from visualproof_server.reading.raster import Grey, drawn
from visualproof_server.reading.source import PagePlan, open_pdf
from visualproof_server.reading.textlayer import LayerWord, around, as_words, characters, word_spans

# Name of the reader, as engines have one.
NAME = "text_layer"
# Grey levels that make a difference: what a person sees on paper.
MIN_DIFFERENCE = 25
# Strip along each side of a glyph's box, as a share of it, that its ink must reach into.
EDGE = 0.3
# Height in pixels under which nobody reads a letter.
MIN_HEIGHT = 3
# Share of a word that may lie under another word that says something else.
MAX_SHARED = 0.2
# Patches of other ink up to which they are read as lines, not as a page.
MAX_PATCHES = 40
FEW_WORDS = 20
# Lines that one page's layer may have.
LAYER_LINES = 10**9
# pdfium's stand-ins for a hyphen that ends a line.
_LINE_ENDS = "\n\ufffe\x02"
_HYPHENS = str.maketrans({"\ufffe": "-", "\x02": "-", "\xad": "-"})


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A page as drawn, the words proven on it, and what is left when those are taken out."""

    image: Grey
    words: list[EngineWord]
    rest: Grey
    layer: list[LayerWord]


def visible_text(path: Path, plan: PagePlan, password: str) -> VisibleText:
    """Draws a page and proves its text; error RASTER_FAILED.

    No words where pdfium cannot tell its characters and boxes apart.
    """
    with open_pdf(path, password) as pdf:
        try:
            pdf.init_forms()
            page = pdf[plan.number - 1]
            text, boxes = characters(page, plan)
            image = drawn(page, plan)
            _hide(page)
            without = drawn(page, plan)
        except (pypdfium2.PdfiumError, MemoryError, ValueError):
            raise VisualProofError(
                "RASTER_FAILED", f"Page {plan.number} cannot be drawn."
            ) from None
    ink = np.abs(image.astype(np.int16) - without) >= MIN_DIFFERENCE
    words = _proven(text, boxes, ink)
    mask = np.zeros(image.shape, np.bool_)
    for word in words:
        mask[
            max(0, int(word.top) - 2) : int(word.bottom) + 3,
            max(0, int(word.left) - 2) : int(word.right) + 3,
        ] = True
    rest = np.where(mask, without, image)
    return VisibleText(image, words, rest, as_words(text, boxes))


def read_rest(
    seen: VisibleText, languages: tuple[str, ...], dpi: int, engine: OcrEngine
) -> list[EngineWord]:
    """What is printed, but not by proven text: pictures, forms, fonts without letters."""
    if int(seen.rest.max()) - int(seen.rest.min()) < MIN_DIFFERENCE:
        return []
    # Few words do not say how high the page's letters are.
    few = len(seen.words) < FEW_WORDS
    boxes = [] if few else missed_boxes(seen.rest, seen.words)
    if few or len(boxes) > MAX_PATCHES:
        return engine.read(seen.rest, languages, dpi)
    return read_missed(seen.rest, boxes, 1, engine, languages)


def _hide(page: pypdfium2.PdfPage) -> None:
    """Makes all text invisible, also that of forms within forms; the file is not touched."""
    pending = [
        pdfium.FPDFPage_GetObject(page, n) for n in range(pdfium.FPDFPage_CountObjects(page))
    ]
    while pending:
        found = pending.pop()
        kind = pdfium.FPDFPageObj_GetType(found)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            pdfium.FPDFTextObj_SetTextRenderMode(found, pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            count = pdfium.FPDFFormObj_CountObjects(found)
            pending += [pdfium.FPDFFormObj_GetObject(found, n) for n in range(count)]


def _proven(text: str, boxes: NDArray[Any], ink: NDArray[np.bool_]) -> list[EngineWord]:
    """Words whose glyphs are inked and whose place is theirs alone."""
    inked = _inked(text, boxes, ink)
    # Engines number their lines too: those of the layer lie far from any of theirs.
    line = np.cumsum([char in _LINE_ENDS for char in text]) - LAYER_LINES
    words = []
    for start, end in word_spans(text):
        if inked[start:end].all():
            spelled = text[start:end].translate(_HYPHENS)
            b, number = around(boxes[start:end]), int(line[start])
            words.append(
                EngineWord(
                    spelled, b.left, b.top, b.right, b.bottom, 1.0, 0, number, NAME, Trust.UNSEEN
                )
            )
    owner = np.full(ink.shape, -1, np.int32)
    contested: set[int] = set()
    for number, word in enumerate(words):
        taken = owner[int(word.top) : int(word.bottom), int(word.left) : int(word.right)]
        if taken.size and int(taken.max()) >= 0:
            for other in np.unique(taken[taken >= 0]).tolist():
                if (taken == other).mean() > MAX_SHARED:
                    # Printed twice for weight, it is one word; as something else, neither is sure.
                    same = words[other].text == word.text
                    contested |= {number} if same else {number, other}
        taken[taken < 0] = number
    return [w for n, w in enumerate(words) if n not in contested]


def _inked(text: str, boxes: NDArray[Any], ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each character, whether ink reaches all four sides of its box, if it is a letter or digit,
    or is in it at all; control characters are no letters. Counted by an integral image."""
    if not text:
        return np.zeros(0, np.bool_)
    sums = cv2.integral(ink.astype(np.uint8))
    height, width = ink.shape
    x0, y0 = boxes[:, 0], boxes[:, 1]
    x1, y1 = boxes[:, 2], boxes[:, 3]

    def count(left: Any, top: Any, right: Any, bottom: Any) -> Any:
        left, right = np.clip(left, 0, width), np.clip(right, 0, width)
        top, bottom = np.clip(top, 0, height), np.clip(bottom, 0, height)
        return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]

    # Two pixels more: boxes are rounded, and an l is one pixel wide.
    across = np.rint((x1 - x0) * EDGE).astype(np.int64) + 2
    down = np.rint((y1 - y0) * EDGE).astype(np.int64) + 2
    spans = (
        (count(x0 - 1, y0 - 1, x0 - 1 + across, y1 + 1) > 0)
        & (count(x1 + 1 - across, y0 - 1, x1 + 1, y1 + 1) > 0)
        & (count(x0 - 1, y0 - 1, x1 + 1, y0 - 1 + down) > 0)
        & (count(x0 - 1, y1 + 1 - down, x1 + 1, y1 + 1) > 0)
        & (y1 - y0 >= MIN_HEIGHT)
    )
    letters = np.array([c.isalnum() for c in text])
    printable = np.array([c.isprintable() and c != "\ufffd" for c in text.translate(_HYPHENS)])
    some = count(x0 - 1, y0 - 1, x1 + 1, y1 + 1) > 0
    result: NDArray[np.bool_] = printable & np.where(letters, spans, some)
    return result
