"""Where the words of a document stand: pages, rows, tables, and the gaps that part them."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from visualproof_server.model.document import Cell, Document, Page, Word
from visualproof_server.model.geometry import Box, union, x_overlap, y_overlap
from visualproof_server.proving.places.rows import GAP, Row, rows_of
from visualproof_server.proving.places.stream import Run, has_token
from visualproof_server.proving.text.boundaries import NEAR, part_is_cut, part_runs_on
from visualproof_server.proving.text.ticks import is_box, is_ticked


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [start, end) of a row that no gap parts."""

    row: int
    start: int
    end: int


# How far under a row, in its own height, a print that is set lower may begin.
_LOWER = 0.3
# A gap this wide (mean characters of its row, heights) parts two prints.
_GAP_CHARS, _GAP_HEIGHTS = 1.8, 0.75


def wide_gaps(words: Sequence[Word]) -> set[int]:
    """Positions of the words of a line that a gap follows."""
    length = sum(len(w.text) for w in words)
    if length == 0:
        return set()
    width = sum(w.box.width for w in words) / length
    found = set()
    for n, (left, right) in enumerate(pairwise(words)):
        gap = right.box.left - left.box.right
        height = max(left.box.height, right.box.height)
        if gap >= _GAP_CHARS * width and gap >= _GAP_HEIGHTS * height:
            found.add(n)
    return found


class Layout:
    """Words of a document in reading order, and where they stand."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.words: list[Word] = []
        self.ids: list[str] = []
        self.rows: list[Row] = []
        self.row_of: list[int] = []
        self.row_by_line: dict[int, int] = {}
        self.cells: list[Cell | None] = []
        self._beside: dict[tuple[int, int], int | None] = {}
        for page, number, pieces, table, table_row in rows_of(document):
            start, at = len(self.words), 0
            offsets: list[int] = []
            texts: list[str] = []
            for words, name, cell in pieces:
                wide = wide_gaps(words) if cell is None else set()
                for n, word in enumerate(words):
                    # What a gap parts is not one print: no number or date runs over it.
                    parted = bool(texts) and (n == 0 or n - 1 in wide)
                    texts.append((GAP if parted else " " if texts else "") + word.text)
                    offsets.append(at + (len(texts) > 1))
                    at += len(texts[-1])
                self.words += words
                self.ids += [f"{name}.W{n + 1}" for n in range(len(words))]
                self.cells += [cell] * len(words)
            self.row_of += [len(self.rows)] * (len(self.words) - start)
            if number:
                self.row_by_line[number] = len(self.rows)
            text = "".join(texts)
            self.rows.append(
                Row(page, number, start, len(self.words), text, tuple(offsets), table, table_row)
            )

    def page_of(self, word: int) -> int:
        return self.rows[self.row_of[word]].page

    def table_of(self, word: int) -> int:
        """Number of the table that a word stands in, 0 if in none."""
        return self.rows[self.row_of[word]].table

    def table_words(self, number: int) -> list[int]:
        """Words of a table with all its parts."""
        return self._tables.get(number, [])

    @cached_property
    def _tables(self) -> dict[int, list[int]]:
        tables: dict[int, list[int]] = {}
        for row in self.rows:
            if row.table:
                tables.setdefault(row.table, []).extend(range(row.start, row.end))
        return tables

    @cached_property
    def rows_by_page(self) -> dict[int, list[int]]:
        """Numbers of the rows of each page, in reading order."""
        pages: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            pages.setdefault(row.page, []).append(number)
        return pages

    @cached_property
    def segments(self) -> list[Segment]:
        """Words that stand together in a row: between gaps, or in a cell."""
        found: list[Segment] = []
        for number, row in enumerate(self.rows):
            first = row.start
            for word in range(row.start, row.end):
                if word + 1 == row.end or self.parted(word):
                    found.append(Segment(number, first, word + 1))
                    first = word + 1
        return found

    def segments_of(self, row: int) -> list[int]:
        """Numbers of the segments of a row, left to right."""
        held = self.rows[row]
        return sorted({self.segment_of[w] for w in range(held.start, held.end)})

    @cached_property
    def segment_of(self) -> list[int]:
        """For each word the number of its segment."""
        return [n for n, s in enumerate(self.segments) for _ in range(s.start, s.end)]

    def parted(self, word: int) -> bool:
        """Whether a gap or the edge of a cell stands between a word and the next of its row."""
        row = self.rows[self.row_of[word]]
        at = row.offsets[word + 1 - row.start] - 1 if word + 1 < row.end else -1
        return at < 0 or row.text[at] == GAP

    def gap_after(self, word: int) -> float:
        """Space to the next word of the row, in heights of this word; infinite at the end."""
        row = self.rows[self.row_of[word]]
        if word + 1 >= row.end or self.cells[word] is not self.cells[word + 1]:
            return float("inf")
        here, there = self.words[word].box, self.words[word + 1].box
        if self.cells[word] is not None and y_overlap(here, there) == 0:
            return float("inf")
        return (there.left - here.right) / max(1, min(here.height, there.height))

    @cached_property
    def wraps(self) -> list[tuple[Row, Row]]:
        """Pairs of lines of a page that follow each other in one column, so that text may wrap."""
        found = []
        for row, below in pairwise(self.rows):
            if row.page != below.page or row.table or below.table or row.start == row.end:
                continue
            one, other = self.words[row.end - 1].box, self.words[below.start].box
            height = max(1, one.height, other.height)
            if 0 <= other.middle - one.middle <= 3 * height:
                found.append((row, below))
        return found

    @cached_property
    def next_line(self) -> dict[int, int]:
        """The first word of the line below, by the last word of a line."""
        return {row.end - 1: below.start for row, below in self.wraps}

    @cached_property
    def line_before(self) -> dict[int, int]:
        """The last word of the line above, by the first word of a line."""
        return {first: last for last, first in self.next_line.items()}

    def text_of(self, start: int, end: int) -> str:
        """Words [start, end) with single spaces."""
        return " ".join(w.text for w in self.words[start:end])

    def span(self, row: Row, start: int, end: int) -> Run:
        """The run of characters [start, end) of a row's text."""
        first = bisect_right(row.offsets, start) - 1
        last = bisect_right(row.offsets, end - 1) - 1
        words = tuple(range(row.start + first, row.start + last + 1))
        before = row.text[row.offsets[first] : start]
        after = row.text[end : row.offsets[last] + len(self.words[words[-1]].text)]
        return Run(words, row.text[start:end], has_token(before) or has_token(after))

    def runs_on(self, run: Run) -> bool:
        """Whether the digits at an edge of a run go on in its word, over marks."""
        return run.partial and part_runs_on([self.words[w].text for w in run.words], run.text)

    def part(self, run: Run) -> str:
        """Why a run may be only a part of what is printed, as a reason code."""
        if self.runs_on(run):
            return "GROUPING_UNKNOWN"
        if run.partial and part_is_cut([self.words[w].text for w in run.words], run.text):
            return "PART_OF_WORD"
        return ""

    def unbroken(self, run: Run) -> bool:
        """Whether nothing that is read stands between the words of a run."""
        inner = range(run.words[0], run.words[-1])
        return all(w in run.words or not has_token(self.words[w].text) for w in inner)

    def near(self, run: Run) -> tuple[str, str]:
        """The words before and after a run in its row, empty where they are not near."""
        first, last = run.words[0], run.words[-1]
        row = self.rows[self.row_of[first]]
        before = first - 1 if first > row.start and self.gap_after(first - 1) < NEAR else None
        after = last + 1 if last + 1 < row.end and self.gap_after(last) < NEAR else None
        return (
            "" if before is None else self.words[before].text,
            "" if after is None else self.words[after].text,
        )

    def boxes(self, words: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Words grouped by the row they stand in: [(row, words)]."""
        groups: list[tuple[int, tuple[int, ...]]] = []
        for word in words:
            row = self.row_of[word]
            if groups and groups[-1][0] == row:
                groups[-1] = (row, (*groups[-1][1], word))
            else:
                groups.append((row, (word,)))
        return groups

    def box(self, run: Run) -> Box:
        """Around the part of a run on its first page."""
        page = self.page_of(run.words[0])
        return union([self.words[w].box for w in run.words if self.page_of(w) == page])

    @cached_property
    def words_by_table_row(self) -> dict[tuple[int, int], list[int]]:
        """Words of each row of each table, (table, row) from 1; merged cells count in all rows."""
        rows: dict[tuple[int, int], list[int]] = {}
        for word, cell in enumerate(self.cells):
            if cell is not None:
                for row in range(cell.row, cell.row + cell.row_span):
                    rows.setdefault((self.table_of(word), row), []).append(word)
        return rows

    @cached_property
    def _row_boxes(self) -> list[Box]:
        return [union([w.box for w in self.words[r.start : r.end]]) for r in self.rows]

    @cached_property
    def _rows_by_top(self) -> dict[int, tuple[list[int], list[int], int]]:
        """By page: the rows' tops from the highest on, these rows, and the height of the tallest."""
        found = {}
        for page, rows in self.rows_by_page.items():
            ordered = sorted(rows, key=lambda row: self._row_boxes[row].top)
            boxes = [self._row_boxes[row] for row in ordered]
            found[page] = ([b.top for b in boxes], ordered, max(b.height for b in boxes))
        return found

    def row_beside(self, run: Run) -> int | None:
        """The one other row that a print right or left of it is level with, if it is set a little
        lower: a column of its own."""
        key = (run.words[0], run.words[-1])
        if key not in self._beside:
            self._beside[key] = self._row_beside(run)
        return self._beside[key]

    def _row_beside(self, run: Run) -> int | None:
        box, own = self.box(run), self.row_of[run.words[0]]
        # Half a line lower is the row's still.
        box = replace(box, top=box.top - round(_LOWER * box.height))
        tops, rows, tallest = self._rows_by_top[self.page_of(run.words[0])]
        level: int | None = None
        for row in rows[bisect_left(tops, box.top - tallest) : bisect_left(tops, box.bottom)]:
            if row == own or y_overlap(self._row_boxes[row], box) <= 0:
                continue
            if level is not None:
                return None
            level = row
        return None if level is None or x_overlap(self._row_boxes[level], box) > 0 else level

    def boxes_of(self, row: int) -> Counter[bool]:
        """How many check boxes of a row are ticked, and how many are not."""
        return self._boxes_by_row.get(row, Counter())

    @cached_property
    def _boxes_by_row(self) -> dict[int, Counter[bool]]:
        found: dict[int, Counter[bool]] = {}
        for word, row in zip(self.words, self.row_of, strict=True):
            if is_box(word.text):
                found.setdefault(row, Counter())[bool(is_ticked(word.text))] += 1
        return found

    @cached_property
    def doubtful_tables(self) -> frozenset[int]:
        """Numbers of tables whose rows or columns are doubtful."""
        return frozenset(t.number for t in self.document.tables if t.table.doubtful)

    def page(self, number: int) -> Page | None:
        return self.document.page(number)
