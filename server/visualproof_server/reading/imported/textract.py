"""Amazon Textract's responses (DetectDocumentText, AnalyzeDocument), also several joined.

https://docs.aws.amazon.com/textract/latest/dg/API_Block.html. Words of a table stand in its cells
only. Key-value sets, layout and selection elements say nothing that a line does not.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from visualproof_server.model.document import Cell, Line, Table, Word
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.reading.imported.content import (
    Content,
    Sheet,
    corners_of,
    whole_box,
    word_of,
)

Block = dict[str, Any]


class TextractReading:
    """Implements Reading; body is the parsed JSON, or a list of such bodies."""

    name = "textract"

    def __init__(self, body: Any) -> None:
        parts = body if isinstance(body, list) else [body]
        blocks = [block for part in parts for block in part["Blocks"]]
        self._by_id: dict[str, Block] = {str(b["Id"]): b for b in blocks}
        self._pages: dict[int, list[Block]] = {}
        for block in blocks:
            self._pages.setdefault(int(block.get("Page") or 1), []).append(block)

    def numbers(self) -> list[int]:
        return sorted(self._pages)

    def sheet(self, number: int) -> Sheet:
        return Sheet(0, 0)

    def content(self, number: int, width: int, height: int) -> Content:
        blocks = self._pages.get(number, [])
        words: dict[str, Word] = {}
        for block in blocks:
            if block["BlockType"] == "WORD":
                word = self._word(block, width, height)
                if word is not None:
                    words[str(block["Id"])] = word
        taken: set[str] = set()
        grids = [
            (block, cells)
            for block in blocks
            if block["BlockType"] == "TABLE"
            and (cells := list(self._cells(block, words, taken, width, height)))
        ]
        lines: list[Line] = []
        waiting = dict(enumerate(grids))
        # Words have no two tables: each is taken once.
        table_of = {
            id(word): key for key, (_, cells) in waiting.items() for cell in cells
            for word in cell.words
        }  # fmt: skip
        placed: list[tuple[int, Block, list[Cell]]] = []
        for block in blocks:
            if block["BlockType"] != "LINE":
                continue
            ids = _children(block)
            # A table stands where the first line with words of it stands.
            for key in sorted({table_of.get(id(words[i]), -1) for i in ids if i in words}):
                if key in waiting:
                    placed.append((len(lines), *waiting.pop(key)))
            kept = tuple(words[i] for i in ids if i in words and i not in taken)
            if kept:
                lines.append(Line(kept))
        placed += [(len(lines), table, cells) for table, cells in waiting.values()]
        tables = tuple(_table(table, cells, after, width, height) for after, table, cells in placed)
        return Content(tuple(lines), tables)

    def _word(self, block: Block, width: int, height: int) -> Word | None:
        points = block["Geometry"].get("Polygon") or []
        corners = [(float(p["X"]) * width, float(p["Y"]) * height) for p in points]
        if len(corners) != 4:
            b = _box(block, width, height)
            corners = corners_of(b.left, b.top, b.right, b.bottom)
        confidence = block.get("Confidence")
        sure = None if confidence is None else float(confidence) / 100
        return word_of(str(block.get("Text", "")), corners, sure, self.name)

    def _cells(
        self, table: Block, words: dict[str, Word], taken: set[str], width: int, height: int
    ) -> Iterator[Cell]:
        """Cells with their words, which are `taken` by it; a merged cell stands for its parts."""
        merged = [self._by_id[i] for i in _children(table, "MERGED_CELL") if i in self._by_id]
        parts = {i for block in merged for i in _children(block)}
        single = [self._by_id[i] for i in _children(table) if i in self._by_id and i not in parts]
        for block in [*single, *merged]:
            if block["BlockType"] not in ("CELL", "MERGED_CELL"):
                continue
            of = [self._by_id[i] for i in _children(block) if i in self._by_id]
            cells = of if block["BlockType"] == "MERGED_CELL" else [block]
            ids = [i for c in cells for i in _children(c) if i in words and i not in taken]
            taken.update(ids)
            box = _box(block, width, height)
            corners = [
                (round(float(p["X"]) * width), round(float(p["Y"]) * height))
                for p in block["Geometry"].get("Polygon") or []
            ]
            quad = (corners[0], corners[1], corners[2], corners[3]) if len(corners) == 4 else None
            heads = any("COLUMN_HEADER" in (c.get("EntityTypes") or ()) for c in [block, *of])
            yield Cell(
                int(block["RowIndex"]),
                int(block["ColumnIndex"]),
                int(block.get("RowSpan") or 1),
                int(block.get("ColumnSpan") or 1),
                heads,
                False,
                box,
                tuple(words[i] for i in ids),
                None if quad == quad_of(box) else quad,
            )


def _table(block: Block, cells: Iterable[Cell], after: int, width: int, height: int) -> Table:
    ordered = tuple(sorted(cells, key=lambda c: (c.row, c.column)))
    return Table(_box(block, width, height), ordered, after)


def _box(block: Block, width: int, height: int) -> Box:
    box = block["Geometry"]["BoundingBox"]
    left, top = float(box["Left"]) * width, float(box["Top"]) * height
    right, bottom = left + float(box["Width"]) * width, top + float(box["Height"]) * height
    return whole_box(left, top, right, bottom)


def _children(block: Block, kind: str = "CHILD") -> list[str]:
    return [
        str(i)
        for relation in block.get("Relationships") or ()
        if relation["Type"] == kind
        for i in relation["Ids"]
    ]
