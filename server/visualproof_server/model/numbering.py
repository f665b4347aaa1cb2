"""Numbers of lines and tables through a document; tables that go on over pages."""

import re
from dataclasses import replace

from visualproof_server.model.document import (
    Cell,
    Document,
    NumberedLine,
    NumberedTable,
    Page,
    ReadOptions,
    Table,
)

# A part of a table may have this many lines of running head or foot between it and the page's end.
MAX_RUNNING_LINES = 3
# Where a part that goes on must end, and the next begin, as shares of the page's height.
ENDS_BELOW, BEGINS_ABOVE = 0.6, 0.4
# Columns of two parts stand at the same place within this share of the page's width.
SAME_PLACE = 0.03
# Share of a head's cells that must be printed again for it to be the same head.
SAME_HEAD = 0.6


def number_document(
    document_id: str,
    source_sha256: str,
    reader_version: str,
    options: ReadOptions,
    pages: tuple[Page, ...],
) -> Document:
    """Gives lines and tables their numbers, once, in the pages' order."""
    lines: list[NumberedLine] = []
    tables: list[NumberedTable] = []
    before: Page | None = None
    for page in pages:
        for line in page.lines:
            lines.append(NumberedLine(len(lines) + 1, page.number, line))
        for position, table in enumerate(page.tables):
            last = tables[-1] if tables else None
            if position == 0 and last is not None and before is not None:
                if last.page == before.number and _goes_on(before, last.table, page, table):
                    tables.append(_part(page, table, last, tables))
                    continue
            number = last.number + 1 if last is not None else 1
            tables.append(NumberedTable(number, page.number, table))
        before = page
    return Document(
        document_id, source_sha256, reader_version, options, pages, tuple(lines), tuple(tables)
    )


def _goes_on(before: Page, last: Table, page: Page, table: Table) -> bool:
    """Whether a page's first table is more of the last one of the page before."""
    if page.number != before.number + 1 or last.columns != table.columns:
        return False
    if len(before.lines) - last.after_line > MAX_RUNNING_LINES:
        return False
    if table.after_line > MAX_RUNNING_LINES:
        return False
    if last.box.bottom < ENDS_BELOW * before.height or table.box.top > BEGINS_ABOVE * page.height:
        return False
    edges = zip(_edges(last, before), _edges(table, page), strict=True)
    return all(abs(a - b) < SAME_PLACE for a, b in edges)


def _edges(table: Table, page: Page) -> list[float]:
    """Left edges of the columns and the right edge, as shares of the page's width."""
    lefts: dict[int, int] = {}
    for cell in table.cells:
        lefts[cell.column] = min(cell.box.left, lefts.get(cell.column, cell.box.left))
    columns = (lefts.get(n, table.box.left) for n in range(1, table.columns + 1))
    return [x / page.width for x in (*columns, table.box.right)]


def _part(
    page: Page, table: Table, last: NumberedTable, tables: list[NumberedTable]
) -> NumberedTable:
    """A table of this page as more of the last: rows run on from its last row."""
    first = next(t for t in tables if t.number == last.number)
    rows_before = max(last.rows_before, last.table.rows)
    head = _repeated_head(first.table, table)
    broken = _is_broken(last.table, rows_before, table, head)
    shift = rows_before - head - (1 if broken else 0)
    cells = tuple(
        replace(cell, column_header=True)
        if cell.row <= head
        else replace(cell, row=cell.row + shift, column_header=False)
        for cell in table.cells
    )
    moved = replace(table, cells=cells, doubtful=table.doubtful or last.table.doubtful)
    return NumberedTable(last.number, page.number, moved, rows_before)


def _repeated_head(first: Table, table: Table) -> int:
    """How many rows of the head a later part prints again."""
    head = max((c.row + c.row_span - 1 for c in first.cells if c.column_header), default=0)
    if head == 0 or head >= table.rows:
        return 0
    printed = {
        (c.row, c.column): _letters(c.text) for c in table.cells if c.row <= head and c.words
    }
    known = {(c.row, c.column): _letters(c.text) for c in first.cells if c.row <= head and c.words}
    same = sum(known.get(place) == text for place, text in printed.items())
    return head if printed and same >= SAME_HEAD * len(printed) else 0


def _is_broken(last: Table, last_row: int, table: Table, head: int) -> bool:
    """Whether a part's first row ends the row that the page before began.

    It names nothing in the first column, has no figures, and its words run on from cells that
    have some.
    """
    begun = {c.column: c for c in last.cells if c.row == last_row and c.words}
    rest = [c for c in table.cells if c.row == head + 1 and c.words]
    if not rest or any(c.row_span > 1 for c in rest):
        return False
    return all(_runs_on(begun.get(c.column), c) for c in rest) and 1 not in {c.column for c in rest}


def _runs_on(begun: Cell | None, rest: Cell) -> bool:
    return begun is not None and not any(ch.isdigit() for ch in rest.text + begun.text[-1:])


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()
