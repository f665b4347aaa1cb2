"""hOCR 1.2 (http://kba.github.io/hocr-spec/1.2/), as Tesseract, OCRmyPDF and this service write."""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from visualproof_server.model.document import Cell, Line, Table, Word
from visualproof_server.model.geometry import union
from visualproof_server.reading.imported.content import (
    Content,
    Sheet,
    corners_of,
    split_words,
    whole_box,
    word_of,
)

_LINES = {"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"}
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
Node = Any  # An lxml element; lxml has no types of its own.


class HocrReading:
    """Implements Reading."""

    name = "hocr"

    def __init__(self, data: bytes) -> None:
        parser = etree.HTMLParser(recover=True, no_network=True, encoding="utf-8")
        root = etree.fromstring(data, parser)
        found = [] if root is None else [n for n in root.iter() if "ocr_page" in _classes(n)]
        # ppageno counts from 0; where it is missing or repeated, the order counts.
        stated = [_property(n, "ppageno") for n in found]
        numbers = [int(s[0]) + 1 for s in stated if s]
        if len(set(numbers)) != len(found):
            numbers = list(range(1, len(found) + 1))
        self._pages = dict(zip(numbers, found, strict=True))

    def numbers(self) -> list[int]:
        return sorted(self._pages)

    def sheet(self, number: int) -> Sheet:
        box = _property(self._pages[number], "bbox")
        dpi = _property(self._pages[number], "scan_res")
        if len(box) != 4:
            return Sheet(0, 0)
        return Sheet(box[2] - box[0], box[3] - box[1], dpi[0] if dpi else 0.0)

    def content(self, number: int, width: int, height: int) -> Content:
        page = self._pages.get(number)
        if page is None:
            return Content(())
        sheet = self.sheet(number)
        origin = [*_property(page, "bbox"), 0.0, 0.0][:2]
        place = _Place(
            origin[0],
            origin[1],
            width / sheet.width if sheet.width else 1.0,
            height / sheet.height if sheet.height else 1.0,
        )
        lines: list[Line] = []
        tables: list[Table] = []
        for node in _blocks(page):
            if "ocr_table" in _classes(node):
                table = self._table(node, place, len(lines))
                if table is not None:
                    tables.append(table)
            elif words := self._words(node, place):
                lines.append(Line(words))
        return Content(tuple(lines), tuple(tables))

    def _words(self, node: Node, place: "_Place") -> tuple[Word, ...]:
        inner = [n for n in node.iter() if "ocrx_word" in _classes(n)]
        if not inner:
            box = _property(node, "bbox")
            if len(box) != 4:
                return ()
            return tuple(split_words("".join(node.itertext()), *place.box(box), self.name))
        made = []
        for word in inner:
            corners = place.corners(word)
            sure = _property(word, "x_wconf")
            if corners:
                confidence = sure[0] / 100 if sure else None
                made.append(word_of("".join(word.itertext()), corners, confidence, self.name))
        return tuple(w for w in made if w is not None)

    def _table(self, node: Node, place: "_Place", after: int) -> Table | None:
        """A table whose cells say where they stand (x_cell), as this service writes them."""
        cells = []
        for inner in node.iter("td", "th"):
            box, at = _property(inner, "bbox"), _property(inner, "x_cell")
            if len(box) != 4 or len(at) != 2:
                return None
            cells.append(
                Cell(
                    int(at[0]),
                    int(at[1]),
                    int(inner.get("rowspan") or 1),
                    int(inner.get("colspan") or 1),
                    inner.tag == "th",
                    False,
                    whole_box(*place.box(box)),
                    self._words(inner, place) if len(inner) else (),
                )
            )
        if not cells:
            return None
        box = _property(node, "bbox")
        area = whole_box(*place.box(box)) if len(box) == 4 else union([c.box for c in cells])
        return Table(area, tuple(cells), after)


class _Place:
    """From a page's own units to pixels."""

    def __init__(self, left: float, top: float, across: float, down: float) -> None:
        self._left, self._top, self._across, self._down = left, top, across, down

    def point(self, x: float, y: float) -> tuple[float, float]:
        return (x - self._left) * self._across, (y - self._top) * self._down

    def box(self, box: list[float]) -> tuple[float, float, float, float]:
        return (*self.point(box[0], box[1]), *self.point(box[2], box[3]))

    def corners(self, node: Node) -> list[tuple[float, float]]:
        """The outline if it is stated, else the box; empty if there is neither."""
        poly = _property(node, "poly")
        if len(poly) == 8:
            return [self.point(poly[i], poly[i + 1]) for i in range(0, 8, 2)]
        box = _property(node, "bbox")
        return corners_of(*self.box(box)) if len(box) == 4 else []


def _blocks(page: Node) -> Iterator[Node]:
    """Lines and tables in the file's order; what a table holds is its own."""
    for node in page:
        names = _classes(node)
        if (
            "ocr_table" in names and any(_property(c, "x_cell") for c in node.iter("td", "th"))
        ) or names & _LINES:
            yield node
        else:
            yield from _blocks(node)


def _classes(node: Node) -> set[str]:
    return set((node.get("class") or "").split()) if isinstance(node.tag, str) else set()


def _property(node: Node, name: str) -> list[float]:
    """Numbers of a property in the title: `bbox 0 0 10 10; x_wconf 90`."""
    for part in (node.get("title") or "").split(";"):
        key, _, rest = part.strip().partition(" ")
        if key == name:
            return [float(n) for n in _NUMBERS.findall(rest)]
    return []
