"""The head of a table: which rows and columns name the others, and what its cells stand over."""

from visualproof_server.reading.tables.cells import drawn
from visualproof_server.reading.tables.grid import Grid, GridCell, place
from visualproof_server.reading.tables.rules import Rules
from visualproof_server.reading.tables.text import is_number


def mark_head(grid: Grid, rules: Rules, height: float) -> None:
    """Marks header cells and widens those that stand over several rows or columns.

    Header rows are those above the first row of values; without any, the first row. Row headers
    are cells of the first column beside them.
    """
    head = _head_rows(grid)
    if head > 1:
        sides = drawn(grid.xs, grid.ys, rules, height)
        _widen(grid, head, sides.right)
        _heighten(grid, head, sides.below)
    for cell in grid.cells:
        cell.column_header = cell.row < head
        cell.row_header = cell.row >= head and cell.column == 0 and bool(cell.phrases)


def _head_rows(grid: Grid) -> int:
    values = [False] * grid.rows
    for cell in grid.cells:
        if cell.column > 0 and is_number(cell.text) and not _is_year(cell.text):
            for row in range(cell.row, cell.row_end):
                values[row] = True
    return values.index(True) if True in values else 1


def _is_year(text: str) -> bool:
    text = text.strip("*()")
    return len(text) == 4 and text.isdigit() and text[:2] in ("18", "19", "20")


def _at(grid: Grid, row: int, column: int) -> GridCell:
    return next(
        c for c in grid.cells if c.row <= row < c.row_end and c.column <= column < c.column_end
    )


def _is_single(cell: GridCell) -> bool:
    return cell.row_end - cell.row == 1 and cell.column_end - cell.column == 1


def _widen(grid: Grid, head: int, right: list[list[bool]]) -> None:
    """Headings that reach over a parting take the empty places beside them, if heads of columns
    stand under those."""
    for row in range(head - 1):
        for cell in [c for c in grid.cells if c.row == row and c.row_end == row + 1 and c.phrases]:
            left, end = cell.phrases[0].left, max(p.right for p in cell.phrases)
            if place(left, grid.xs) == place(end - 1, grid.xs):
                continue
            for step in (1, -1):
                column = cell.column_end if step == 1 else cell.column - 1
                while 0 < column < grid.columns:
                    beside, under = _at(grid, row, column), _at(grid, row + 1, column)
                    ruled = right[row][column - 1 if step == 1 else column]
                    if beside.phrases or not _is_single(beside) or not under.phrases or ruled:
                        break
                    grid.cells.remove(beside)
                    cell.column = min(cell.column, column)
                    cell.column_end = max(cell.column_end, column + 1)
                    column += step


def _heighten(grid: Grid, head: int, below: list[list[bool]]) -> None:
    """A head with nothing over or under it, and no rule between, stands in both rows."""
    for column in range(grid.columns):
        for row in range(head - 1):
            upper, lower = _at(grid, row, column), _at(grid, row + 1, column)
            if upper is lower or below[row][column]:
                continue
            if bool(upper.phrases) == bool(lower.phrases):
                continue
            if upper.column_end - upper.column != 1 or not _is_single(lower):
                continue
            upper.phrases += lower.phrases
            upper.row_end = lower.row_end
            grid.cells.remove(lower)
