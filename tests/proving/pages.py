"""Documents made of printed lines, without OCR: what a perfect reader would have read."""

import re
from dataclasses import replace

from visualproof_server.model.document import (
    Cell,
    Document,
    Line,
    Page,
    ReadOptions,
    Source,
    Table,
    TextLayer,
    Trust,
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


def table_of(
    rows: list[list[str]], top: int = 100, head: int = 1, doubtful: bool = False, after: int = 0
) -> Table:
    """Rows of texts as a table; "<" merges a place with the one left of it, "^" with the one over."""
    cells = []
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            if text in ("<", "^"):
                continue
            columns = 1 + next(
                (n for n, t in enumerate(row[c + 1 :]) if t != "<"), len(row) - c - 1
            )
            below = [other[c] for other in rows[r + 1 :]]
            down = 1 + next((n for n, t in enumerate(below) if t != "^"), len(below))
            left, y = 40 + 240 * c, top + PITCH * r
            words = tuple(
                _placed(m.group(), left + m.start() * CHAR, y) for m in re.finditer(r"[^ ]+", text)
            )
            box = Box(left - 10, y - 5, left + 240 * columns - 10, y + PITCH * down - 5)
            header = r < head
            cells.append(
                Cell(r + 1, c + 1, down, columns, header, not header and c == 0, box, words)
            )
    width = 240 * len(rows[0])
    area = Box(30, top - 5, 30 + width, top - 5 + PITCH * len(rows))
    return Table(area, tuple(cells), after, doubtful)


def tabled(*pages: tuple[list[str], Table, list[str]]) -> Document:
    """Pages of lines, a table and more lines."""
    made = []
    for number, (before, table, after) in enumerate(pages, 1):
        page = printed([*before, *after]).pages[0]
        table = replace(table, after_line=len(before))
        made.append(replace(page, number=number, label=str(number), tables=(table,)))
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, tuple(made))


def _placed(text: str, left: int, top: int) -> Word:
    box = Box(left, top, left + len(text) * CHAR, top + HEIGHT)
    return Word(text, box, quad_of(box), 0.97, "tesseract", Trust.AGREED)


def _word(text: str, column: int, row: int, confidence: float | None) -> Word:
    placed = _placed(text, 40 + column * CHAR, 40 + row * PITCH)
    trust = Trust.AGREED if confidence is None or confidence >= 0.9 else Trust.DOUBTFUL
    return replace(placed, confidence=confidence, trust=trust)
