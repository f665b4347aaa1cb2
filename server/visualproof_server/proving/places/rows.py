"""Rows of a document: its lines, and the rows of its tables, in reading order."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from visualproof_server.model.document import Cell, Document, NumberedLine, Word

# Between the cells of a table's row, and where a wide gap parts a line, in its text.
GAP = "\t"


@dataclass(frozen=True, slots=True)
class Row:
    """A line, or a row of a table, as words [start, end) of the index.

    number is the line's, 0 for a table row; table and table_row are 0 for a line.
    """

    page: int
    number: int
    start: int
    end: int
    text: str
    offsets: tuple[int, ...]
    table: int = 0
    table_row: int = 0


Piece = tuple[tuple[Word, ...], str, Cell | None]
"""Words of a line or cell, the id of that, and the cell."""


def rows_of(
    document: Document,
) -> Iterable[tuple[int, int, list[Piece], int, int]]:
    """(page, line number, pieces, table, table row) in reading order.

    A line is one piece, a row of a table a piece for each cell: (words, block id, cell).
    """
    for page, blocks in document.in_order():
        for block in blocks:
            if isinstance(block, NumberedLine):
                pieces: list[Piece] = [(block.line.words, f"L{block.number}", None)]
                yield page.number, block.number, pieces, 0, 0
                continue
            cells = sorted(block.table.cells, key=lambda c: (c.row, c.column))
            for row, members in groupby((c for c in cells if c.words), key=lambda c: c.row):
                pieces = [(c.words, block.cell_id(c), c) for c in members]
                yield page.number, 0, pieces, block.number, row
