"""The words of a document column by column."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from visualproof_server.model.document import Cell, Word
from visualproof_server.model.geometry import Box, union, x_overlap
from visualproof_server.proving.places.rows import Row
from visualproof_server.proving.places.stream import Run

if TYPE_CHECKING:
    from visualproof_server.proving.places.index import Index

# A gap of this many line heights parts two columns of a row.
COLUMN_GAP = 1.5
# Lines of one column follow each other within this many line heights.
LINE_DISTANCE = 1.6


def column_order(
    rows: Sequence[Row],
    words: Sequence[Word],
    cells: Sequence[Cell | None],
    gap_after: Callable[[int], float],
) -> Iterable[int | None]:
    """Words by chains of row pieces: each piece follows the one above it in its column; None parts
    chains, which have nothing to do with each other.

    Those of tables go by column, then by row, whatever page they are on.
    """
    by_page: dict[int, list[list[tuple[Box, list[int]]]]] = {}
    in_cells: list[tuple[int, int, int, int]] = []
    for row in rows:
        chains = by_page.setdefault(row.page, [])
        piece: list[int] = []
        for word in range(row.start, row.end):
            cell = cells[word]
            if cell is not None:
                in_cells.append((row.table, cell.column, cell.row, word))
                continue
            piece.append(word)
            if word + 1 == row.end or gap_after(word) > COLUMN_GAP:
                _chain(chains, union([words[w].box for w in piece]), piece)
                piece = []
    for chains in by_page.values():
        for chain in chains:
            for _, numbers in chain:
                yield from numbers
            yield None
    for _, group in groupby(sorted(in_cells), key=lambda place: place[:2]):
        yield from (word for *_, word in group)
        yield None


def _chain(chains: list[list[tuple[Box, list[int]]]], box: Box, words: list[int]) -> None:
    best, best_shared = None, 0.0
    for chain in chains[-60:]:
        above = chain[-1][0]
        height = max(1, min(above.height, box.height))
        if not -0.5 * height <= box.top - above.bottom <= LINE_DISTANCE * height:
            continue
        shared = x_overlap(above, box) / max(1, min(above.width, box.width))
        if shared > max(best_shared, 0.3):
            best, best_shared = chain, shared
    if best is None:
        chains.append([(box, words)])
    else:
        best.append((box, words))


# Numbers of one column end within this many of their heights of each other.
_SAME_EDGE = 0.8


def column_prints_cents(run: "Run", index: "Index") -> bool:
    """Whether the other numbers of a number's own column show two decimals, but for a few."""
    cell = index.cells[run.words[0]]
    if cell is not None:
        words = index.table_words(index.table_of(run.words[0]))
        column = [
            read.decimals == 2
            for word in words
            if (other := index.cells[word]) is not None
            and other.column == cell.column
            and word not in run.words
            for _, read in index.numbers_by_word.get(word, ())
        ]
    else:
        column = list(_same_edge(run, index))
    return len(column) >= 2 and sum(column) >= 0.8 * len(column)


def _same_edge(run: "Run", index: "Index") -> Iterable[bool]:
    box, page = index.box(run), index.page_of(run.words[0])
    edges, cents = index.right_edges.get(page, ([], []))
    reach = round(_SAME_EDGE * max(1, box.height))
    first, last = bisect_left(edges, box.right - reach), bisect_right(edges, box.right + reach)
    own = index.words[run.words[-1]].box
    return (
        two
        for at, (top, two) in zip(edges[first:last], cents[first:last])
        if (at, top) != (own.right, own.top)
    )
