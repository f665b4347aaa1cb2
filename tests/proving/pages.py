"""Documents made of printed lines, without OCR: what a perfect reader would have read."""

import re

from visualproof_server.model.document import (
    Document,
    Line,
    Page,
    ReadOptions,
    Source,
    TextLayer,
    Word,
)
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.model.numbering import number_document

OPTIONS = ReadOptions(("eng",), 300, 1, 0, "tesseract", False, TextLayer.IGNORED)
CHAR, HEIGHT, PITCH = 10, 20, 30


def printed(*pages: list[str], confidence: float | None = 0.97) -> Document:
    """One page per list; an empty line leaves a gap, two spaces or more a column gap."""
    made = []
    for number, texts in enumerate(pages, 1):
        lines = []
        for row, text in enumerate(texts):
            words = tuple(
                _word(m.group(), m.start(), row, confidence) for m in re.finditer(r"[^ ]+", text)
            )
            if words:
                lines.append(Line(words))
        page = Page(number, str(number), 1000, 1400, 600, 840, 0, 120, Source.OCR, tuple(lines))
        made.append(page)
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, tuple(made))


def _word(text: str, column: int, row: int, confidence: float | None) -> Word:
    left, top = 40 + column * CHAR, 40 + row * PITCH
    # Glyphs end a little before the next space begins.
    box = Box(left, top, left + len(text) * CHAR, top + HEIGHT)
    return Word(text, box, quad_of(box), confidence, "tesseract")
