"""Items of a list outside tables: each has a band of lines of its own.

A band begins in the line that prints an item's name and ends before the next item's. All values of
an item stand in its band, each band is one item's, and a value stands in the column that its field's
name asks for, where the columns have heads.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from visualproof_server.model.geometry import Box, union, x_overlap
from visualproof_server.proving.decide.printed_roles import roles_named
from visualproof_server.proving.decide.roles import name_words
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.vocabulary.words import Words, caption_words, vocabulary

# Lines that one item may take, and lines over the first item where heads are looked for.
_BAND_ROWS = 8
_HEAD_ROWS = 12
# What a sum of a line may be called over its column.
_ALIKE = {
    "line_total": frozenset({"amount", "line_total", "total", "subtotal"}),
    "total": frozenset({"amount", "line_total", "total", "subtotal"}),
    "subtotal": frozenset({"amount", "line_total", "subtotal"}),
    "amount": frozenset({"amount", "line_total", "total", "subtotal"}),
    "unit_price": frozenset({"unit_price"}),
    "quantity": frozenset({"quantity"}),
}
_COLUMN_ROLES = frozenset().union(*_ALIKE.values()) | {"tax", "discount", "percent", "name"}


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an item: its number among the results, its field's name, where it is printed.

    number_value is None for what is no number. named: it is a text, by which an item is found.
    """

    result: int
    name: str
    places: tuple[Run, ...]
    named: bool
    amount: Decimal | None = None


@dataclass(slots=True)
class Item:
    """An item's values, and the first row of its band once it has one."""

    number: int
    values: list[Value]
    row: int | None = None
    rows: range = field(default_factory=lambda: range(0))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a value's band says of it: its place there, or a reason code why it has none."""

    result: int
    place: Run | None
    code: str = ""


def settle(items: list[Item], index: Index) -> list[Verdict]:
    """What the bands of a list's items say of their values; nothing for items without a band."""
    _assign(items, index)
    told = [item for item in items if item.row is not None]
    if not told:
        return []
    heads = _heads(min(item.rows[0] for item in told), index)
    usual = _usual_columns(told, heads, index)
    out: list[Verdict] = []
    for item in told:
        out += _in_band(item, heads, usual, index)
    taken = {row for item in told for row in item.rows}
    for item in items:
        if item.row is None:
            # An item without a band has nothing in another's.
            out += [
                Verdict(value.result, None, "WRONG_ROW")
                for value in item.values
                if value.places and all(index.row_of[p.words[0]] in taken for p in value.places)
            ]
    return out


def _assign(items: list[Item], index: Index) -> None:
    """A band for each item that has a name: where most of its other values are, each once."""
    anchors = {item.number: _anchor(item) for item in items}
    named = sorted({index.row_of[p.words[0]] for a in anchors.values() if a for p in a.places})
    # Where the numbers stand in the line over each name, a band begins there.
    up = int(_under_numbers([p for a in anchors.values() if a for p in a.places], index))
    starts = [row - up for row in named]
    offers = []
    for item in items:
        anchor = anchors[item.number]
        for place in anchor.places if anchor else ():
            row = index.row_of[place.words[0]] - up
            rows = _band(row, starts, index)
            if index.row_of[place.words[0]] not in rows:
                continue
            held = sum(
                any(index.row_of[p.words[0]] in rows for p in value.places)
                for value in item.values
                if value is not anchor
            )
            offers.append((-held, item.number, row, rows))
    taken: set[int] = set()
    by_number = {item.number: item for item in items}
    for _, number, row, rows in sorted(offers, key=lambda o: o[:3]):
        item = by_number[number]
        if item.row is None and row not in taken and len(item.values) > 1:
            item.row, item.rows = row, rows
            taken.add(row)


def _under_numbers(places: Sequence[Run], index: Index) -> bool:
    """Whether all names stand alone under a line of numbers, and over none: a code, its numbers,
    and then what it is."""
    for place in places:
        row = index.row_of[place.words[0]]
        own = [n for n in _numbers(row, index) if n not in place.words]
        below = row + 1 < len(index.rows) and index.rows[row + 1].page == index.rows[row].page
        if own or row == 0 or len(_numbers(row - 1, index)) < 2 or index.rows[row].table:
            return False
        if index.rows[row - 1].page != index.rows[row].page:
            return False
        if below and _numbers(row + 1, index):
            return False
    return bool(places)


def _numbers(row: int, index: Index) -> list[int]:
    held = index.rows[row]
    return [w for w in range(held.start, held.end) if w in index.numbers_by_word]


def _anchor(item: Item) -> Value | None:
    """The text that names an item: the first of its texts that is printed."""
    return next((v for v in item.values if v.named and v.places), None)


def _band(row: int, starts: Sequence[int], index: Index) -> range:
    """Rows from an item's name to the next item's, on its page."""
    end = next((s for s in starts if s > row), row + _BAND_ROWS)
    end = min(end, row + _BAND_ROWS, len(index.rows))
    page = index.rows[row].page
    for after in range(row + 1, end):
        if index.rows[after].page != page or _begins_alike(row, after, index):
            return range(row, after)
    return range(row, end)


def _begins_alike(row: int, after: int, index: Index) -> bool:
    """Whether a later line looks like another item: it begins in line, with as many parts."""
    one, other = index.segments_of(row), index.segments_of(after)
    first = index.words[index.rows[row].start].box
    second = index.words[index.rows[after].start].box
    aligned = abs(first.left - second.left) <= max(1, first.height) // 2
    return aligned and len(one) == len(other) and index.rows[after].table == index.rows[row].table


@dataclass(frozen=True, slots=True)
class _Head:
    """A head over a column: its words, the roles that it names, and where it stands."""

    words: Words
    roles: frozenset[str]
    box: Box


def _heads(first: int, index: Index) -> list[_Head]:
    """Heads over the items: the segments of the nearest rows above that name columns."""
    if index.rows[first].table:
        return table_heads(index.rows[first].table, index)
    page = index.rows[first].page
    found: list[_Head] = []
    for row in range(first - 1, max(-1, first - _HEAD_ROWS), -1):
        if index.rows[row].page != page:
            break
        held = []
        for number in index.segments_of(row):
            segment = index.segments[number]
            text = index.text_of(segment.start, segment.end)
            box = union([index.words[w].box for w in range(segment.start, segment.end)])
            held.append(_Head(caption_words(text), roles_named(text) & _COLUMN_ROLES, box))
        if sum(bool(head.roles) for head in held) >= 2:
            found += held
            break
    return found


def table_heads(table: int, index: Index) -> list[_Head]:
    """The heads of a table's columns."""
    cells: dict[tuple[int, int], list[int]] = {}
    for word in index.table_words(table):
        cell = index.cells[word]
        if cell is not None and cell.column_header:
            cells.setdefault((cell.row, cell.column), []).append(word)
    found = []
    for words in cells.values():
        cell = index.cells[words[0]]
        if cell is None:
            continue
        text = " ".join(index.words[w].text for w in words)
        found.append(_Head(caption_words(text), roles_named(text) & _COLUMN_ROLES, cell.box))
    return found


def _usual_columns(items: list[Item], heads: list[_Head], index: Index) -> dict[str, int]:
    """Where most items have each field, by those that stand once in their band: a right edge."""
    edges: dict[str, Counter[int]] = {}
    for item in items:
        for value in item.values:
            inside = _inside(value, item, index)
            if len(inside) == 1 and not value.named:
                box = index.box(inside[0])
                step = max(1, box.height)
                edges.setdefault(value.name, Counter())[round(box.right / step)] += 1
    return {
        name: counts.most_common(1)[0][0]
        for name, counts in edges.items()
        if counts.most_common(1)[0][1] >= 2
    }


def _inside(value: Value, item: Item, index: Index) -> list[Run]:
    """Places of a value in an item's band, or level with its first line: a column set lower."""
    return [
        p
        for p in value.places
        if index.row_of[p.words[0]] in item.rows or index.row_beside(p) == item.row
    ]


def _in_band(item: Item, heads: list[_Head], usual: dict[str, int], index: Index) -> list[Verdict]:
    anchor = _anchor(item)
    out: list[Verdict] = []
    placed: list[tuple[Value, list[Run], bool]] = []
    for value in item.values:
        if value is anchor:
            place = next(p for p in value.places if index.row_of[p.words[0]] in item.rows)
            out.append(Verdict(value.result, place))
            continue
        inside = _inside(value, item, index)
        if not inside:
            if value.places:
                out.append(Verdict(value.result, None, "WRONG_ROW"))
            continue
        if value.named:
            out.append(Verdict(value.result, inside[0]))
            continue
        kept = [p for p in inside if column_says(value.name, p, heads, index) is not False]
        kept = [
            p
            for p in kept
            if _alone_in_column(p, item, index) and not _is_ordinal(value, p, item, heads, index)
        ]
        sure = [p for p in kept if column_says(value.name, p, heads, index)]
        if not kept:
            out.append(Verdict(value.result, None, "WRONG_COLUMN"))
            continue
        placed.append((value, sure or _in_usual(value, kept, usual, index), bool(sure)))
    return out + _shared(placed, index)


def _is_ordinal(value: Value, place: Run, item: Item, heads: list[_Head], index: Index) -> bool:
    """Whether a whole number that begins an item's line is its place in the list."""
    begins = place.words[0] == index.rows[index.row_of[place.words[0]]].start
    if (
        not begins
        or not place.text.isdigit()
        or int(place.text) not in (item.number, item.number + 1)
    ):
        return False
    return column_says(value.name, place, heads, index) is not True


def _alone_in_column(place: Run, item: Item, index: Index) -> bool:
    """Whether no other number of a band ends where a print ends that is not in its first line."""
    if item.row in (index.row_of[place.words[0]], index.row_beside(place)):
        return True
    box = index.box(place)
    reach = max(1, box.height)
    for row in item.rows:
        for word in range(index.rows[row].start, index.rows[row].end):
            for run, _ in index.numbers_by_word.get(word, ()):
                if run.words[-1] != word or set(run.words) & set(place.words):
                    continue
                if index.row_beside(run) not in (None, *item.rows):
                    # It is level with another item's line.
                    continue
                if abs(index.box(run).right - box.right) <= reach:
                    return False
    return True


def _in_usual(value: Value, places: list[Run], usual: dict[str, int], index: Index) -> list[Run]:
    """Of several prints the one in the column that the other items use."""
    if value.name not in usual or len(places) < 2:
        return places
    near = [
        p
        for p in places
        if abs(index.box(p).right / max(1, index.box(p).height) - usual[value.name]) <= 1.5
    ]
    return near or places


def _shared(placed: list[tuple[Value, list[Run], bool]], index: Index) -> list[Verdict]:
    """Values that are told by their columns, or by the one sum that they make; no place twice.

    Without heads, two numbers that may be each other's are told by quantity x price = amount only.
    """
    product = _is_product([value for value, _, _ in placed])
    out: list[Verdict] = []
    used: set[tuple[int, ...]] = set()
    for value, places, sure in sorted(placed, key=lambda p: (not p[2], len(p[1]))):
        free = [p for p in places if p.words not in used]
        if not free:
            out.append(Verdict(value.result, None, "CLAIMED_TWICE"))
            continue
        # The last number that no head tells is the one that is left.
        open_ = sum(v.amount is not None and not told for v, _, told in placed)
        numbers = sum(v.amount is not None for v, _, _ in placed)
        if not sure and numbers > 1 and open_ > 1 and not product:
            out.append(Verdict(value.result, None, "ROLE_UNKNOWN"))
            continue
        used.add(free[0].words)
        out.append(Verdict(value.result, free[0]))
    return out


def _is_product(values: list[Value]) -> bool:
    """Whether an item's numbers are a quantity, a price and their product."""
    by_role: dict[str, Decimal] = {}
    for value in values:
        role = vocabulary().names.get(name_words(value.name), "")
        if value.amount is not None and role in _ALIKE:
            key = role if role in ("quantity", "unit_price") else "amount"
            by_role.setdefault(key, value.amount)
    if set(by_role) != {"quantity", "unit_price", "amount"}:
        return False
    difference = by_role["quantity"] * by_role["unit_price"] - by_role["amount"]
    distinct = len(set(by_role.values())) == 3
    return distinct and abs(difference) <= Decimal("0.005")


def column_says(name: str, place: Run, heads: list[_Head], index: Index) -> bool | None:
    """Whether the head over a place is the field's: None where nothing tells."""
    if not heads:
        return None
    words = name_words(name)
    box = index.box(place)
    over = [h for h in heads if x_overlap(h.box, box) > 0]
    named = [h for h in heads if h.words == words]
    if named:
        return any(h in named for h in over) if over else None
    role = vocabulary().names.get(words, "")
    wanted = _ALIKE.get(role, frozenset({role}) if role else frozenset())
    told = [h for h in over if h.roles]
    if not wanted or not told:
        return None
    return any(h.roles & wanted for h in told)
