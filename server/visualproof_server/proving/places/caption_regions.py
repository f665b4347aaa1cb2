"""Where the value of a caption stands: right of it, under it, over it, or in its cells."""

from collections.abc import Iterator
from typing import Protocol

from visualproof_server.model.geometry import Box, union, x_overlap, y_overlap
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.places.caption_phrases import Caption, Phrases
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.ticks import is_box

# A value under or above its caption stands within this many heights of it.
_NEAR_HEIGHTS = 3.0
# Rows of a column outside tables that are looked at.
_COLUMN_ROWS = 100


class Prints(Protocol):
    """What captions need to know of a kind: what of some words is one of its values."""

    @property
    def is_text(self) -> bool: ...

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]: ...


class Regions:
    """The sides of the captions of one document."""

    def __init__(self, index: Index, phrases: Phrases) -> None:
        self.index, self._phrases = index, phrases

    def of(self, caption: Caption, kind: Prints) -> Iterator[tuple[str, list[int]]]:
        """Sides of a caption with the words there, best first; a side that is blank has none."""
        index = self.index
        last = caption.run.words[-1]
        cell = index.cells[last]
        if cell is not None and cell.column_header:
            yield "under", self._column(caption)
            return
        right = self._right(caption, kind)
        if right and self._reads_down(caption, kind):
            under = self._below(caption, kind)
            if under:
                yield "under", under
                return
        yield "right", right
        wrapped = self._level(caption)
        if wrapped:
            yield "right", wrapped
        if cell is not None and right:
            return
        yield "under", self._below(caption, kind)
        if not kind.is_text:
            yield "above", self._above(caption)

    def _right(self, caption: Caption, kind: Prints) -> list[int]:
        index = self.index
        last = caption.run.words[-1]
        segment = index.segments[index.segment_of[last]]
        row = index.rows[index.row_of[last]]
        cell = index.cells[last]
        if cell is not None and cell.row_span > 1:
            return [
                w
                for w in index.table_words(index.table_of(last))
                if (other := index.cells[w]) is not None
                and other.column >= cell.column + cell.column_span
                and meet(other.row, other.row_span, cell.row, cell.row_span)
            ]
        own = list(range(caption.end, segment.end))
        if any(c.isalnum() for w in own for c in index.words[w].text):
            cut = self._phrases.inner_caption(own)
            if cut is not None:
                own = [w for w in own if w < cut]
            alone = cut is not None or kind.is_text
            more = [] if alone else self._values_beyond(own, segment.end, row.end)
            return [w for w in own if _says(index.words[w].text)] + more
        beyond = self._values_beyond([], segment.end, row.end)
        if kind.is_text and beyond:
            first = index.segment_of[beyond[0]]
            return [w for w in beyond if index.segment_of[w] == first or self._is_option(w)]
        return beyond

    def _values_beyond(self, own: list[int], start: int, stop: int) -> list[int]:
        """Words of the segments after a caption, up to the next caption."""
        index = self.index
        found: list[int] = []
        word = start
        while word < stop:
            segment = index.segments[index.segment_of[word]]
            if self._phrases.starts_caption(index.segment_of[word]):
                break
            said = [w for w in range(segment.start, segment.end) if _says(index.words[w].text)]
            numeric = any(c.isdigit() for w in said for c in index.words[w].text)
            if (own or found) and not numeric and not self._is_option(word):
                break
            found += said
            word = segment.end
        return found

    def _is_option(self, word: int) -> bool:
        """Whether a word stands in a segment that begins with a check box."""
        segment = self.index.segments[self.index.segment_of[word]]
        return is_box(self.index.words[segment.start].text)

    def _level(self, caption: Caption) -> list[int]:
        """Words right of a caption that stand level with it in another row, or with its other lines."""
        index = self.index
        last = caption.run.words[-1]
        own = {index.row_of[w] for w in caption.run.words}
        for number, words in index.boxes(caption.run.words):
            if number != index.row_of[last]:
                rest = list(range(words[-1] + 1, index.rows[number].end))
                if rest and not self._phrases.starts_caption(index.segment_of[rest[0]]):
                    return rest
        box = index.words[last].box
        for other in self._rows_near(index.page_of(last), box, 0, 0):
            if other in own:
                continue
            level = _right_of(index, other, box)
            if level and not self._phrases.starts_caption(index.segment_of[level[0]]):
                return level
        return []

    def _heads_row(self, caption: Caption, least: int) -> bool:
        """Whether all of a caption's row are captions, with values under several of them."""
        index = self.index
        row = index.rows[index.row_of[caption.run.words[0]]]
        segments = sorted({index.segment_of[w] for w in range(row.start, row.end)})
        if len(segments) < least or any(c.isdigit() for c in row.text):
            return False
        below = self._row_below(index.row_of[caption.run.words[0]])
        if below is None:
            return False
        return self._aligned(segments, below) >= least

    def _aligned(self, segments: list[int], below: int) -> int:
        """How many segments of a row have one of another row under them."""
        index = self.index
        row = index.rows[below]
        under = sorted({index.segment_of[w] for w in range(row.start, row.end)})
        boxes = [self.segment_box(n) for n in under]
        return sum(any(x_overlap(self.segment_box(n), b) > 0 for b in boxes) for n in segments)

    def _reads_down(self, caption: Caption, kind: Prints) -> bool:
        """Whether a caption is one of a row of captions over rows of values."""
        outside = self.index.cells[caption.run.words[-1]] is None
        return outside and self._heads_row(caption, 3 if kind.is_text else 2)

    def _below(self, caption: Caption, kind: Prints) -> list[int]:
        """What stands under a caption: the next line, or its column under a row of captions."""
        under = self._under(caption, kind)
        if under and not kind.is_text and self._reads_down(caption, kind):
            under += self._lower(caption, under)
        return under

    def _lower(self, caption: Caption, under: list[int]) -> list[int]:
        """What stands in a head's column in the rows of values after the first."""
        index = self.index
        row = index.rows[index.row_of[caption.run.words[0]]]
        heads = sorted({index.segment_of[w] for w in range(row.start, row.end)})
        column = self.segment_box(index.segment_of[caption.run.words[-1]])
        found: list[int] = []
        number = self._row_below(index.row_of[under[-1]])
        for _ in range(_COLUMN_ROWS):
            if number is None or self._aligned(heads, number) < 2:
                break
            if self._phrases.starts_caption(index.segments_of(number)[0]):
                break
            for segment in index.segments_of(number):
                if x_overlap(self.segment_box(segment), column) > 0:
                    held = index.segments[segment]
                    found += range(held.start, held.end)
            number = self._row_below(number)
        return [w for w in found if _says(index.words[w].text)]

    def _row_below(self, number: int) -> int | None:
        index = self.index
        row = index.rows[number]
        if number + 1 < len(index.rows) and index.rows[number + 1].page == row.page:
            return number + 1
        return None

    def segment_box(self, number: int) -> Box:
        segment = self.index.segments[number]
        return union([self.index.words[w].box for w in range(segment.start, segment.end)])

    def _column(self, caption: Caption) -> list[int]:
        """Words of the cells under a head."""
        index = self.index
        top = index.cells[caption.run.words[-1]]
        assert top is not None
        return [
            w
            for w in index.table_words(index.table_of(caption.run.words[-1]))
            if (cell := index.cells[w]) is not None
            and not cell.column_header
            and cell.row > top.row
            and meet(cell.column, cell.column_span, top.column, top.column_span)
        ]

    def _under(self, caption: Caption, kind: Prints) -> list[int]:
        """The words of the next line under a caption, if it is no caption itself.

        For texts also the lines that go on under it.
        """
        index = self.index
        run = caption.run
        cell = index.cells[run.words[-1]]
        if cell is not None:
            return [
                w
                for w in index.table_words(index.table_of(run.words[-1]))
                if (other := index.cells[w]) is not None
                and other.row == cell.row + cell.row_span
                and meet(other.column, other.column_span, cell.column, cell.column_span)
                and not self._phrases.starts_caption(index.segment_of[w])
            ]
        box = index.box(run)
        segment = self.segment_box(index.segment_of[run.words[-1]])
        reach = round(_NEAR_HEIGHTS * box.height)
        rows = self._rows_near(index.page_of(run.words[0]), box, 0, reach)
        own = {index.row_of[w] for w in run.words}
        ordered = sorted(
            (r for r in rows if r not in own and self._row_box(r).middle > box.middle),
            key=lambda r: self._row_box(r).middle,
        )
        for row in ordered:
            for number in index.segments_of(row):
                under = self.segment_box(number)
                if x_overlap(under, segment) <= 0:
                    continue
                if self._phrases.starts_caption(number) or self._owned_on_left(number):
                    return []
                held = index.segments[number]
                return [w for w in range(held.start, held.end) if _says(index.words[w].text)]
        return []

    def _owned_on_left(self, number: int) -> bool:
        """Whether a segment has a caption of its own left of it in its row."""
        index = self.index
        segment = index.segments[number]
        row = index.rows[segment.row]
        return segment.start > row.start and bool(
            self._phrases.starts_caption(number - 1)
            and index.segments[number - 1].row == segment.row
            and index.words[segment.start - 1].text.endswith(":")
        )

    def _above(self, caption: Caption) -> list[int]:
        """The words over a caption that stand alone there: a signature's date over its line."""
        index = self.index
        run = caption.run
        if index.words[caption.run.words[-1]].text.endswith(":"):
            return []
        box = index.box(run)
        rows = self._rows_near(
            index.page_of(run.words[0]), box, round(_NEAR_HEIGHTS * box.height), 0
        )
        ordered = sorted(
            (r for r in rows if self._row_box(r).middle < box.top),
            key=lambda r: -self._row_box(r).middle,
        )
        for row in ordered[:1]:
            for number in index.segments_of(row):
                if x_overlap(self.segment_box(number), box) <= 0:
                    continue
                held = index.segments[number]
                first = number and index.segments[number - 1].row == held.row
                if first or self._phrases.starts_caption(number):
                    return []
                return [w for w in range(held.start, held.end) if _says(index.words[w].text)]
        return []

    def _row_box(self, row: int) -> Box:
        return self.index.words[self.index.rows[row].start].box

    def _rows_near(self, page: int, box: Box, above: int, below: int) -> list[int]:
        """Rows of a page that reach into the band from `above` over to `below` under a box."""
        index = self.index
        top, bottom = box.top - above, box.bottom + below
        return [
            row
            for row in index.rows_by_page.get(page, ())
            if any(
                index.words[w].box.bottom > top and index.words[w].box.top < bottom
                for w in (index.rows[row].start, index.rows[row].end - 1)
            )
        ]


def meet(first: int, span: int, other: int, other_span: int) -> bool:
    return first < other + other_span and other < first + span


def _right_of(index: Index, row: int, box: Box) -> list[int]:
    return [
        w
        for w in range(index.rows[row].start, index.rows[row].end)
        if index.words[w].box.left >= box.right
        and y_overlap(index.words[w].box, box) > 0.5 * min(index.words[w].box.height, box.height)
    ]


def _says(text: str) -> bool:
    """Whether a word is more than marks that fill a blank."""
    return any(c.isalnum() for c in text) or any(c in "✓✔✗✘☐☑☒€£$" for c in text)
