"""Roles: what a field's name asks for."""

import re
from dataclasses import dataclass
from functools import lru_cache

from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import Words, vocabulary

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
    party = vocabulary().parties.get(words[0], "") if len(words) > 1 else ""
    found = names.get(words) or (names.get(words[1:], "") if party else "")
    if group is _DATES:
        # A day that is called "due" or "invoice".
        found = found if found in group else names.get((*words, "date"), "")
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
