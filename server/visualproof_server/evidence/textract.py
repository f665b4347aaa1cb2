"""What was read, in the shape of Amazon Textract's AnalyzeDocument response.

https://docs.aws.amazon.com/textract/latest/dg/API_Block.html: blocks in a flat list, joined by
CHILD relationships; boxes in fractions of the page; confidence in per cent. Words of a table
stand in lines too, as there. Ids are those of the blocks of this service.
"""

import json
from collections.abc import Iterable
from typing import Any

from visualproof_server.model.document import Cell, Document, NumberedTable, Page, Word
from visualproof_server.model.geometry import Box, Quad, quad_of, union, y_overlap

Block = dict[str, Any]


def document(read: Document) -> bytes:
    """The response as JSON."""
    blocks = [block for page in _pages(read) for block in page]
    body = {
        "DocumentMetadata": {"Pages": len(read.pages)},
        "Blocks": blocks,
        "AnalyzeDocumentModelVersion": f"visualproof {read.reader_version}",
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _pages(read: Document) -> Iterable[list[Block]]:
    for page, blocks in read.in_order():
        made: list[Block] = []
        children: list[str] = []
        for block in blocks:
            if isinstance(block, NumberedTable):
                children += _table(block, page, made)
            else:
                name = f"L{block.number}"
                words = [(f"{name}.W{n}", w) for n, w in enumerate(block.line.words, 1)]
                made += [_word(i, w, page) for i, w in words]
                made.append(_line(name, words, page))
                children.append(name)
        whole = Box(0, 0, max(page.width, 1), max(page.height, 1))
        yield [
            _block("PAGE", f"P{page.number}", whole, quad_of(whole), page, children),
            *made,
        ]


def _table(block: NumberedTable, page: Page, made: list[Block]) -> list[str]:
    """Adds a table's blocks, and returns the ids of those that stand on the page itself."""
    name = f"T{block.number}" if not block.rows_before else f"T{block.number}.P{block.page}"
    cells: list[str] = []
    merged: list[str] = []
    lines: list[str] = []
    for cell in block.table.cells:
        cell_id = block.cell_id(cell)
        words = [(f"{cell_id}.W{n}", w) for n, w in enumerate(cell.words, 1)]
        made += [_word(i, w, page) for i, w in words]
        for number, line in enumerate(_lines(words), 1):
            lines.append(f"{cell_id}.L{number}")
            made.append(_line(lines[-1], line, page))
        parts = list(_cell(cell, cell_id, [i for i, _ in words], page))
        made += parts
        cells += [part["Id"] for part in parts if part["BlockType"] == "CELL"]
        merged += [part["Id"] for part in parts if part["BlockType"] == "MERGED_CELL"]
    table = _block("TABLE", name, block.table.box, block.table.quad, page, cells)
    if merged:
        table["Relationships"].append({"Type": "MERGED_CELL", "Ids": merged})
    made.append(table)
    return [*lines, name]


def _cell(cell: Cell, name: str, words: list[str], page: Page) -> Iterable[Block]:
    """A cell; one that spans more is a merged cell over cells of one row and column each."""
    heads = ["COLUMN_HEADER"] if cell.column_header else []
    single = cell.row_span == cell.column_span == 1
    places = [
        (r, c)
        for r in range(cell.row, cell.row + cell.row_span)
        for c in range(cell.column, cell.column + cell.column_span)
    ]
    names = [name if single else f"{name}.{r}.{c}" for r, c in places]
    for number, ((row, column), cell_id) in enumerate(zip(places, names, strict=True)):
        block = _block("CELL", cell_id, cell.box, cell.quad, page, [] if number else words)
        yield block | _position(row, column, 1, 1) | ({"EntityTypes": heads} if heads else {})
    if not single:
        block = _block("MERGED_CELL", name, cell.box, cell.quad, page, names)
        spans = _position(cell.row, cell.column, cell.row_span, cell.column_span)
        yield block | spans | ({"EntityTypes": heads} if heads else {})


def _position(row: int, column: int, row_span: int, column_span: int) -> Block:
    return {
        "RowIndex": row,
        "ColumnIndex": column,
        "RowSpan": row_span,
        "ColumnSpan": column_span,
    }


def _lines(words: list[tuple[str, Word]]) -> list[list[tuple[str, Word]]]:
    """A cell's words by the lines they stand on."""
    lines: list[list[tuple[str, Word]]] = []
    for name, word in words:
        if lines:
            last = lines[-1][-1][1].box
            shared = y_overlap(last, word.box) * 2 >= min(last.height, word.box.height)
            if shared and word.box.left >= last.left:
                lines[-1].append((name, word))
                continue
        lines.append([(name, word)])
    return lines


def _line(name: str, words: list[tuple[str, Word]], page: Page) -> Block:
    box = union([w.box for _, w in words])
    block = _block("LINE", name, box, None, page, [i for i, _ in words])
    known = [w.confidence for _, w in words if w.confidence is not None]
    return (
        block
        | {"Text": " ".join(w.text for _, w in words)}
        | ({"Confidence": 100 * min(known)} if known else {})
    )


def _word(name: str, word: Word, page: Page) -> Block:
    block = _block("WORD", name, word.box, word.quad, page, [])
    known = {} if word.confidence is None else {"Confidence": 100 * word.confidence}
    return block | {"Text": word.text, "TextType": "PRINTED"} | known


def _block(
    kind: str, name: str, box: Box, quad: Quad | None, page: Page, children: list[str]
) -> Block:
    width, height = max(page.width, 1), max(page.height, 1)
    block: Block = {
        "BlockType": kind,
        "Id": name,
        "Page": page.number,
        "Geometry": {
            "BoundingBox": {
                "Left": box.left / width,
                "Top": box.top / height,
                "Width": box.width / width,
                "Height": box.height / height,
            },
            "Polygon": [{"X": x / width, "Y": y / height} for x, y in quad or quad_of(box)],
        },
    }
    if children:
        block["Relationships"] = [{"Type": "CHILD", "Ids": children}]
    return block
