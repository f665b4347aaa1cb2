"""Captions: what print calls a value, and what stands at a caption.

The best caption is the most whole; the best side is the nearest that prints a value of the kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from visualproof_server.model.geometry import x_overlap, y_overlap
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.places.caption_phrases import (
    SENTENCE_END,
    Caption,
    Phrases,
    Tier,
    is_number_word,
)
from visualproof_server.proving.places.caption_regions import Prints, Regions, meet
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary


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
        self._phrases = Phrases(index, others)
        self._regions = Regions(index, self._phrases)

    def of(self, labels: Iterable[str], of_text: bool) -> list[Caption]:
        """Where any of some labels is printed, whole words only, the longest label first."""
        return self._phrases.of(labels, of_text)

    def labelled(self, field: FieldSpec, kind: Prints) -> list[Labelled]:
        """For each printed label of a field, what stands at it; the best captions only.

        A label that is a whole caption outranks one that is a part of one; a value right of its
        caption says more than one under or above. A field with row and column label is looked for
        where that row and that column meet.
        """
        if field.row_label and field.column_label:
            return self._crossed(field, kind)
        labels = (*field.labels, field.row_label, field.column_label)
        return best([self.place(c, field, kind) for c in self._phrases.of(labels, kind.is_text)])

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
        for side, words in self._regions.of(caption, kind):
            values = self._values(words, side, field, kind)
            made = Labelled(caption.run, side, tuple(values), tuple(words), caption.tier)
            if values:
                return made
            if empty is None and words:
                empty = made
            if side == "right" and words:
                break
        # The rate in a caption is its value where there is no other: Rebate 7%.
        inside = list(range(caption.run.words[-1] + 1, caption.end))
        rates = [] if kind.is_text else kind.printed(inside, field, self.index)
        if rates:
            held = tuple(w for run in rates for w in run.words)
            return Labelled(caption.run, "right", tuple(rates), held, caption.tier)
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
        unknown = [
            t for t in said if t and not self._phrases.is_neutral(t) and not is_number_word(t)
        ]
        if any(t.endswith(SENTENCE_END) and len(t) > 3 for t in texts[:-1]):
            return False
        if any((t,) in vocabulary().negations for t in said):
            return False
        if self._phrases.inner_caption(words) is not None:
            return False
        return len(unknown) <= 2

    # Rows that meet columns

    def _crossed(self, field: FieldSpec, kind: Prints) -> list[Labelled]:
        """Where the row of one label meets the column of the other."""
        index = self.index
        found = []
        heads = self._phrases.of((field.column_label,), True)
        for side in self._phrases.of((field.row_label,), False):
            tier = side.tier
            if index.cells[side.run.words[0]] is not None:
                found += self._in_table(side, heads, field, kind)
                continue
            row = index.rows[index.row_of[side.run.words[-1]]]
            beyond = list(range(side.end, row.end))
            values = kind.printed(beyond, field, index)
            for head in self._heads_of(side.run, heads):
                column = self._regions.segment_box(index.segment_of[head.run.words[-1]])
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
                and meet(cell.row, cell.row_span, side.row, side.row_span)
                and meet(cell.column, cell.column_span, top.column, top.column_span)
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
