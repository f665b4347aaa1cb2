"""Blocks of a document on the wire, in reading order."""

from collections.abc import Iterator

from visualproof.v1 import block_pb2, document_pb2

from visualproof_server.model.document import Document, Page, Word
from visualproof_server.model.geometry import Box, Quad, quad_of, span_quad
from visualproof_server.rpc.convert import box_to_wire, quad_to_wire


def blocks_to_wire(
    document: Document, page_number: int, kinds: frozenset[int]
) -> Iterator[block_pb2.Block]:
    """Blocks in reading order, each before its children; 0 and empty mean all."""
    line_number = table_number = 0
    for page in document.pages:
        wanted = page_number in (0, page.number) and page.failure is None
        if wanted:
            yield from _of(kinds, _page_block(page))
        waiting = list(page.tables)
        for position in range(len(page.lines) + 1):
            while waiting and waiting[0].after_line <= position:
                table_number += 1
                table = waiting.pop(0)
                if not wanted:
                    continue
                block = _block(
                    page, f"T{table_number}", block_pb2.BLOCK_KIND_TABLE, f"P{page.number}",
                    " ".join(c.text for c in table.cells), table.box, quad_of(table.box), None,
                )  # fmt: skip
                block.marker = table_number
                yield from _of(kinds, block)
                for cell in table.cells:
                    name = f"T{table_number}.R{cell.row}C{cell.column}"
                    known = [w.confidence for w in cell.words if w.confidence is not None]
                    block = _block(
                        page, name, block_pb2.BLOCK_KIND_CELL, f"T{table_number}", cell.text,
                        cell.box, quad_of(cell.box), min(known) if known else None,
                    )  # fmt: skip
                    block.cell.CopyFrom(
                        block_pb2.CellPosition(
                            row=cell.row,
                            column=cell.column,
                            row_span=cell.row_span,
                            column_span=cell.column_span,
                            column_header=cell.column_header,
                            row_header=cell.row_header,
                            word_ids=[f"{name}.W{n + 1}" for n in range(len(cell.words))],
                        )
                    )
                    yield from _of(kinds, block)
                    yield from _word_blocks(page, name, cell.words, kinds)
            if position == len(page.lines):
                break
            line_number += 1
            line = page.lines[position]
            if not wanted:
                continue
            name = f"L{line_number}"
            quad = span_quad(line.words[0].quad, line.words[-1].quad)
            block = _block(
                page, name, block_pb2.BLOCK_KIND_LINE, f"P{page.number}", line.text, line.box, quad,
                line.confidence,
            )  # fmt: skip
            block.marker = line_number
            yield from _of(kinds, block)
            yield from _word_blocks(page, name, line.words, kinds)


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
