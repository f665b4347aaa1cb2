"""Captions: what print calls a value, and where the value of a caption stands.

A caption is a whole phrase, bounded by a gap, a colon, another value, a line of heads or the end of a
sentence. A label is compared with all of it: `Total` is not `Sub-Total`, `Total VAT` or `Total qty`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from visualproof_server.model.geometry import Box, union, x_overlap, y_overlap
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values import spelled
from visualproof_server.proving.values.units import currencies_named
from visualproof_server.proving.vocabulary.words import Words, caption_words, vocabulary

# A value under or above its caption stands within this many heights of it.
_NEAR_HEIGHTS = 3.0
_MAX_PLACES = 60
# A caption before a colon has at most so many words.
_CAPTION_WORDS = 6
# Lines of a text that stands under its caption.
_BLOCK_LINES = 6
_SENTENCE_END = (".", "!", "?", ";")


class Tier(IntEnum):
    """How much of a caption a label is: smaller is better."""

    EQUAL = 0
    NEUTRAL = 1
    PART = 2


class Prints(Protocol):
    """What captions need to know of a kind: what of some words is one of its values."""

    @property
    def is_text(self) -> bool: ...

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]: ...


@dataclass(frozen=True, slots=True)
class Caption:
    """A printed label. end is the word after its whole phrase, in its row; tier says how much of
    the phrase the label is."""

    run: Run
    end: int
    tier: Tier


@dataclass(frozen=True, slots=True)
class Labelled:
    """What stands at one caption: all of the first print of the kind on its nearest side.

    words is all that stands there, whatever it is; empty where nothing does. side is "right",
    "under", "above", "cell", or "" where the place is blank.
    """

    label: Run
    side: str
    values: tuple[Run, ...]
    words: tuple[int, ...]
    tier: Tier

    @property
    def blank(self) -> bool:
        return not self.words


def has_context(field: FieldSpec) -> bool:
    """Whether the field says where its value should stand."""
    return bool(field.labels or field.row_label or field.column_label)


class Captions:
    """The captions of one document, for one request; `others` are the labels of all its fields."""

    def __init__(self, index: Index, others: Iterable[str] = ()) -> None:
        self.index = index
        self._others = frozenset(caption_words(label) for label in others)
        self._starts: dict[int, int] = {}

    def of(self, labels: Iterable[str], of_text: bool) -> list[Caption]:
        """Where any of some labels is printed, whole words only, the longest label first."""
        found: list[Caption] = []
        taken: set[int] = set()
        for label in sorted({label for label in labels if label}, key=len, reverse=True):
            for run in locate.exact(label, self.index):
                if not taken & set(run.words):
                    taken |= set(run.words)
                    found.append(self._caption(run, of_text))
        found.sort(key=lambda c: c.run.words[0])
        return found[:_MAX_PLACES]

    def labelled(self, field: FieldSpec, kind: Prints) -> list[Labelled]:
        """For each printed label of a field, what stands at it; the best captions only.

        A label that is a whole caption outranks one that is a part of one; a value right of its
        caption says more than one under or above. A field with row and column label is looked for
        where that row and that column meet.
        """
        if field.row_label and field.column_label:
            return self._crossed(field, kind)
        labels = (*field.labels, field.row_label, field.column_label)
        return best([self.place(c, field, kind) for c in self.of(labels, kind.is_text)])

    def is_whole_value(self, run: Run) -> bool:
        """Whether a run is all that stands after a caption with a colon, or in a cell."""
        index = self.index
        first, last = run.words[0], run.words[-1]
        row = index.rows[index.row_of[first]]
        ends = index.parted(last) or index.words[last].text.endswith((",", ";"))
        if index.cells[first] is not None and index.table_of(first):
            return ends and (first == row.start or index.parted(first - 1))
        return ends and first > row.start and index.words[first - 1].text.endswith((":", "?"))

    def place(self, caption: Caption, field: FieldSpec, kind: Prints) -> Labelled:
        """What stands at one caption."""
        empty: Labelled | None = None
        for side, words in self._regions(caption, kind):
            values = self._values(words, side, field, kind)
            made = Labelled(caption.run, side, tuple(values), tuple(words), caption.tier)
            if values or (side == "right" and words):
                return made
            if empty is None and words:
                empty = made
        return empty or Labelled(caption.run, "", (), (), caption.tier)

    def _values(self, words: list[int], side: str, field: FieldSpec, kind: Prints) -> list[Run]:
        values = kind.printed(words, field, self.index)
        if not values or kind.is_text:
            return values
        if side != "right":
            return values
        # What stands first is the caption's; words before it that are no value own it instead.
        lead = [w for w in words if w < values[0].words[0]]
        if lead and not self._leads(lead):
            return []
        # Of a clause only the first value is the caption's; those right beside it are rivals.
        own = self.index.segment_of[values[0].words[0]]
        kept = [values[0]]
        for value in values[1:]:
            beside = value.words[0] == kept[-1].words[-1] + 1
            if self.index.words[value.words[0]].text.startswith("(") and not value.text.startswith(
                "("
            ):
                # 12 (2023: 15): what is in brackets is said by the way.
                break
            if beside or self.index.segment_of[value.words[0]] != own:
                kept.append(value)
        return kept

    def _leads(self, words: list[int]) -> bool:
        """Whether words may stand between a caption and its value: number words, units, articles."""
        texts = [self.index.words[w].text for w in words]
        said = [fold_text(t).strip(".,:;()[]-*#=\"'") for t in texts]
        unknown = [t for t in said if t and not self._is_neutral(t) and not _is_number_word(t)]
        if any(t.endswith(_SENTENCE_END) and len(t) > 3 for t in texts[:-1]):
            return False
        if any((t,) in vocabulary().negations for t in said):
            return False
        if self._inner_caption(words) is not None:
            return False
        return len(unknown) <= 2

    # Whole captions

    def _caption(self, run: Run, of_text: bool) -> Caption:
        """The whole phrase that a printed label stands in."""
        index = self.index
        last = run.words[-1]
        segment = index.segments[index.segment_of[last]]
        left = self._before(run)
        right, end = self._after(run, last, segment.end)
        if not of_text and end < segment.end:
            right += self._before_value(end, segment.end)
        extra = [*left, *right]
        if not extra:
            return Caption(run, end, Tier.EQUAL)
        neutral = all(self._is_neutral(word) for word in extra) or _same_role(left, run, right)
        return Caption(run, end, Tier.NEUTRAL if neutral else Tier.PART)

    def _before(self, run: Run) -> list[str]:
        """Words of the phrase before a label, folded."""
        index = self.index
        first = run.words[0]
        segment = index.segments[index.segment_of[first]]
        found: list[str] = []
        if run.partial:
            head = _head_of(index.words[first].text, run.text)
            if ":" in head or any(c.isdigit() for c in head):
                return []
            found += caption_words(head)
        for word in range(first - 1, segment.start - 1, -1):
            text = index.words[word].text
            if text.endswith((":", "|", *_SENTENCE_END)) and not _is_abbreviation(text):
                break
            if any(c.isdigit() for c in text) and not text.startswith("("):
                break
            folded = fold_text(text).strip(".,()[]-*#=•·\"'")
            if folded:
                found.append(folded)
            if len(found) > _CAPTION_WORDS:
                break
        return found

    def _after(self, run: Run, last: int, stop: int) -> tuple[list[str], int]:
        """Words of the phrase after a label, folded, and the word after its end."""
        index = self.index
        tail = _tail_of(index.words[last].text, run.text)
        if ":" in tail or any(c.isdigit() for c in tail):
            # "Total:800.00" is one word: the value shares it.
            return [], last if any(c.isalnum() for c in tail) else last + 1
        found: list[str] = list(caption_words(tail)) if run.partial else []
        colon = self._colon(last + 1, stop)
        word, depth, counted = last + 1, 0, False
        while word < stop:
            text = index.words[word].text
            inside = depth > 0 or text.startswith("(")
            depth += text.count("(") - text.count(")")
            folded = fold_text(text).strip(".,()[]-*#=\"'_")
            if inside and any(c.isdigit() for c in text):
                # (3 items) counts, (Excluding GST) says another thing.
                counted = True
            elif set(text) <= set(":.=-…_*()[]") or (inside and counted):
                pass
            elif any(c.isdigit() for c in text):
                if not (colon is not None and word < colon) and not self._is_share(word):
                    break
            elif self._is_neutral(folded.rstrip(":")):
                if colon is None and folded in ("no", "number", "the", "a", "an", "of", "is"):
                    pass
            elif inside or (colon is not None and word <= colon):
                found.append(folded.rstrip(":"))
            else:
                break
            word += 1
            if text.endswith(":"):
                break
        return found, word

    def _before_value(self, start: int, stop: int) -> list[str]:
        """Words between a caption without a colon and the value in its line: they are its too."""
        index = self.index
        if ":" in index.words[start - 1].text:
            return []
        found: list[str] = []
        for word in range(start, stop):
            text = index.words[word].text
            if any(c.isdigit() for c in text):
                return found
            folded = fold_text(text).strip(".,:;()[]-*#=\"'")
            bounds = (folded,) in vocabulary().bounds_words
            if folded and not _is_number_word(folded) and not bounds:
                found.append(folded)
        # The value is beyond a gap: all of the phrase is its caption.
        return found

    def _colon(self, start: int, stop: int) -> int | None:
        """The word that ends a caption with a colon, if one is near."""
        for word in range(start, min(stop, start + _CAPTION_WORDS)):
            text = self.index.words[word].text
            if text.endswith(":"):
                return word
            if text.endswith(_SENTENCE_END) and not _is_abbreviation(text):
                return None
        return None

    def _is_share(self, word: int) -> bool:
        """Whether a word is a rate in a caption: the 20 % of `TVA 20 %`."""
        hits = self.index.numbers_by_word.get(word, ())
        return bool(hits) and all(read.percent for _, read in hits)

    def _is_neutral(self, folded: str) -> bool:
        if not folded or not any(c.isalnum() for c in folded):
            return True
        return (
            folded in _neutral()
            or bool(currencies_named(folded.upper()))
            or bool(currencies_named(folded))
        )

    # Where a value stands

    def _regions(self, caption: Caption, kind: Prints) -> Iterator[tuple[str, list[int]]]:
        """Sides of a caption with the words there, best first; a side that is blank has none."""
        index = self.index
        last = caption.run.words[-1]
        cell = index.cells[last]
        if cell is not None and cell.column_header:
            yield "under", self._column(caption)
            return
        right = self._right(caption, kind)
        if right and cell is None and self._heads_row(caption, 3 if kind.is_text else 2):
            # A row of captions over a row of values reads down.
            under = self._under(caption, kind)
            if under:
                yield "under", under
                return
        yield "right", right
        wrapped = self._level(caption)
        if wrapped:
            yield "right", wrapped
        if cell is not None and right:
            return
        yield "under", self._under(caption, kind)
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
                and _meet(other.row, other.row_span, cell.row, cell.row_span)
            ]
        own = list(range(caption.end, segment.end))
        if any(c.isalnum() for w in own for c in index.words[w].text):
            cut = self._inner_caption(own)
            if cut is not None:
                own = [w for w in own if w < cut]
            alone = cut is not None or kind.is_text
            more = [] if alone else self._values_beyond(own, segment.end, row.end)
            return [w for w in own if _says(index.words[w].text)] + more
        beyond = self._values_beyond([], segment.end, row.end)
        if kind.is_text and beyond:
            first = index.segment_of[beyond[0]]
            return [w for w in beyond if index.segment_of[w] == first]
        return beyond

    def _values_beyond(self, own: list[int], start: int, stop: int) -> list[int]:
        """Words of the segments after a caption, up to the next caption."""
        index = self.index
        found: list[int] = []
        word = start
        while word < stop:
            segment = index.segments[index.segment_of[word]]
            if self._starts_caption(index.segment_of[word]):
                break
            said = [w for w in range(segment.start, segment.end) if _says(index.words[w].text)]
            numeric = any(c.isdigit() for w in said for c in index.words[w].text)
            if (own or found) and not numeric:
                break
            found += said
            word = segment.end
        return found

    def _starts_caption(self, number: int) -> int:
        """How many words of a segment are a caption that it begins with; 0 if it begins with none."""
        if number not in self._starts:
            self._starts[number] = self._caption_length(number)
        return self._starts[number]

    def _caption_length(self, number: int) -> int:
        segment = self.index.segments[number]
        texts = [self.index.words[w].text for w in range(segment.start, segment.end)]
        for n, text in enumerate(texts[:_CAPTION_WORDS]):
            if not any(c.isalnum() for c in text):
                # A colon of its own belongs to the caption before it.
                continue
            if text.endswith(":") or (":" in text and not text[0].isdigit() and "://" not in text):
                return n + 1
            if any(c.isdigit() for c in text) and not text.startswith("("):
                break
        for size in range(min(_CAPTION_WORDS, len(texts)), 0, -1):
            words = caption_words(" ".join(texts[:size]))
            whole = size == len(texts) or any(c.isdigit() for c in texts[size])
            if words in self._others or (whole and self._is_known(words)):
                return size
        return 0

    def _is_known(self, words: Words) -> bool:
        return words in vocabulary().captions

    def _inner_caption(self, words: list[int]) -> int | None:
        """The word where another caption begins among words of a segment."""
        texts = [self.index.words[w].text for w in words]
        for n, text in enumerate(texts):
            if n and text.endswith(":") and any(c.isalpha() for c in text):
                begin = n
                for size in range(min(4, n), 0, -1):
                    known = caption_words(" ".join(texts[n - size : n + 1]))
                    if self._is_known(known) or known in self._others:
                        begin = n - size
                        break
                return words[begin]
            if n:
                for size in (4, 3, 2, 1):
                    some = caption_words(" ".join(texts[n : n + size]))
                    if some in self._others and len(some) == size and any(map(str.isalpha, some)):
                        if some != () and not _continues_lower(texts[n]):
                            return words[n]
        return None

    def _level(self, caption: Caption) -> list[int]:
        """Words right of a caption that stand level with it in another row, or with its other lines."""
        index = self.index
        last = caption.run.words[-1]
        own = {index.row_of[w] for w in caption.run.words}
        for number, words in index.boxes(caption.run.words):
            if number != index.row_of[last]:
                rest = list(range(words[-1] + 1, index.rows[number].end))
                if rest and not self._starts_caption(index.segment_of[rest[0]]):
                    return rest
        box = index.words[last].box
        for other in self._rows_near(index.page_of(last), box, 0, 0):
            if other in own:
                continue
            level = _right_of(index, other, box)
            if level and not self._starts_caption(index.segment_of[level[0]]):
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
        boxes = [self._segment_box(n) for n in under]
        return sum(any(x_overlap(self._segment_box(n), b) > 0 for b in boxes) for n in segments)

    def _row_below(self, number: int) -> int | None:
        index = self.index
        row = index.rows[number]
        if number + 1 < len(index.rows) and index.rows[number + 1].page == row.page:
            return number + 1
        return None

    def _segment_box(self, number: int) -> Box:
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
            and _meet(cell.column, cell.column_span, top.column, top.column_span)
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
                and _meet(other.column, other.column_span, cell.column, cell.column_span)
                and not self._starts_caption(index.segment_of[w])
            ]
        box = index.box(run)
        segment = self._segment_box(index.segment_of[run.words[-1]])
        reach = round(_NEAR_HEIGHTS * box.height)
        rows = self._rows_near(index.page_of(run.words[0]), box, 0, reach)
        own = {index.row_of[w] for w in run.words}
        ordered = sorted(
            (r for r in rows if r not in own and self._row_box(r).middle > box.middle),
            key=lambda r: self._row_box(r).middle,
        )
        for row in ordered:
            for number in index.segments_of(row):
                under = self._segment_box(number)
                if x_overlap(under, segment) <= 0:
                    continue
                if self._starts_caption(number) or self._owned_on_left(number):
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
            self._starts_caption(number - 1)
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
                if x_overlap(self._segment_box(number), box) <= 0:
                    continue
                held = index.segments[number]
                first = number and index.segments[number - 1].row == held.row
                if first or self._starts_caption(number):
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

    # Rows that meet columns

    def _crossed(self, field: FieldSpec, kind: Prints) -> list[Labelled]:
        """Where the row of one label meets the column of the other."""
        index = self.index
        found = []
        heads = self.of((field.column_label,), True)
        for side in self.of((field.row_label,), False):
            tier = side.tier
            if index.cells[side.run.words[0]] is not None:
                found += self._in_table(side, heads, field, kind)
                continue
            row = index.rows[index.row_of[side.run.words[-1]]]
            beyond = list(range(side.end, row.end))
            values = kind.printed(beyond, field, index)
            for head in self._heads_of(side.run, heads):
                column = self._segment_box(index.segment_of[head.run.words[-1]])
                inside = [v for v in values if x_overlap(index.box(v), column) > 0]
                if inside:
                    value = max(inside, key=lambda v: x_overlap(index.box(v), column))
                    worse = max(tier, head.tier)
                    found.append(Labelled(side.run, "cell", (value,), value.words, worse))
        return best(found)

    def _in_table(
        self, label: Caption, heads: list[Caption], field: FieldSpec, kind: Prints
    ) -> list[Labelled]:
        """Values in the cells where the label's rows and a head's columns meet, spans included."""
        index = self.index
        words = label.run.words
        side, number = index.cells[words[0]], index.table_of(words[0])
        found = []
        for head in heads:
            top = index.cells[head.run.words[0]]
            same = index.table_of(head.run.words[0]) == number
            if side is None or top is None or top is side or not same:
                continue
            if not top.column_header and top.row >= side.row:
                continue
            met = [
                w
                for w in index.table_words(number)
                if (cell := index.cells[w]) is not None
                and cell is not side
                and not cell.column_header
                and _meet(cell.row, cell.row_span, side.row, side.row_span)
                and _meet(cell.column, cell.column_span, top.column, top.column_span)
            ]
            values = kind.printed(met, field, index)
            if values:
                worse = max(label.tier, head.tier)
                found.append(Labelled(label.run, "cell", tuple(values), tuple(met), worse))
        return found

    def _heads_of(self, label: Run, heads: list[Caption]) -> list[Caption]:
        """Column heads that stand over a row: the lowest of the best on its page, else on the last
        page before it."""
        index = self.index
        page, top = index.page_of(label.words[0]), index.box(label).top
        over = [
            h
            for h in heads
            if index.box(h.run).bottom <= top or index.page_of(h.run.words[0]) < page
        ]
        over = [h for h in over if index.page_of(h.run.words[0]) <= page]
        over = [h for h in over if h.tier == min(o.tier for o in over)]
        here = [h for h in over if index.page_of(h.run.words[0]) == page]
        if here:
            lowest = max(index.box(h.run).bottom for h in here)
            return [h for h in here if index.box(h.run).bottom == lowest]
        return [max(over, key=lambda h: index.page_of(h.run.words[0]))] if over else []


def best(found: list[Labelled]) -> list[Labelled]:
    """Those whose caption is the most whole, of them those on the best side that have a value.

    Blank places are kept where nothing better is there.
    """
    whole = [p for p in found if p.tier < Tier.PART]
    for tier in (Tier.EQUAL, Tier.NEUTRAL):
        level = [p for p in whole if p.tier == tier]
        for side in ("cell", "right", "under", "above"):
            kept = [p for p in level if p.side == side and p.values]
            if kept:
                return kept
    filled = [p for p in whole if p.words]
    if filled:
        return filled
    if whole:
        return whole
    parts = [p for p in found if p.values] or [p for p in found if p.words] or found
    return parts


def misplaced(field: FieldSpec, places: list[Labelled], matches: list[Run], index: Index) -> str:
    """WRONG_COLUMN or WRONG_ROW when the claim stands in the right row or column only, else ""."""
    for place in places:
        if place.side != "cell" or not place.values:
            continue
        cell = index.box(place.values[0])
        for run in matches:
            box = index.box(run)
            if y_overlap(box, cell) > 0.5 * min(box.height, cell.height):
                return "WRONG_COLUMN"
            if x_overlap(box, cell) > 0:
                return "WRONG_ROW"
    return ""


def _same_role(left: list[str], run: Run, right: list[str]) -> bool:
    """Whether a longer caption calls its value the same as the label does: Grand Total and Total."""
    known = vocabulary().captions
    own = known.get(caption_words(run.text), frozenset())
    phrase = caption_words(" ".join([*reversed(left), run.text, *right]))
    told = known.get(phrase, frozenset())
    return len(told) == 1 and told <= own


def _meet(first: int, span: int, other: int, other_span: int) -> bool:
    return first < other + other_span and other < first + span


def _right_of(index: Index, row: int, box: Box) -> list[int]:
    return [
        w
        for w in range(index.rows[row].start, index.rows[row].end)
        if index.words[w].box.left >= box.right
        and y_overlap(index.words[w].box, box) > 0.5 * min(index.words[w].box.height, box.height)
    ]


def _head_of(word: str, text: str) -> str:
    """What of a word stands before a text that begins in it."""
    at = word.find(text.split(" ", 1)[0])
    return word[:at] if at > 0 else ""


def _tail_of(word: str, text: str) -> str:
    """What of a word stands after a text that ends in it."""
    last = text.rsplit(" ", 1)[-1]
    at = word.rfind(last)
    return word[at + len(last) :] if at >= 0 else ""


def _says(text: str) -> bool:
    """Whether a word is more than marks that fill a blank."""
    return any(c.isalnum() for c in text) or any(c in "✓✔✗✘☐☑☒€£$" for c in text)


def _is_abbreviation(text: str) -> bool:
    """Whether a period ends a word rather than a sentence: No., Nr., St."""
    return text.endswith(".") and len(text) <= 5 and text.count(".") >= 1 and text[0].isalpha()


def _is_number_word(folded: str) -> bool:
    return spelled.read([folded]) is not None or folded in vocabulary().scales or folded in _units()


def _continues_lower(text: str) -> bool:
    return text[:1].islower()


def _units() -> frozenset[str]:
    return frozenset(vocabulary().units)


def _neutral() -> frozenset[str]:
    return vocabulary().single("neutral")
