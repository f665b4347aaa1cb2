"""A document made searchable: built once a document, then shared by all its answers."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from visualproof_server.model.document import Cell, Document, Page, Word
from visualproof_server.model.geometry import Box, union, y_overlap
from visualproof_server.proving.places.columns import column_order
from visualproof_server.proving.places.rows import GAP, Row, rows_of
from visualproof_server.proving.text import folding
from visualproof_server.proving.text.boundaries import NEAR, continues, part_is_cut, part_runs_on
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import Token, confusable, plain, unconfused
from visualproof_server.proving.values.dates import DateRead, scan_dates, scan_times
from visualproof_server.proving.values.number_read import NumberRead
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.proving.values.units import currencies_named

if TYPE_CHECKING:
    from visualproof_server.proving.places.stated import Statements


@dataclass(frozen=True, slots=True)
class Run:
    """Printed words, in reading order, and what of their text is meant.

    partial: the first or last word holds more than the text.
    """

    words: tuple[int, ...]
    text: str
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [start, end) of a row that no gap parts."""

    row: int
    start: int
    end: int


# Doubts under which a number tells nothing of the document's marks.
_NOT_TELLING = frozenset({Doubt.GROUPING_UNKNOWN, Doubt.JOINED, Doubt.SPACED})
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


class Stream:
    """Words in some order as one compact text that can be searched with str.find."""

    def __init__(
        self,
        index: "Index",
        order: Iterable[int | None],
        tokenize: Callable[[str], Sequence[Token]],
    ) -> None:
        """None in order parts what stands before it from what comes after."""
        self._index = index
        self._starts: list[int] = []
        self._tokens: list[tuple[int, Token]] = []
        pieces: list[str] = []
        at, last_digit = 0, False
        for word in order:
            if word is None:
                pieces.append("\n")
                at, last_digit = at + 1, False
                continue
            for token in tokenize(index.words[word].text):
                if last_digit and token.text[0].isdigit():
                    pieces.append(" ")
                    at += 1
                self._starts.append(at)
                self._tokens.append((word, token))
                pieces.append(token.text)
                at += len(token.text)
                last_digit = token.text[-1].isdigit()
        self.text = "".join(pieces)

    def find(self, sought: str, limit: int = 200) -> list[Run]:
        """Runs whose compact text is `sought`, starting and ending at token boundaries."""
        runs: list[Run] = []
        if not sought:
            return runs
        at = self.text.find(sought)
        while at >= 0 and len(runs) < limit:
            run = self._run(at, at + len(sought))
            if run is not None:
                runs.append(run)
            at = self.text.find(sought, at + 1)
        return runs

    def _run(self, start: int, end: int) -> Run | None:
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        if self._starts[first] != start:
            return None
        if self._starts[last] + len(self._tokens[last][1].text) != end:
            return None
        return self._index.run_of([self._tokens[i] for i in range(first, last + 1)])


class Index:
    """Words of a document in reading order, with the streams and readings made from them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.words: list[Word] = []
        self.ids: list[str] = []
        self.rows: list[Row] = []
        self.row_of: list[int] = []
        self.row_by_line: dict[int, int] = {}
        self.cells: list[Cell | None] = []
        # One answer asks for the same text several times: as proof, as value, as label.
        self.known_texts: dict[str, list[Run]] = {}
        self._streams: dict[Callable[[str], Sequence[Token]], Stream] = {}
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

    def text_of(self, start: int, end: int) -> str:
        """Words [start, end) with single spaces."""
        return " ".join(w.text for w in self.words[start:end])

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
    def doubtful_tables(self) -> frozenset[int]:
        """Numbers of tables whose rows or columns are doubtful."""
        return frozenset(t.number for t in self.document.tables if t.table.doubtful)

    def page(self, number: int) -> Page | None:
        return self.document.page(number)

    def warm(self) -> None:
        """Builds what most answers ask for."""
        _ = self.lines, self.columns, self.numbers, self.dates

    def stream(self, tokenize: Callable[[str], Sequence[Token]]) -> Stream:
        """Words in reading order, by the tokens that a kind compares; kept for the next claim."""
        if tokenize not in self._streams:
            self._streams[tokenize] = Stream(self, range(len(self.words)), tokenize)
        return self._streams[tokenize]

    @property
    def lines(self) -> Stream:
        """Words in reading order."""
        return self.stream(word_tokens)

    @cached_property
    def rows_by_token(self) -> dict[str, list[int]]:
        """Rows that print each token."""
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            for word in range(row.start, row.end):
                for token in word_tokens(self.words[word].text):
                    rows = found.setdefault(token.text, [])
                    if not rows or rows[-1] != number:
                        rows.append(number)
        return found

    @cached_property
    def columns(self) -> Stream:
        """Words in the order of columns: pieces of rows chained with what stands under them."""
        return Stream(
            self, column_order(self.rows, self.words, self.cells, self.gap_after), word_tokens
        )

    @property
    def confused(self) -> Stream:
        """Words in reading order with look-alike characters merged."""
        return self.stream(_confused_tokens)

    @cached_property
    def numbers(self) -> list[tuple[Run, NumberRead]]:
        """Every printed number."""
        return [
            (self.span(row, read.start, read.end), self._neighboured(row, read))
            for row in self.rows
            for read in scan_numbers(plain(row.text))
        ]

    @cached_property
    def numbers_by_size(self) -> dict[Decimal, list[tuple[Run, NumberRead]]]:
        """Numbers by each value they may have, sign aside."""
        table: dict[Decimal, list[tuple[Run, NumberRead]]] = {}
        for hit in self.numbers:
            for size in {abs(value) for value in hit[1].values()}:
                table.setdefault(size, []).append(hit)
        return table

    @cached_property
    def numbers_by_word(self) -> dict[int, list[tuple[Run, NumberRead]]]:
        """Numbers by each word they stand in."""
        table: dict[int, list[tuple[Run, NumberRead]]] = {}
        for hit in self.numbers:
            for word in hit[0].words:
                table.setdefault(word, []).append(hit)
        return table

    @cached_property
    def prints_cents(self) -> bool:
        """Whether the document's amounts show two decimals, but for a few."""
        amounts = [r for _, r in self.numbers if r.currencies or r.decimals == 2]
        cents = sum(r.decimals == 2 for r in amounts)
        return cents >= 3 and cents >= 0.8 * len(amounts)

    @cached_property
    def right_edges(self) -> dict[int, tuple[list[int], list[tuple[int, bool]]]]:
        """By page, where numbers outside tables end, sorted, with their tops and whether they show
        two decimals."""
        found: dict[int, list[tuple[int, int, bool]]] = {}
        for run, read in self.numbers:
            if self.cells[run.words[-1]] is None and Doubt.JOINED not in read.doubts:
                box = self.words[run.words[-1]].box
                edges = found.setdefault(self.page_of(run.words[0]), [])
                edges.append((box.right, box.top, read.decimals == 2))
        return {
            page: ([right for right, *_ in sorted(edges)], [(t, c) for _, t, c in sorted(edges)])
            for page, edges in found.items()
        }

    @cached_property
    def currencies(self) -> frozenset[frozenset[str]]:
        """What the document's amounts, and words that are currencies, may stand for."""
        found = {read.currencies for _, read in self.numbers if read.currencies}
        for word in self.words:
            text = plain(word.text).strip("().,:;[]")
            if text.isupper() or not text.isalpha():
                found.add(currencies_named(text))
        return frozenset(found - {frozenset()})

    @cached_property
    def statements(self) -> "Statements":
        """What captions say of numbers: scale, currency, unit."""
        from visualproof_server.proving.places.stated import Statements

        return Statements(self)

    @cached_property
    def groups_by_mark(self) -> bool:
        """Whether a number of the document groups by comma, dot or apostrophe, so none by spaces."""
        return any(
            "'" in read.digits or ("." in read.digits and "," in read.digits)
            for _, read in self.numbers
        )

    @cached_property
    def dates(self) -> list[tuple[Run, DateRead]]:
        """Every printed date, also over a line's end."""
        found = [
            (self.span(row, read.start, read.end), read)
            for row in self.rows
            for read in scan_dates(plain(row.text))
        ]
        return found + list(self._wrapped_dates())

    @cached_property
    def date_words(self) -> frozenset[int]:
        """Words that dates begin with."""
        return frozenset(run.words[0] for run, _ in self.dates)

    def _wrapped_dates(self) -> Iterator[tuple[Run, DateRead]]:
        for row, below in self.wraps:
            last = self.segments[self.segment_of[row.end - 1]]
            first = self.segments[self.segment_of[below.start]]
            left = list(range(max(last.start, last.end - 5), last.end))
            right = list(range(first.start, min(first.end, first.start + 4)))
            text = plain(self.text_of(left[0], left[-1] + 1)) + " "
            cut = len(text)
            text += plain(self.text_of(right[0], right[-1] + 1))
            if not any(c.isdigit() for c in text):
                continue
            for read in scan_dates(text):
                if read.start < cut - 1 < read.end - 1 and read.end > cut:
                    yield self._over(left + right, text, read.start, read.end), read

    def _over(self, words: list[int], text: str, start: int, end: int) -> Run:
        """The run of characters [start, end) of some words joined by spaces."""
        at, chosen = 0, []
        for word in words:
            stop = at + len(self.words[word].text)
            if at < end and start < stop:
                chosen.append(word)
            at = stop + 1
        return Run(tuple(chosen), text[start:end])

    @cached_property
    def times(self) -> list[tuple[Run, time]]:
        """Every printed time of day."""
        return [
            (self.span(row, read.start, read.end), read.clock)
            for row in self.rows
            for read in scan_times(plain(row.text))
        ]

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
    def misread_numbers(self) -> list[tuple[Run, NumberRead]]:
        """Numbers that would be printed if look-alike letters were misread digits."""
        return [
            (self.span(row, read.start, read.end), read)
            for row, text in self._misread_rows
            for read in scan_numbers(text)
            if row.text[read.start : read.end] != text[read.start : read.end]
        ]

    @cached_property
    def misread_dates(self) -> list[tuple[Run, DateRead]]:
        """Dates likewise."""
        return [
            (self.span(row, read.start, read.end), read)
            for row, text in self._misread_rows
            for read in scan_dates(text)
            if row.text[read.start : read.end] != text[read.start : read.end]
        ]

    @cached_property
    def _misread_rows(self) -> list[tuple[Row, str]]:
        pairs = [(row, plain(row.text)) for row in self.rows]
        return [(row, changed) for row, text in pairs if (changed := unconfused(text)) != text]

    @cached_property
    def decimal_mark(self) -> str:
        """The document's own decimal mark; empty where its numbers do not tell or disagree.

        What has both marks or several groups tells for sure. Else what can be read in one way
        only does, unless more numbers than those have three digits after the same mark, as after
        one that groups.
        """
        sure, votes, grouped = set(), {".": 0, ",": 0}, {".": 0, ",": 0}
        for _, read in self.numbers:
            if read.doubts & _NOT_TELLING:
                continue
            mark = read.readings[0].mark
            if len(read.readings) == 1 and mark in votes:
                marks = read.digits.count(".") + read.digits.count(",")
                if marks > 1:
                    sure.add(mark)
                votes[mark] += 1
            elif len(read.readings) == 2:
                grouped[read.readings[1].mark] += 1
        if len(sure) == 1:
            return sure.pop()
        (winner, most), (_, least) = sorted(votes.items(), key=lambda v: -v[1])
        return winner if most > grouped[winner] and not least * 10 > most and not sure else ""

    @cached_property
    def years(self) -> tuple[int, ...]:
        """Years of the document's dates that print four digits, sorted."""
        return tuple(
            sorted(
                {d.year for _, r in self.dates if not r.short and len(r.days) == 1 for d in r.days}
            )
        )

    @cached_property
    def date_orders(self) -> frozenset[str]:
        """Orders of day and month that the document's unambiguous dates use."""
        return frozenset(
            read.readings[0].order
            for _, read in self.dates
            if len({(r.day.month, r.day.day) for r in read.readings}) == 1
            and read.readings[0].order in ("DMY", "MDY")
        )

    def run_of(self, parts: list[tuple[int, Token]]) -> Run:
        """The run of tokens given with their words."""
        words = list(dict.fromkeys(word for word, _ in parts))
        first_word, first = parts[0]
        last_word, last = parts[-1]
        first_text, last_text = self.words[first_word].text, self.words[last_word].text
        cut_left = _has_token(first_text[: first.start])
        cut_right = _has_token(last_text[last.end :])
        left = first.start if cut_left else 0
        # A comma or colon after the print is the sentence's, a closing period may be a word's.
        right = last.end if cut_right else max(last.end, len(last_text.rstrip(",;:")))
        if len(words) == 1:
            text = first_text[left:right]
        else:
            middle = [self.words[w].text for w in words[1:-1]]
            text = " ".join([first_text[left:], *middle, last_text[:right]])
        return Run(tuple(words), text, cut_left or cut_right)

    def span(self, row: Row, start: int, end: int) -> Run:
        """The run of characters [start, end) of a row's text."""
        first = bisect_right(row.offsets, start) - 1
        last = bisect_right(row.offsets, end - 1) - 1
        words = tuple(range(row.start + first, row.start + last + 1))
        before = row.text[row.offsets[first] : start]
        after = row.text[end : row.offsets[last] + len(self.words[words[-1]].text)]
        return Run(words, row.text[start:end], _has_token(before) or _has_token(after))

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
        return all(w in run.words or not _has_token(self.words[w].text) for w in inner)

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

    def gap_after(self, word: int) -> float:
        """Space to the next word of the row, in heights of this word; infinite at the end."""
        row = self.rows[self.row_of[word]]
        if word + 1 >= row.end or self.cells[word] is not self.cells[word + 1]:
            return float("inf")
        here, there = self.words[word].box, self.words[word + 1].box
        if self.cells[word] is not None and y_overlap(here, there) == 0:
            return float("inf")
        return (there.left - here.right) / max(1, min(here.height, there.height))

    def _neighboured(self, row: Row, read: NumberRead) -> NumberRead:
        """A number with the doubt that print close to it may belong to it."""
        if Doubt.JOINED in read.doubts:
            return read
        reason = self._loose(row, read)
        if not reason:
            return read
        return read.doubted(Doubt.SPACED if reason == "group" else Doubt.GROUPING_UNKNOWN)

    def _loose(self, row: Row, read: NumberRead) -> str:
        """Why a number may be longer than it was read: "", "mark", "close" or "group"."""
        run = self.span(row, read.start, read.end)
        last, first = run.words[-1], run.words[0]
        if read.end == row.offsets[last - row.start] + len(self.words[last].text):
            text = plain(self.words[last + 1].text) if last + 1 < row.end else ""
            reason = continues(plain(self.words[last].text), text, self.gap_after(last))
            if reason:
                return reason
        elif last + 1 < row.end and row.text[read.end] in ".,":
            if row.text[read.end + 1] == " " and row.text[read.end + 2].isdigit():
                if self.gap_after(last) < NEAR:
                    return "mark"
        if read.start == row.offsets[first - row.start] and first > row.start:
            before = plain(self.words[first - 1].text)
            return continues(before, plain(self.words[first].text), self.gap_after(first - 1))
        return ""


@lru_cache(maxsize=65536)
def word_tokens(text: str) -> tuple[Token, ...]:
    """`folding.tokens` of one word."""
    return tuple(folding.tokens(text))


@lru_cache(maxsize=65536)
def _confused_tokens(text: str) -> tuple[Token, ...]:
    return tuple(
        Token("_" + merged if merged[0].isdigit() else merged, t.start, t.end)
        for t in folding.tokens(text)
        if (merged := confusable(t.text))
    )


def _has_token(text: str) -> bool:
    return any(c.isalnum() for c in text)
