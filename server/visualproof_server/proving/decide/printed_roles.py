"""Printed roles: what captions and headings call a document's values."""

import re
from collections.abc import Iterator
from functools import lru_cache

from visualproof_server.model.geometry import union, x_overlap
from visualproof_server.proving.decide.roles import PARTY_ROLES
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.values.units import currencies_named
from visualproof_server.proving.vocabulary.words import Words, caption_words, vocabulary

# How many lines a heading such as "Seller" heads.
_SECTION_ROWS = 14
# Captions of parts of a party.
_PARTS = frozenset({"name", "address", "vat_id", "phone", "email"})


class PrintedRoles:
    """What the captions of one document call its values."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[tuple[int, int], frozenset[str]] = {}
        self._sections: dict[int, str] = {}

    def at(self, run: Run) -> frozenset[str]:
        """Roles that the caption of a place names: left of it, its column's head, over it."""
        key = (run.words[0], run.words[-1])
        if key not in self._known:
            self._known[key] = self._left(run) or self.head(run)
        return self._known[key]

    def says(self, run: Run, words: Words) -> bool:
        """Whether the caption of a place, left of it or over it, has all words of a field's name."""
        wanted = {_singular(w) for w in words if not _is_neutral(w)} or {
            _singular(w) for w in words
        }
        return any(wanted <= said for said in self._captions_near(run))

    def _captions_near(self, run: Run) -> Iterator[set[str]]:
        index = self._index
        word = run.words[0]
        row = index.rows[index.row_of[word]]
        yield _said(index.text_of(max(row.start, word - 10), word))
        box = index.box(run)
        lines: set[str] = set()
        number = index.row_of[word]
        for over in range(number - 1, max(-1, number - 6), -1):
            if index.rows[over].page != row.page:
                return
            for segment in index.segments_of(over):
                held = index.segments[segment]
                at = union([index.words[w].box for w in range(held.start, held.end)])
                near = 0 <= box.top - at.bottom + box.height // 2 < 4 * box.height
                reach = (
                    at.left - 6 * box.height <= box.left and box.right <= at.right + 12 * box.height
                )
                if near and (x_overlap(at, box) > 0 or reach):
                    lines = lines | _said(index.text_of(held.start, held.end))
                    yield lines

    def section(self, run: Run) -> str:
        """The party whose heading a place stands under, "" if under none: Seller, Bill to."""
        word = run.words[0]
        if word not in self._sections:
            self._sections[word] = self._headed(word)
        return self._sections[word]

    def _headed(self, word: int) -> str:
        index = self._index
        own = index.segments[index.segment_of[word]]
        left = index.words[own.start].box.left
        number, page = index.row_of[word], index.page_of(word)
        for row in range(number, max(-1, number - _SECTION_ROWS), -1):
            if index.rows[row].page != page:
                return ""
            # The nearest one that begins no further right.
            for segment in reversed(index.segments_of(row)):
                held = index.segments[segment]
                if row == number and held.start >= own.start:
                    continue
                if held.end - held.start > 4:
                    continue
                over = union([index.words[w].box for w in range(held.start, held.end)])
                aligned = over.left - 3 * over.height <= left <= over.right + 25 * over.height
                if not aligned:
                    continue
                named = _parties_named(index.text_of(held.start, held.end))
                if len(named) == 1:
                    return next(iter(named))
        return ""

    def _left(self, run: Run) -> frozenset[str]:
        index = self._index
        word = run.words[0]
        row = index.rows[index.row_of[word]]
        phrase: list[str] = []
        if run.partial:
            text = index.words[word].text
            phrase.append(text[: max(0, text.find(run.text.split(" ", 1)[0]))])
        at = word - 1
        while at >= row.start and len(phrase) < 8:
            text = index.words[at].text
            parted = index.parted(at)
            # A currency in its own column, maybe misread, is no caption.
            if parted and sum(c.isalpha() for p in phrase for c in p) > 3:
                break
            if any(c.isdigit() for c in text) and not text.startswith("("):
                # A value before it: the caption is further left, or none.
                if any(any(c.isalpha() for c in p) for p in phrase):
                    break
                at -= 1
                continue
            phrase.insert(0, text)
            at -= 1
        if caption_words(" ".join(phrase)) in vocabulary().phrases("dated"):
            return self._dated(word)
        return roles_named(" ".join(phrase))

    def _dated(self, word: int) -> frozenset[str]:
        """What a day is that stands after the number of a document: Invoice No. 12 dated 1 May."""
        index = self._index
        start = index.segments[index.segment_of[word - 1]].start
        lead = []
        for at in range(start, word):
            if any(c.isdigit() for c in index.words[at].text.strip("()")):
                break
            lead.append(index.words[at].text)
        named = roles_named(" ".join(lead))
        return frozenset({"date"}) if "invoice_number" in named else frozenset()

    def head(self, run: Run) -> frozenset[str]:
        """What the head of a run's column says, in a table or over values that stand in line."""
        index = self._index
        word = run.words[0]
        cell = index.cells[word]
        if cell is not None:
            heads = [
                w
                for w in index.table_words(index.table_of(word))
                if (top := index.cells[w]) is not None
                and top.column_header
                and top.row < cell.row
                and top.column < cell.column + cell.column_span
                and cell.column < top.column + top.column_span
            ]
            return roles_named(" ".join(index.words[w].text for w in heads))
        number = index.row_of[word]
        if number == 0 or index.rows[number - 1].page != index.page_of(word):
            return frozenset()
        box = index.box(run)
        for segment in index.segments_of(number - 1):
            held = index.segments[segment]
            over = union([index.words[w].box for w in range(held.start, held.end)])
            near = box.top - over.bottom < 3.5 * box.height
            if near and x_overlap(over, box) > 0:
                return roles_named(index.text_of(held.start, held.end))
        return frozenset()


@lru_cache(maxsize=8192)
def roles_named(phrase: str) -> frozenset[str]:
    """Roles that a phrase names: as a whole, without what is neutral, or by its first or last words."""
    if not phrase or len(phrase) > 120:
        return frozenset()
    known = vocabulary().roles_called
    if "/" in phrase and len(phrase) < 60:
        # Käufer/Leistungsempfänger
        parts = [roles_named(part) for part in phrase.split("/") if part.strip()]
        told = frozenset[str]().union(*parts)
        if len(told) == 1:
            return told
    whole = caption_words(phrase)
    bare = caption_words(re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", phrase))
    core = tuple(
        w for w in bare if not _is_neutral(w) and not any(c.isdigit() for c in w) and w != "%"
    )
    for words in (whole, bare, core):
        if told := known(words):
            return told
    for size in range(min(4, len(core)), 0, -1):
        for some in (core[-size:], core[:size]):
            if (size > 1 or (len(core) <= 2 and len(some[0]) >= 4)) and (told := known(some)):
                return told
    return frozenset()


def _parties_named(phrase: str) -> frozenset[str]:
    """Parties that a heading names, or whose part a caption asks for: Recipient's name."""
    words = caption_words(phrase)
    told = roles_named(phrase) & PARTY_ROLES
    part = words[1:] in vocabulary().facets or vocabulary().roles_called(words[1:]) & _PARTS
    party = vocabulary().parties.get(_singular(words[0])) if part else None
    return frozenset({party}) if party and not told else told


def _said(text: str) -> set[str]:
    return {_singular(w) for w in caption_words(text)}


def _singular(word: str) -> str:
    """A word without the s of its plural or possessive."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_neutral(word: str) -> bool:
    return word in vocabulary().single("neutral") or bool(currencies_named(word.upper()))
