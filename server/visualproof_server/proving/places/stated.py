"""What captions say of the numbers under or beside them: scale, currency, unit.

`Weight (kg)`, `Rate (%)`, `in thousands of EUR`, `USD` over a column, `All amounts in CAD`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from visualproof_server.model.geometry import Box, union, x_overlap
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text, plain
from visualproof_server.proving.values.units import (
    currencies_named,
    currency_after,
    scaled_currency,
    unit_at,
)
from visualproof_server.proving.vocabulary.words import vocabulary

# Rows of values that a head may stand over.
_MAX_ROWS = 60
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Stated:
    """Powers of ten, currencies and unit; empty members are not stated. words say it."""

    exponents: tuple[int, ...] = ()
    currencies: frozenset[str] = frozenset()
    unit: str = ""

    def over(self, other: "Stated") -> "Stated":
        """This, with what it leaves open taken from another."""
        return Stated(
            self.exponents or other.exponents,
            self.currencies or other.currencies,
            self.unit or other.unit,
        )


NOTHING = Stated()


class Statements:
    """What the captions of one document state; read once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        # By the segment that is asked for: its words share them.
        self._heads: dict[int, str] = {}
        self._lefts: dict[int, Stated] = {}
        self._boxes: dict[int, Box] = {}
        self._known: dict[int, Stated] = {}
        self._document: Stated | None = None

    def of(self, run: Run) -> Stated:
        """What is stated for the numbers at a run."""
        word = run.words[0]
        if word not in self._known:
            self._known[word] = self._beside(word).over(self._over(word)).over(self.document)
        return self._known[word]

    def over(self, run: Run) -> Stated:
        """What the heads of its column say."""
        return self._over(run.words[0])

    @property
    def document(self) -> Stated:
        """What a line of its own says of all amounts: `(in $ millions)`, `Angaben in Mio. EUR`."""
        if self._document is None:
            found = [
                said
                for segment in self._index.segments
                if segment.end - segment.start <= 12
                and (said := whole_statement(self._index.text_of(segment.start, segment.end)))
                is not NOTHING
            ]
            self._document = found[0] if len(set(found)) == 1 else NOTHING
        return self._document

    def _beside(self, word: int) -> Stated:
        """What stands left of it in its row or cell row."""
        index = self._index
        row = index.rows[index.row_of[word]]
        own = index.segments[index.segment_of[word]]
        # No more than is looked at; each word has one character and a space.
        found = stated_in(index.text_of(max(own.start, word - _MAX_TEXT), word))
        if own.start > row.start and found is NOTHING:
            if own.start not in self._lefts:
                self._lefts[own.start] = self._left_of(own.start)
            found = self._lefts[own.start]
        return found

    def _left_of(self, start: int) -> Stated:
        """What the segment before a segment says, if it has no figures."""
        index = self._index
        before = index.segments[index.segment_of[start - 1]]
        text = index.text_of(before.start, before.end)
        figures = any(c.isdigit() for c in re.sub(r"\([^)]*+\)|'000", "", text))
        return NOTHING if figures else stated_in(text)

    def _over(self, word: int) -> Stated:
        """What its column's heads say."""
        index = self._index
        cell = index.cells[word]
        if cell is not None:
            heads = [
                w
                for w in index.table_words(index.table_of(word))
                if (top := index.cells[w]) is not None
                and top.row < cell.row
                and (top.column_header or top.row == 1)
                and top.column < cell.column + cell.column_span
                and cell.column < top.column + top.column_span
            ]
            return head_statement(" ".join(index.words[w].text for w in heads))
        segment = index.segment_of[word]
        if segment not in self._heads:
            self._heads[segment] = self._head(word)
        head = self._heads[segment]
        return head_statement(head) if head else NOTHING

    def _head(self, word: int) -> str:
        """The text over a column of values that stand under each other, outside tables."""
        index = self._index
        box = self._box(index.segment_of[word])
        number, page = index.row_of[word], index.page_of(word)
        for row in range(number - 1, max(-1, number - _MAX_ROWS), -1):
            if index.rows[row].page != page:
                return ""
            over = self._at(row, box)
            if over is None:
                return ""
            text = index.text_of(*over)
            if not any(c.isdigit() for c in text.replace("'000", "")):
                alone = over[1] - over[0] == index.rows[row].end - index.rows[row].start
                return "" if alone else text
        return ""

    def _box(self, number: int) -> Box:
        """Around a segment."""
        if number not in self._boxes:
            index = self._index
            segment = index.segments[number]
            words = index.words[segment.start : segment.end]
            self._boxes[number] = union([w.box for w in words])
        return self._boxes[number]

    def _at(self, row: int, box: Box) -> tuple[int, int] | None:
        index = self._index
        word = index.rows[row].start
        while word < index.rows[row].end:
            segment = index.segments[index.segment_of[word]]
            if x_overlap(self._box(index.segment_of[word]), box) > 0:
                return segment.start, segment.end
            word = segment.end
        return None


_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]")
_IN = re.compile(r"(?<![^\W_])(?:in|en|i|em|w|v|в)[ ]+(.{2,40})$", re.I)
_TAIL = re.compile(
    r"(?:^|[ (])((?:T|k|K)(?:EUR|USD|GBP|€|£|\$)|[A-Z]{0,3}[€£$]?[A-Z]{0,3} ?['’]000s?|[€£$]m)\)?$"
)


@lru_cache(maxsize=4096)
def stated_in(text: str) -> Stated:
    """What a caption states: in brackets, or after `in`."""
    found = NOTHING
    shown = plain(text)[-_MAX_TEXT:]
    for match in _BRACKETS.finditer(shown):
        found = found.over(content_of(match[1]))
    bare = _BRACKETS.sub(" ", shown).strip(" :")
    for pattern in (_IN, _TAIL):
        if said := pattern.search(bare):
            found = found.over(content_of(said[1]))
    return found


@lru_cache(maxsize=4096)
def head_statement(text: str) -> Stated:
    """What a column's head states: also a currency, unit or share that is all of it."""
    found = stated_in(text)
    words = text.split()
    if len(words) <= 3:
        found = found.over(content_of(plain(text)))
    for word in words[-4:]:
        if named := currencies_named(word.strip("().,:")):
            found = found.over(Stated(currencies=named))
    return found


@lru_cache(maxsize=4096)
def whole_statement(text: str) -> Stated:
    """What a line says that says nothing else."""
    statement = vocabulary().single("statement")
    if text.isascii() and not text.lstrip().startswith("("):
        if statement.isdisjoint(w.strip("(),.:;").lower() for w in text.split()):
            return NOTHING
    words = plain(text).strip(" ():*.").split()
    kept = [w for w in words if fold_text(w).strip("(),.:;") not in statement]
    said = content_of(" ".join(kept).strip("(),.:;")) if kept else NOTHING
    if said is NOTHING or (len(kept) == len(words) and not text.strip().startswith("(")):
        return NOTHING
    return said


@lru_cache(maxsize=4096)
def content_of(text: str) -> Stated:
    """A scale, a currency, a unit, or these together, that are all of a text; else NOTHING."""
    rest = text.strip(" .,:;")
    if rest in ("%", "‰"):
        return Stated(unit=rest)
    if scaled := scaled_currency(rest, len(rest)):
        if scaled[2] == 0:
            return Stated(scaled[1], scaled[0])
    exponents: tuple[int, ...] = ()
    currencies: frozenset[str] = frozenset()
    skipped = {"of", "de", "d'", "von", "in", "di", "the", "and", "per", "except", "share", "data"}
    at, seen = 0, False
    while at < len(rest):
        if rest[at] in " ,/'’":
            at += 1
            continue
        if named := currency_after(rest, at, True):
            currencies, at, seen = currencies or named[0], named[1], True
            continue
        match = re.compile(r"[^\W\d_]+\.?|'?000s?").match(rest, at)
        if match is None:
            return NOTHING
        word = fold_text(match.group()).strip(".'")
        if word in ("000", "000s"):
            exponents, seen = (3,), True
        elif powers := vocabulary().scales.get(word):
            exponents, seen = powers, True
        elif known := currencies_named(match.group().strip(".")):
            currencies, seen = known, True
        elif word not in skipped:
            break
        at = match.end()
    if at >= len(rest) and seen:
        return Stated(exponents, currencies)
    unit, size = unit_at(rest, False)
    return Stated(unit=unit) if unit and size == len(rest) else NOTHING
