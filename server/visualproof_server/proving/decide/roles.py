"""Roles: what a field's name asks for, and what a place's caption calls it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from visualproof_server.model.geometry import union, x_overlap
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values.units import currencies_named
from visualproof_server.proving.vocabulary.words import Words, caption_words, vocabulary

_MONEY = frozenset(
    [
        "total",
        "due",
        "subtotal",
        "line_total",
        "tax",
        "discount",
        "rounding",
        "tendered",
        "change",
        "shipping",
        "service_charge",
        "unit_price",
        "amount",
        "previous",
        "closing",
    ]
)
_DATES = frozenset(
    ["date", "due_date", "delivery_date", "order_date", "birth_date", "start_date", "end_date"]
)
_CODES = frozenset(
    [
        "invoice_number",
        "order_number",
        "customer_number",
        "vat_id",
        "company_number",
        "iban",
        "bic",
        "phone",
        "fax",
        "email",
        "website",
    ]
)
_TEXTS = frozenset(["name", "seller", "buyer", "ship_to", "address", "cashier", "terms"])
# Roles whose captions are taken where the role's own are not printed, and never contradict it.
_ALIKE: dict[str, tuple[str, ...]] = {
    "total": ("due",),
    "due": ("total", "closing"),
    "subtotal": ("line_total",),
    "line_total": ("subtotal",),
    "closing": ("due",),
}
PARTY_ROLES = frozenset({"seller", "buyer", "ship_to"})
# What sums of a bill are called.
SUMS = frozenset(
    [
        "total",
        "due",
        "subtotal",
        "line_total",
        "tax",
        "discount",
        "shipping",
        "service_charge",
        "closing",
    ]
)
# Captions that say what a value is whatever its kind.
_ALWAYS = frozenset({"quantity", "percent", "page", "time"})
# Parties, by the words that names of fields have for them.
_PARTIES = {
    word: party
    for party, words in {
        "seller": "seller vendor supplier merchant store sender creditor issuer company shop provider payer employer",
        "buyer": "buyer customer client recipient bill billing receiver debtor purchaser sold employee payee",
        "ship_to": "ship shipping delivery deliver consignee",
    }.items()
    for word in words.split()
}
# What a caption may say of a text that is a party, or a part of one.
_PARTS_OF_TEXT = frozenset(
    [
        "seller",
        "buyer",
        "ship_to",
        "cashier",
        "phone",
        "fax",
        "email",
        "website",
        "vat_id",
        "company_number",
        "iban",
        "bic",
        "invoice_number",
        "order_number",
        "customer_number",
        "terms",
    ]
)
CODES = _CODES
OTHER_DATES = _DATES - {"date"}
# How many lines a heading such as "Seller" heads.
_SECTION_ROWS = 14


@dataclass(frozen=True, slots=True)
class Role:
    """What a field's name asks for. group holds the roles that a value of its kind may have.

    labels are lists of captions that name it, the most telling first; spoken is the name itself as
    words. party is whose value it is, if it says so; part: it asks for a part of that party.
    """

    name: str
    group: frozenset[str]
    spoken: str
    labels: tuple[tuple[str, ...], ...]
    party: str = ""
    part: bool = False
    facet: str = ""


def role_of(spec: FieldSpec, kind: ValueKind) -> Role | None:
    """The role that a field's name asks for; a role of another kind than the field's is none."""
    parts = [p for p in spec.path.split("/") if p]
    if not parts or any(p.isdigit() or p == "*" for p in parts):
        # The values of an item are told by its row or band, not by captions of the document.
        return None
    return _role(parts[-1], kind.name, _group_of(kind))


def _group_of(kind: ValueKind) -> frozenset[str]:
    if kind.is_amount:
        return _MONEY
    if kind.name in ("date", "datetime"):
        return _DATES
    if kind.is_text:
        return _TEXTS | _CODES
    if kind.name in ("identifier", "phone", "email", "url"):
        return _CODES
    if kind.name in ("number", "quantity"):
        return frozenset({"quantity", *_MONEY})
    if kind.name == "percent":
        return frozenset({"percent"})
    return frozenset()


@lru_cache(maxsize=4096)
def _role(name: str, _kind: str, group: frozenset[str]) -> Role | None:
    words = name_words(name)
    spoken = " ".join(words)
    if len(spoken) < 3 or not any(len(w) >= 3 and w.isalpha() for w in words):
        return None
    names = vocabulary().names
    party = _PARTIES.get(words[0], "") if len(words) > 1 else ""
    found = names.get(words) or (names.get(words[1:], "") if party else "")
    if found not in group:
        found = ""
    if found in PARTY_ROLES:
        party = found
    labels = (*_captions_of(found), *(c for a in _ALIKE.get(found, ()) for c in _captions_of(a)))
    part = bool(party) and found not in PARTY_ROLES
    facets = vocabulary().facets
    facet = facets.get(words) or (facets.get(words[1:], "") if party else "")
    return Role(found, group, spoken, tuple(filter(None, labels)), party, part, facet)


def name_words(name: str) -> Words:
    """Words of a field's name: invoice_number, invoiceNumber, `Invoice No`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name[:200])
    return tuple(fold_text(re.sub(r"[_\-./]+", " ", spaced)).split())


@lru_cache(maxsize=256)
def _captions_of(role: str) -> tuple[tuple[str, ...], ...]:
    """Captions of a role, the most telling first: several words that name it alone, one word that
    does, and those that may name other roles too."""
    known = [(words, roles) for words, roles in vocabulary().captions.items() if role in roles]
    alone = tuple(" ".join(words) for words, roles in known if len(roles) == 1 and len(words) > 1)
    short = tuple(" ".join(words) for words, roles in known if len(roles) == 1 and len(words) == 1)
    shared = tuple(" ".join(words) for words, roles in known if len(roles) > 1)
    return alone, short, shared


def contradicts(role: Role, printed: frozenset[str]) -> bool:
    """Whether a place's caption names other roles that such a value may have, and not this one."""
    group = _PARTS_OF_TEXT if role.group >= _TEXTS else role.group
    told = printed & (group | _ALWAYS)
    if role.name in PARTY_ROLES:
        # "Name:" under a party's heading is the party's.
        told -= {"name"}
    return bool(told) and role.name not in told and not told & set(_ALIKE.get(role.name, ()))


def fits(facet: str, run: Run, index: Index) -> bool:
    """Whether a print has the shape of the part of a party that a name asks for."""
    text = run.text
    digits = any(c.isdigit() for c in text)
    if facet in ("street", "address"):
        return digits and any(c.isalpha() for c in text)
    first, last = run.words[0], run.words[-1]
    row = index.rows[index.row_of[first]]
    before = index.words[first - 1].text if first > row.start else ""
    after = index.words[last + 1].text if last + 1 < row.end else ""
    if facet == "city":
        code = any(c.isdigit() for c in before) or before in (",", "-")
        return not digits and (code or any(c.isdigit() for c in after) or text.endswith(","))
    if facet == "postcode":
        beside = any(c.isalpha() for c in after) or any(c.isalpha() for c in before)
        return digits and beside
    if facet == "name":
        groups = [w for w in text.replace(",", " ").split() if any(c.isdigit() for c in w)]
        postal = any(len(w) >= 5 and w.isdigit() for w in groups)
        follows_code = len(before) >= 4 and before.isdigit()
        street = len(groups) == 1 and text.split()[-1] in groups and len(text.split()) > 1
        return not (postal or follows_code or street or len(groups) > 2)
    return True


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
            for segment in index.segments_of(row):
                held = index.segments[segment]
                if row == number and held.start >= own.start:
                    continue
                if held.end - held.start > 4:
                    continue
                over = union([index.words[w].box for w in range(held.start, held.end)])
                aligned = over.left - 3 * over.height <= left <= over.right + 25 * over.height
                if not aligned:
                    continue
                named = roles_named(index.text_of(held.start, held.end)) & PARTY_ROLES
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
            if index.numbers_by_word.get(at) and not text.startswith("("):
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
        start = index.segments[index.segment_of[word]].start
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
            near = box.top - over.bottom < 2.5 * box.height
            if near and x_overlap(over, box) > 0:
                return roles_named(index.text_of(held.start, held.end))
        return frozenset()


@lru_cache(maxsize=8192)
def roles_named(phrase: str) -> frozenset[str]:
    """Roles that a phrase names: as a whole, without what is neutral, or by its first or last words."""
    if not phrase or len(phrase) > 120:
        return frozenset()
    known = vocabulary().captions
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
        if words in known:
            return known[words]
    for size in range(min(4, len(core)), 0, -1):
        for some in (core[-size:], core[:size]):
            if some in known and (size > 1 or (len(core) <= 2 and len(some[0]) >= 4)):
                return known[some]
    return frozenset()


def _said(text: str) -> set[str]:
    return {_singular(w) for w in caption_words(text)}


def _singular(word: str) -> str:
    """A word without the s of its plural or possessive."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_neutral(word: str) -> bool:
    return word in vocabulary().single("neutral") or bool(currencies_named(word.upper()))
