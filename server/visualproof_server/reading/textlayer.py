"""A PDF's text layer against what is visible: text that puts no ink on the page is no evidence.

The layer never stands in for reading here; it is only compared with the page's pixels.
reading/visible.py reads it where that is asked for.
"""

import ctypes
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray

from visualproof_server.model.document import Warning
from visualproof_server.model.geometry import Box
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.source import PagePlan, open_pdf

# Grey levels between the lightest and darkest 1% of a word's box: black print has 255, grey 200
# on white 55, grey 240 has 15 (measured).
VISIBLE_CONTRAST = 25
MIN_SIZE_PX = 3
MAX_CHARACTERS = 60_000
MAX_HIDDEN = 2_000
# A layer differs from the page if more than this share of enough words was not read there.
MISMATCH, MIN_WORDS, MIN_NUMBERS = 0.6, 10, 4
# pdfium has U+FFFE or U+0002 for a hyphen at the end of a line, and no white space after it.
_WORD = re.compile(r"[^\s\ufffe\x02]+[\ufffe\x02]?|[\ufffe\x02]")


@dataclass(frozen=True, slots=True)
class LayerWord:
    """A word of the text layer at its place on the page; the box may lie outside the page."""

    text: str
    box: Box


def layer_words(path: Path, plan: PagePlan, password: str) -> list[LayerWord]:
    """Words of a page's text layer, at most MAX_CHARACTERS; none where pdfium cannot read it."""
    with open_pdf(path, password) as pdf:
        try:
            text, boxes = characters(pdf[plan.number - 1], plan)
        except (pypdfium2.PdfiumError, ValueError):
            return []
    return as_words(text, boxes)


def as_words(text: str, boxes: NDArray[Any]) -> list[LayerWord]:
    """Characters and their boxes as words."""
    return [
        LayerWord(text[start:end], around(boxes[start:end]))
        for start, end in word_spans(text)
        if text[start:end].strip("\x00\ufffe")
    ]


def characters(page: pypdfium2.PdfPage, plan: PagePlan) -> tuple[str, NDArray[Any]]:
    """A page's text and its characters' boxes: N x 4 (left, top, right, bottom) in pixels.

    Empty where characters and boxes cannot be told apart safely (pairs of surrogates).
    """
    layer = page.get_textpage()
    count = min(layer.count_chars(), MAX_CHARACTERS)
    text = layer.get_text_range(0, count) if count else ""
    if len(text) != count:
        return "", np.zeros((0, 4), np.int64)
    sides = [ctypes.c_double() for _ in range(4)]
    places = [ctypes.byref(side) for side in sides]
    found = np.zeros((count, 4))
    for index in range(count):
        # Straight to pdfium: there are thousands on a page.
        pypdfium2.raw.FPDFText_GetCharBox(layer, index, *places)
        found[index] = [side.value for side in sides]
    return text, _pixels(found, plan)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where words stand in a text: between white space, and up to a hyphen that ends a line."""
    return [match.span() for match in _WORD.finditer(text)]


def hidden(words: list[LayerWord], image: Grey, read: Iterable[str]) -> list[LayerWord]:
    """Words without ink at their place (white, covered, off the page, tiny) that nobody read.

    `read` are the words that were read from the page: the layer of a scan may lie a little beside
    its print, which is no hiding. Rules and dots of the layer are no words.
    """
    height, width = image.shape
    seen = {_bare(text) for text in read}
    found = []
    for word in words:
        bare = _bare(word.text)
        if not bare or bare in seen:
            continue
        b = word.box
        inside = Box(max(0, b.left), max(0, b.top), min(width, b.right), min(height, b.bottom))
        off = inside.width <= b.width * 0.5 or inside.height <= b.height * 0.5
        # A point or an l is thin at any size, so it takes two characters to be called tiny.
        tiny = len(word.text) > 1 and min(b.width, b.height) < MIN_SIZE_PX
        if off or tiny or b.width < 1 or b.height < 1:
            found.append(word)
            continue
        crop = image[inside.top : inside.bottom, inside.left : inside.right]
        low, high = np.percentile(crop, [1, 99])
        if high - low < VISIBLE_CONTRAST:
            found.append(word)
    return found


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def hidden_warning(words: list[LayerWord], number: int) -> tuple[Warning, ...]:
    """One warning for a page; it says how many words, never which."""
    if not words:
        return ()
    text = f"{len(words)} words of the text layer are not visible; they are no evidence."
    return (Warning("HIDDEN_TEXT", text, number),)


def mismatch_warning(
    layer: list[LayerWord], unseen: list[LayerWord], read: Iterable[str], number: int
) -> tuple[Warning, ...]:
    """A warning for a layer most of whose words, or numbers, are not what the page shows.

    Fonts that map glyphs to other characters, and layers of another document, look like that.
    """
    seen = {_bare(text) for text in read}
    hidden_words = set(map(id, unseen))
    words = [b for w in layer if id(w) not in hidden_words and len(b := _bare(w.text)) > 1]
    numbers = [b for b in words if b.isdigit()]
    for found, least in ((words, MIN_WORDS), (numbers, MIN_NUMBERS)):
        if len(found) >= least and sum(b not in seen for b in found) > MISMATCH * len(found):
            text = "The text layer says other words than the page shows; only what is shown counts."
            return (Warning("TEXT_MISMATCH", text, number),)
    return ()


def around(boxes: NDArray[Any]) -> Box:
    """Around some characters' boxes."""
    left, top = boxes[:, :2].min(axis=0).tolist()
    right, bottom = boxes[:, 2:].max(axis=0).tolist()
    return Box(left, top, right, bottom)


def _pixels(boxes: NDArray[Any], plan: PagePlan) -> NDArray[Any]:
    """Boxes in PDF user space (left, right, bottom, top) as those in pixels of the page."""
    a, b, c, d, e, f = plan.pdf_transform
    x, y = boxes[:, :2], boxes[:, [2, 3]]
    us = (x - e) / a if a else (y - f) / b
    vs = (y - f) / d if d else (x - e) / c
    out = np.stack([us.min(1), vs.min(1), us.max(1), vs.max(1)], axis=1)
    scaled: NDArray[Any] = np.rint(out * ([plan.width, plan.height] * 2)).astype(np.int64)
    return scaled
