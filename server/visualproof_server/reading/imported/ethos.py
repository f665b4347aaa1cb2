"""Grounding JSON of Ethos (ethos-pdf 0.6): pages, elements or spans, and tables, with boxes.

Members that are read, by the names of that package's citations and reports: `pages` (id, width,
height in points), `elements` and `spans` (id, page, text, bbox [x0, y0, x1, y1]), `tables` (id,
page, bbox, cells with row, col from 0, row_span, col_span, text, bbox, is_header). `coordinate_origin` is
`top_left` or `bottom_left`. The words come from a PDF's text layer, so none is evidence before it
was read from pixels too.
"""

from typing import Any

from visualproof_server.model.document import Cell, Line, Table, Word
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, union, y_overlap
from visualproof_server.reading.imported.content import Content, Sheet, split_words, whole_box
from visualproof_server.reading.source import POINTS_PER_INCH

Node = dict[str, Any]
# Each span is compared with each table of its page.
MAX_TABLES = 500


class EthosReading:
    """Implements Reading; body is the parsed JSON."""

    name = "ethos"

    def __init__(self, body: Node) -> None:
        self._body = body
        pages: list[Node] = body["pages"]
        self._pages = dict(enumerate(pages, 1))
        self._number = {_id(page): n for n, page in self._pages.items()}
        origin = str(body.get("coordinate_origin", "top_left")).replace("-", "_")
        if origin not in ("top_left", "bottom_left"):
            raise VisualProofError(
                "READING_INVALID", "coordinate_origin is top_left or bottom_left."
            )
        self._upward = origin == "bottom_left"
        self._nodes: dict[tuple[str, int], list[Node]] = {}
        for kind in ("tables", "spans", "elements"):
            for node in body.get(kind) or []:
                if node.get("bbox"):
                    place = kind, self._number.get(str(node.get("page")), 0)
                    self._nodes.setdefault(place, []).append(node)

    def numbers(self) -> list[int]:
        return sorted(self._pages)

    def sheet(self, number: int) -> Sheet:
        page = self._pages[number]
        return Sheet(float(page["width"]), float(page["height"]), POINTS_PER_INCH)

    def content(self, number: int, width: int, height: int) -> Content:
        sheet = self.sheet(number)
        across, down = width / sheet.width, height / sheet.height

        def box_of(node: Node) -> tuple[float, float, float, float]:
            x0, y0, x1, y1 = (float(v) for v in node["bbox"])
            if self._upward:
                y0, y1 = sheet.height - y1, sheet.height - y0
            return x0 * across, y0 * down, x1 * across, y1 * down

        def words_of(node: Node) -> tuple[Word, ...]:
            return tuple(split_words(str(node.get("text") or ""), *box_of(node), self.name))

        found = self._of_page("tables", number)
        if len(found) > MAX_TABLES:
            raise ValueError("more tables than a page has")
        tables = [self._table(t, box_of, words_of) for t in found]
        areas = [t.box for t in tables]
        lines: list[list[Word]] = []
        # Around the last line.
        around: Box | None = None
        after = [0] * len(tables)
        # Spans are finer than elements; where there are spans, they say it all.
        for node in self._of_page("spans", number) or self._of_page("elements", number):
            words = words_of(node)
            if not words:
                continue
            box = union([w.box for w in words])
            inside = [n for n, area in enumerate(areas) if _within(box, area)]
            if inside:
                continue
            for n, area in enumerate(areas):
                if box.top < area.top:
                    after[n] = len(lines) + 1
            if around is not None and _same_line(around, box):
                lines[-1] += words
                around = union([around, box])
            else:
                lines.append(list(words))
                around = box
        placed = (
            Table(t.box, t.cells, min(n, len(lines))) for t, n in zip(tables, after, strict=True)
        )
        made = tuple(Line(tuple(words)) for words in lines)
        return Content(made, tuple(sorted(placed, key=lambda t: t.after_line)))

    def _of_page(self, kind: str, number: int) -> list[Node]:
        return self._nodes.get((kind, number), [])

    def _table(self, node: Node, box_of: Any, words_of: Any) -> Table:
        cells = tuple(
            Cell(
                int(cell["row"]) + 1,
                int(cell["col"]) + 1,
                int(cell.get("row_span") or 1),
                int(cell.get("col_span") or 1),
                bool(cell.get("is_header")),
                False,
                whole_box(*box_of(cell)),
                words_of(cell),
            )
            for cell in node["cells"]
        )
        return Table(whole_box(*box_of(node)), cells)


def _id(page: Node) -> str:
    return str(page["id"])


def _within(box: Box, area: Box) -> bool:
    middle = (box.left + box.right) / 2
    return area.left <= middle <= area.right and area.top <= box.middle <= area.bottom


def _same_line(a: Box, b: Box) -> bool:
    return b.left >= a.right and y_overlap(a, b) * 2 > min(a.height, b.height)
