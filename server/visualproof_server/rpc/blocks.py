"""Blocks of a document on the wire, in reading order."""

from collections.abc import Iterator, Sequence

from visualproof.v1 import block_pb2, document_pb2

from visualproof_server.model.document import NumberedLine, NumberedTable, Page, Word
from visualproof_server.model.geometry import Box, Quad, quad_of, span_quad
from visualproof_server.rpc.convert import box_to_wire, quad_to_wire


def page_to_blocks(
    page: Page, blocks: Sequence[NumberedLine | NumberedTable], kinds: frozenset[int]
) -> Iterator[block_pb2.Block]:
    """A page's blocks in reading order, each before its children; no kinds mean all."""
    if page.failure is not None:
        return
    yield from _of(kinds, _page_block(page))
    for block in blocks:
        if isinstance(block, NumberedLine):
            yield from _line_blocks(page, block, kinds)
        else:
            yield from _table_blocks(page, block, kinds)


def _line_blocks(
    page: Page, numbered: NumberedLine, kinds: frozenset[int]
) -> Iterator[block_pb2.Block]:
    name, line = f"L{numbered.number}", numbered.line
    quad = span_quad([w.quad for w in line.words])
    block = _block(
        page, name, block_pb2.BLOCK_KIND_LINE, f"P{page.number}", line.text, line.box, quad,
        line.confidence,
    )  # fmt: skip
    block.marker = numbered.number
    yield from _of(kinds, block)
    yield from _word_blocks(page, name, line.words, kinds)


def _table_blocks(
    page: Page, part: NumberedTable, kinds: frozenset[int]
) -> Iterator[block_pb2.Block]:
    """A table, or its part on this page, with its cells in the order of rows."""
    table, name = part.table, f"T{part.number}"
    if part.rows_before:
        name += f".P{page.number}"
    block = _block(
        page, name, block_pb2.BLOCK_KIND_TABLE, f"P{page.number}",
        " ".join(c.text for c in table.cells if c.words), table.box,
        table.quad or quad_of(table.box), None,
    )  # fmt: skip
    block.marker = part.number
    yield from _of(kinds, block)
    for cell in table.cells:
        cell_name = part.cell_id(cell)
        block = _block(
            page, cell_name, block_pb2.BLOCK_KIND_CELL, name, cell.text, cell.box,
            cell.quad or quad_of(cell.box), cell.confidence,
        )  # fmt: skip
        block.cell.CopyFrom(
            block_pb2.CellPosition(
                row=cell.row,
                column=cell.column,
                row_span=cell.row_span,
                column_span=cell.column_span,
                column_header=cell.column_header,
                row_header=cell.row_header,
                word_ids=[f"{cell_name}.W{n + 1}" for n in range(len(cell.words))],
            )
        )
        yield from _of(kinds, block)
        yield from _word_blocks(page, cell_name, cell.words, kinds)


def _of(kinds: frozenset[int], block: block_pb2.Block) -> Iterator[block_pb2.Block]:
    if not kinds or block.kind in kinds:
        yield block


def _word_blocks(
    page: Page, parent: str, words: tuple[Word, ...], kinds: frozenset[int]
) -> Iterator[block_pb2.Block]:
    if kinds and block_pb2.BLOCK_KIND_WORD not in kinds:
        return
    for number, word in enumerate(words, 1):
        yield _block(
            page, f"{parent}.W{number}", block_pb2.BLOCK_KIND_WORD, parent, word.text, word.box,
            word.quad, word.confidence,
        )  # fmt: skip


def _page_block(page: Page) -> block_pb2.Block:
    box = Box(0, 0, page.width, page.height)
    return _block(
        page,
        f"P{page.number}",
        block_pb2.BLOCK_KIND_PAGE,
        "",
        "",
        box,
        quad_of(box),
        page.confidence,
    )


def _block(
    page: Page,
    block_id: str,
    kind: block_pb2.BlockKind.ValueType,
    parent: str,
    text: str,
    box: Box,
    quad: Quad,
    confidence: float | None,
) -> block_pb2.Block:
    return block_pb2.Block(
        block_id=block_id,
        kind=kind,
        parent_id=parent,
        page_number=page.number,
        text=text,
        box=box_to_wire(box, page),
        polygon=quad_to_wire(quad, page),
        confidence=confidence,
        source=document_pb2.Source.ValueType(page.source.value),
    )
