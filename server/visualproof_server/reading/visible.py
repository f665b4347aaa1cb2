"""Words of a PDF's text layer that put ink on the page: what `text_layer=VISIBLE` reads.

The page is drawn twice by pdfium, as it is and with all its text invisible. Where the two differ
is the text's ink. A word counts if each of its letters and digits fills its own place with such
ink and no other word claims that place. What it says is still only the file's word for it: a value
that it proves is read again from its pixels (proving/second_look.py).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.missed import missed_boxes
from visualproof_server.reading.raster import Grey, fitted
from visualproof_server.reading.source import PagePlan, open_pdf
from visualproof_server.reading.textlayer import pixels

# Name of the reader, as engines have one.
NAME = "text_layer"
# Grey levels that make a difference: what a person sees on paper.
MIN_DIFFERENCE = 25
# Share of a glyph's height and width that its ink must span.
MIN_SPAN = 0.7
# Share of a word that may lie under another word that says something else.
MAX_SHARED = 0.2
MAX_CHARACTERS = 60_000
# Patches of other ink up to which they are read as lines, not as a page.
MAX_PATCHES = 40
FEW_WORDS = 20
# Mean confidence from which such a patch is print.
PATCH_TRUST = 0.8
# pdfium's stand-ins for a hyphen that ends a line.
_HYPHENS = str.maketrans({"\ufffe": "-", "\x02": "-", "\xad": "-"})


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A page as drawn, the words proven on it, and what is left when those are taken out."""

    image: Grey
    words: list[EngineWord]
    rest: Grey


def visible_text(path: Path, plan: PagePlan, password: str) -> VisibleText:
    """Draws a page and proves its text; error RASTER_FAILED.

    No words where pdfium cannot tell its characters and boxes apart.
    """
    with open_pdf(path, password) as pdf:
        try:
            pdf.init_forms()
            page = pdf[plan.number - 1]
            characters = _characters(page, plan)
            image = _drawn(page, plan)
            _hide(page)
            without = _drawn(page, plan)
        except (pypdfium2.PdfiumError, MemoryError, ValueError):
            raise VisualProofError(
                "RASTER_FAILED", f"Page {plan.number} cannot be drawn."
            ) from None
    ink = np.abs(image.astype(np.int16) - without) >= MIN_DIFFERENCE
    words = _proven(characters, ink)
    mask = np.zeros(image.shape, np.bool_)
    for word in words:
        mask[
            max(0, int(word.top) - 2) : int(word.bottom) + 3,
            max(0, int(word.left) - 2) : int(word.right) + 3,
        ] = True
    return VisibleText(image, words, np.where(mask, without, image))


def read_rest(
    seen: VisibleText, languages: tuple[str, ...], dpi: int, engine: OcrEngine
) -> list[EngineWord]:
    """What is printed, but not by proven text: pictures, forms, fonts without letters."""
    if int(seen.rest.max()) - int(seen.rest.min()) < MIN_DIFFERENCE:
        return []
    # Few words do not say how high the page's letters are.
    few = len(seen.words) < FEW_WORDS
    boxes = [] if few else missed_boxes(seen.rest, seen.words, 0.5)
    if few or len(boxes) > MAX_PATCHES:
        return engine.read(seen.rest, languages, dpi)
    crops, corners = [], []
    for left, top, right, bottom in boxes:
        pad = max(2, round((bottom - top) * 0.2))
        y, x = max(0, int(top) - pad), max(0, int(left) - 2 * pad)
        crops.append(
            np.ascontiguousarray(seen.rest[y : int(bottom) + pad + 1, x : int(right) + 2 * pad + 1])
        )
        corners.append(x)
    out = []
    for number, (box, x, words) in enumerate(
        zip(boxes, corners, engine.read_lines(crops, languages), strict=True)
    ):
        sure = sum(w.confidence for w in words) >= PATCH_TRUST * max(1, len(words))
        if not sure or not any(c.isalnum() for w in words for c in w.text):
            continue
        out += [
            EngineWord(
                w.text, x + w.left, box[1], x + w.right, box[3], w.confidence, -1, -1 - number,
                w.engine or engine.name,
            )
            for w in words
        ]  # fmt: skip
    return out


@dataclass(frozen=True, slots=True)
class _Character:
    """A character with its box in pixels of the page; line counts the layer's line ends."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    line: int


def _characters(page: pypdfium2.PdfPage, plan: PagePlan) -> list[_Character]:
    text_page = page.get_textpage()
    count = min(text_page.count_chars(), MAX_CHARACTERS)
    text = text_page.get_text_range(0, count) if count else ""
    if len(text) != count:
        return []
    out, line = [], 0
    for index, char in enumerate(text):
        line += char == "\n"
        if char.isspace():
            out.append(_Character(" ", 0, 0, 0, 0, line))
            continue
        box = pixels([text_page.get_charbox(index)], plan)
        out.append(
            _Character(char.translate(_HYPHENS), box.left, box.top, box.right, box.bottom, line)
        )
    return out


def _drawn(page: pypdfium2.PdfPage, plan: PagePlan) -> Grey:
    bitmap = page.render(scale=plan.dpi / 72.0, grayscale=True)
    grey = bitmap.to_numpy().reshape(bitmap.height, -1)[:, : bitmap.width]
    return fitted(grey, plan)


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


def _proven(characters: list[_Character], ink: NDArray[np.bool_]) -> list[EngineWord]:
    """Words whose glyphs are inked and whose place is theirs alone."""
    groups: list[list[_Character]] = [[]]
    for char in characters:
        if char.text == " ":
            groups.append([])
        else:
            groups[-1].append(char)
    words = [_word(group) for group in groups if group and all(_inked(c, ink) for c in group)]
    owner = np.full(ink.shape, -1, np.int32)
    contested: set[int] = set()
    for number, word in enumerate(words):
        place = owner[int(word.top) : int(word.bottom), int(word.left) : int(word.right)]
        for other in np.unique(place[place >= 0]).tolist():
            if (place == other).mean() > MAX_SHARED:
                # Printed twice for weight, it is one word; as something else, neither is sure.
                same = words[other].text == word.text
                contested |= {number} if same else {number, other}
        place[place < 0] = number
    return [w for n, w in enumerate(words) if n not in contested]


def _word(group: list[_Character]) -> EngineWord:
    return EngineWord(
        "".join(c.text for c in group),
        min(c.left for c in group),
        min(c.top for c in group),
        max(c.right for c in group),
        max(c.bottom for c in group),
        1.0,
        0,
        group[0].line,
        NAME,
    )


def _inked(char: _Character, ink: NDArray[np.bool_]) -> bool:
    """Whether a glyph's ink spans its box; a control character has no right to be a letter."""
    if not char.text.isprintable() or char.text == "\ufffd":
        return False
    height, width = ink.shape
    left, top = max(0, char.left - 1), max(0, char.top - 1)
    right, bottom = min(width, char.right + 1), min(height, char.bottom + 1)
    if right - left < 1 or bottom - top < 1:
        return False
    place = ink[top:bottom, left:right]
    if not char.text.isalnum():
        return bool(place.any())
    down, across = int(place.any(axis=1).sum()), int(place.any(axis=0).sum())
    return (
        down >= MIN_SPAN * (char.bottom - char.top) and across >= MIN_SPAN * (char.right - char.left)
        and char.bottom - char.top >= 3
    )  # fmt: skip
