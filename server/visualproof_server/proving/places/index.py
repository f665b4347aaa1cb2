"""A document made searchable: built once a document, then shared by all its answers."""

from collections.abc import Callable, Iterator, Sequence
from datetime import time
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

from visualproof_server.model.document import Document, Trust
from visualproof_server.proving.places import decimal_marks
from visualproof_server.proving.places.columns import column_order
from visualproof_server.proving.places.layout import Layout
from visualproof_server.proving.places.rows import Row
from visualproof_server.proving.places.stream import Run, Stream, confused_tokens, word_tokens
from visualproof_server.proving.text.boundaries import NEAR, continues
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import Token, fold_text, plain, unconfused
from visualproof_server.proving.values.dates import DateRead, scan_dates, scan_times
from visualproof_server.proving.values.number_read import NumberRead
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.proving.values.units import currencies_named
from visualproof_server.proving.vocabulary.words import vocabulary

if TYPE_CHECKING:
    from visualproof_server.proving.places.stated import Statements

UNSURE = frozenset({Trust.DOUBTFUL, Trust.UNCLEAR})
# A page of whose words so many are unsure is unclear.
_UNCLEAR_PAGE = 0.25


class Index(Layout):
    """A layout with the streams and readings made from its words."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        # One answer asks for the same text several times: as proof, as value, as label.
        self.known_texts: dict[str, list[Run]] = {}
        self._streams: dict[Callable[[str], Sequence[Token]], Stream] = {}

    def warm(self) -> None:
        """Builds what most answers ask for."""
        _ = self.lines, self.columns, self.numbers, self.dates

    def stream(self, tokenize: Callable[[str], Sequence[Token]]) -> Stream:
        """Words in reading order, by the tokens that a kind compares; kept for the next claim."""
        if tokenize not in self._streams:
            self._streams[tokenize] = Stream(self.words, range(len(self.words)), tokenize)
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
            self.words, column_order(self.rows, self.words, self.cells, self.gap_after), word_tokens
        )

    @property
    def confused(self) -> Stream:
        """Words in reading order with look-alike characters merged."""
        return self.stream(confused_tokens)

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
        return decimal_marks.prints_cents(read for _, read in self.numbers)

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
    def unclear_page(self) -> int | None:
        """The first page much of which was not read for sure: what is not found may stand there."""
        for page in self.document.pages:
            words = [w for w in page.words if any(c.isalnum() for c in w.text)]
            doubtful = sum(w.trust in UNSURE and w.confidence is not None for w in words)
            if doubtful > _UNCLEAR_PAGE * len(words):
                return page.number
        return None

    @cached_property
    def grouping_mark(self) -> str:
        """The mark by which the document groups digits; empty where it shows none, or several."""
        return decimal_marks.grouping_mark(read for _, read in self.numbers)

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

    @cached_property
    def dated(self) -> frozenset[int]:
        """All words of dates."""
        return frozenset(w for run, _ in self.dates for w in run.words)

    def _wrapped_dates(self) -> Iterator[tuple[Run, DateRead]]:
        months = vocabulary().months
        for row, below in self.wraps:
            last = self.segments[self.segment_of[row.end - 1]]
            first = self.segments[self.segment_of[below.start]]
            left = list(range(max(last.start, last.end - 5), last.end))
            right = list(range(first.start, min(first.end, first.start + 4)))
            text = plain(self.text_of(left[0], left[-1] + 1)) + " "
            cut = len(text)
            text += plain(self.text_of(right[0], right[-1] + 1))
            begins = self.words[right[0]].text
            if not begins[0].isdigit() and fold_text(begins).strip(".,") not in months:
                # A date goes on with its day, its month or its year.
                continue
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
        """The document's own decimal mark; empty where its numbers do not tell or disagree."""
        return decimal_marks.decimal_mark(read for _, read in self.numbers)

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
