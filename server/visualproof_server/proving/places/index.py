"""A document made searchable: built once a document, then shared by all its answers."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from visualproof_server.model.document import Cell, Document, Page, Word
from visualproof_server.model.geometry import Box, union, y_overlap
from visualproof_server.proving.places.columns import column_order
from visualproof_server.proving.places.rows import CELL_GAP, Row, rows_of
from visualproof_server.proving.text import folding as normalize
from visualproof_server.proving.text.boundaries import NEAR, continues, part_is_cut, part_runs_on
from visualproof_server.proving.text.folding import Token, confusable, plain, unconfused
from visualproof_server.proving.values.dates import DateRead, scan_dates
from visualproof_server.proving.values.numbers import NumberRead, scan_numbers


@dataclass(frozen=True, slots=True)
class Run:
    """Printed words, in reading order, and what of their text is meant.

    partial: the first or last word holds more than the text.
    """

    words: tuple[int, ...]
    text: str
    partial: bool = False


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
        self.cache: dict[str, Any] = {}
        for page, number, pieces, table, table_row in rows_of(document):
            start, at = len(self.words), 0
            offsets: list[int] = []
            for words, name, cell in pieces:
                self.words += words
                self.ids += [f"{name}.W{n + 1}" for n in range(len(words))]
                self.cells += [cell] * len(words)
                for word in words:
                    offsets.append(at)
                    at += len(word.text) + 1
            self.row_of += [len(self.rows)] * (len(self.words) - start)
            # What no cell has inside parts them: a number or date never runs over two cells.
            text = CELL_GAP.join(" ".join(w.text for w in words) for words, _, _ in pieces)
            if number:
                self.row_by_line[number] = len(self.rows)
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
        if "tables" not in self.cache:
            tables: dict[int, list[int]] = {}
            for row in self.rows:
                if row.table:
                    tables.setdefault(row.table, []).extend(range(row.start, row.end))
            self.cache["tables"] = tables
        words: list[int] = self.cache["tables"].get(number, [])
        return words

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

    @cached_property
    def lines(self) -> Stream:
        """Words in reading order."""
        return Stream(self, range(len(self.words)), word_tokens)

    @cached_property
    def columns(self) -> Stream:
        """Words in the order of columns: pieces of rows chained with what stands under them."""
        return Stream(
            self, column_order(self.rows, self.words, self.cells, self.gap_after), word_tokens
        )

    @cached_property
    def confused(self) -> Stream:
        """Words in reading order with look-alike characters merged."""
        return Stream(self, range(len(self.words)), _confused_tokens)

    @cached_property
    def numbers(self) -> list[tuple[Run, NumberRead]]:
        """Every printed number."""
        found = []
        for row in self.rows:
            for read in scan_numbers(plain(row.text)):
                run = self.span(row, read.start, read.end)
                if read.loose == "joined":
                    # Wide gaps part columns, not groups of one number.
                    if all(self.gap_after(w) < NEAR for w in run.words[:-1]):
                        found.append((run, read))
                else:
                    found.append((run, read.with_loose(read.loose or self._loose(row, read))))
        return found

    @cached_property
    def groups_by_mark(self) -> bool:
        """Whether a number of the document groups by comma, dot or apostrophe, so none by spaces."""
        return any(
            "'" in read.digits or ("." in read.digits and "," in read.digits)
            for _, read in self.numbers
        )

    @cached_property
    def dates(self) -> list[tuple[Run, DateRead]]:
        """Every printed date."""
        return [
            (self.span(row, read.start, read.end), read)
            for row in self.rows
            for read in scan_dates(plain(row.text))
        ]

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
        """The document's own decimal mark, by its unambiguous numbers; empty if they disagree, or
        if more numbers than those have three digits after it, as after a mark that groups."""
        votes, grouped = {".": 0, ",": 0}, {".": 0, ",": 0}
        for _, read in self.numbers:
            if len(read.readings) == 1 and read.readings[0].mark in votes:
                votes[read.readings[0].mark] += 1
            elif len(read.readings) == 2:
                grouped[read.readings[1].mark] += 1
        (winner, most), (_, least) = sorted(votes.items(), key=lambda v: -v[1])
        return winner if most > grouped[winner] and not least * 10 > most else ""

    @cached_property
    def date_orders(self) -> frozenset[str]:
        """Orders of day and month that the document's unambiguous dates use."""
        return frozenset(
            read.readings[0].order
            for _, read in self.dates
            if len({r.day for r in read.readings}) == 1 and read.readings[0].order in ("DMY", "MDY")
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
    """`normalize.tokens` of one word."""
    return tuple(normalize.tokens(text))


@lru_cache(maxsize=65536)
def _confused_tokens(text: str) -> tuple[Token, ...]:
    return tuple(
        Token("_" + merged if merged[0].isdigit() else merged, t.start, t.end)
        for t in normalize.tokens(text)
        if (merged := confusable(t.text))
    )


def _has_token(text: str) -> bool:
    return any(c.isalnum() for c in text)
