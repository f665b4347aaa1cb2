"""A PDF's text layer against what is visible: text that puts no ink on the page is no evidence.

The layer never stands in for reading here; it is only compared with the page's pixels.
reading/visible.py reads it where that is asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pypdfium2

from visualproof_server.model.document import Warning
from visualproof_server.model.geometry import Box
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.source import PagePlan, open_pdf

# Grey levels between the lightest and darkest 1% of a word's box: black print has 255, grey 200
# on white 55, grey 240 has 15 (measured).
VISIBLE_CONTRAST = 25
MIN_SIZE_PX = 3
MAX_CHARACTERS = 20_000
MAX_HIDDEN = 2_000


@dataclass(frozen=True, slots=True)
class LayerWord:
    """A word of the text layer at its place on the page; the box may lie outside the page."""

    text: str
    box: Box


def layer_words(path: Path, plan: PagePlan, password: str) -> list[LayerWord]:
    """Words of a page's text layer, at most MAX_CHARACTERS; none where pdfium cannot read it."""
    with open_pdf(path, password) as pdf:
        try:
            page = pdf[plan.number - 1].get_textpage()
            count = min(page.count_chars(), MAX_CHARACTERS)
            text = page.get_text_range(0, count) if count else ""
            if len(text) != count:
                # Pairs of surrogates: characters and boxes can no longer be told apart safely.
                return []
            boxes = [page.get_charbox(i) for i in range(count)]
        except (pypdfium2.PdfiumError, ValueError):
            return []
    words: list[LayerWord] = []
    start = 0
    for end in range(count + 1):
        if end == count or text[end].isspace():
            if end > start and text[start:end].strip("\x00\ufffe"):
                words.append(LayerWord(text[start:end], pixels(boxes[start:end], plan)))
            start = end + 1
    return words


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


def pixels(boxes: list[tuple[float, float, float, float]], plan: PagePlan) -> Box:
    """Around characters in PDF user space (left, bottom, right, top), in pixels of the page."""
    a, b, c, d, e, f = plan.pdf_transform
    us, vs = [], []
    for left, bottom, right, top in boxes:
        for x, y in ((left, bottom), (right, top)):
            us.append((x - e) / a if a else (y - f) / b)
            vs.append((y - f) / d if d else (x - e) / c)
    return Box(
        round(min(us) * plan.width),
        round(min(vs) * plan.height),
        round(max(us) * plan.width),
        round(max(vs) * plan.height),
    )
