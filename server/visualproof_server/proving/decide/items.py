"""Lists in an answer: each item has a place, or a row of a table, of its own."""

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from visualproof_server.model.report import REASONS, FieldResult, Reason, Status
from visualproof_server.proving.decide.bands import Item, Value, column_says, table_heads
from visualproof_server.proving.decide.bands import settle as settle_bands
from visualproof_server.proving.decide.printed_roles import PrintedRoles
from visualproof_server.proving.decide.roles import SUMS
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run

# Places of one value up to which they are looked at.
MAX_PLACES = 500

TableRow = tuple[int, int]
"""Table and row, both 1-based."""


class Judge(Protocol):
    """What a result becomes when its list decides."""

    index: Index
    roles: PrintedRoles

    def places(self, result: FieldResult) -> list[Run]:
        """Every place that prints a value which is proven, or open between equal prints.

        The first is its own if it is proven. Empty for all other results.
        """
        ...

    def settle(self, result: FieldResult, place: Run) -> FieldResult:
        """The result as proven at one of its places, if that was read well."""
        ...

    def unsettle(self, result: FieldResult, status: Status, note: Reason) -> FieldResult:
        """The result without its green, for a reason that goes first."""
        ...

    def row_of(self, path: str, run: Run, note: Reason) -> FieldResult:
        """A result for a printed row that no item claims."""
        ...


def settle_lists(results: list[FieldResult], judge: Judge) -> list[FieldResult]:
    """Items of one list, each with a place of its own.

    Items that stand in rows of a table are matched to rows first, in any order, each row once: the
    row decides between equal prints, and a value from another row is not the item's. Then equal
    amounts that are printed as often as they are claimed take their places in order; an amount
    whose proof points where another item's already does is ambiguous. A row between those of the
    list that no item claims is a result of its own, at the path `/list/-/ROW`.
    """
    out = list(results)
    missing: list[FieldResult] = []
    for name, items in _lists(results).items():
        rows = _Rows(name, items, out, judge)
        missing += rows.settle()
        _settle_bands(rows.unplaced(), out, judge)
    _settle_equal(out, judge)
    return out + missing


def _settle_bands(items: dict[int, list[int]], out: list[FieldResult], judge: Judge) -> None:
    """Items that are in no row of a table, each in a band of lines of its own."""
    made = [
        Item(number, [_value(out[n], n, judge) for n in results])
        for number, results in sorted(items.items())
    ]
    for verdict in settle_bands(made, judge.index):
        result = out[verdict.result]
        if verdict.place is not None:
            out[verdict.result] = judge.settle(result, verdict.place)
        elif result.status in (Status.VERIFIED, Status.AMBIGUOUS):
            note = Reason(verdict.code, REASONS[verdict.code])
            status = _BAND_STATUS.get(verdict.code, Status.AMBIGUOUS)
            out[verdict.result] = judge.unsettle(result, status, note)


_BAND_STATUS = {
    "WRONG_ROW": Status.FOUND_ELSEWHERE,
    "WRONG_COLUMN": Status.FOUND_ELSEWHERE,
}


def _value(result: FieldResult, number: int, judge: Judge) -> Value:
    places = judge.places(result)
    kind = KINDS.get(result.kind)
    named = kind is not None and kind.is_text
    text = result.value_json
    amount = Decimal(text) if _NUMBER.fullmatch(text) else None
    kept = tuple(places) if len(places) <= MAX_PLACES else ()
    return Value(number, result.path.rsplit("/", 1)[-1], kept, named, amount)


_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?")


def _pattern(path: str) -> str:
    """A path with its indexes as "*": the same for all items of a list."""
    return "/".join("*" if p.isdigit() else p for p in path.split("/"))


def _settle_equal(out: list[FieldResult], judge: Judge) -> None:
    groups: dict[tuple[str, str], list[int]] = {}
    used: dict[tuple[str, tuple[int, ...]], str] = {}
    for number, result in enumerate(out):
        pattern = _pattern(result.path)
        places = judge.places(result) if "*" in pattern else []
        if not places:
            continue
        if result.status is Status.AMBIGUOUS:
            groups.setdefault((pattern, result.value_json), []).append(number)
        elif KINDS[result.kind].repeats_by_chance:
            key = (pattern, places[0].words)
            if key in used:
                note = Reason("CLAIMED_TWICE", f"{used[key]} already uses this place.")
                out[number] = judge.unsettle(result, Status.AMBIGUOUS, note)
            used.setdefault(key, result.path)
    for (pattern, _), numbers in groups.items():
        free = [p for p in judge.places(out[numbers[0]]) if (pattern, p.words) not in used]
        if len(numbers) > 1 and len(free) == len(numbers):
            for number, place in zip(numbers, free, strict=True):
                out[number] = judge.settle(out[number], place)


def _lists(results: list[FieldResult]) -> dict[str, dict[int, list[int]]]:
    """Lists of objects: path of the list -> item -> numbers of its results."""
    lists: dict[str, dict[int, list[int]]] = {}
    for number, result in enumerate(results):
        parts = result.path.split("/")
        at = max((i for i, part in enumerate(parts[:-1]) if part.isdigit()), default=0)
        if at:
            items = lists.setdefault("/".join(parts[:at]), {})
            items.setdefault(int(parts[at]), []).append(number)
    return lists


@dataclass(slots=True)
class _Item:
    """An item's results (by number), and how many of them stand in each row."""

    number: int
    results: list[int]
    rows: Counter[TableRow] = field(default_factory=Counter)
    row: TableRow | None = None


class _Rows:
    """One list matched to rows of tables."""

    def __init__(
        self, name: str, items: dict[int, list[int]], out: list[FieldResult], judge: Judge
    ) -> None:
        self._name, self._out, self._judge, self._index = name, out, judge, judge.index
        self._items = [_Item(number, results) for number, results in sorted(items.items())]
        self._places: dict[int, list[Run]] = {}
        self._known_rows: dict[tuple[int, int, int], frozenset[TableRow]] = {}
        columns: dict[str, Counter[int]] = {}
        for item in self._items:
            for number in item.results:
                places = judge.places(out[number])
                # What is printed all over the document says nothing of a row.
                self._places[number] = places if len(places) <= MAX_PLACES else []
                item.rows.update(frozenset().union(*map(self._rows, self._places[number])))
                if len(places) == 1:
                    found = columns.setdefault(_pattern(out[number].path), Counter())
                    found[self._column(places[0])] += 1
        # Where most items have each field, by those values that stand in one place.
        self._columns = {name: found.most_common(1)[0][0] for name, found in columns.items()}

    def settle(self) -> list[FieldResult]:
        """Decides the items' results in place; gives those for rows that no item claims."""
        taken = self._assign()
        for item in self._items:
            if item.row is not None:
                self._keep_to_row(item, item.row)
            elif item.rows:
                self._without_row(item, taken)
        return self._missing(taken)

    def unplaced(self) -> dict[int, list[int]]:
        """Items that stand in no row of a table, with their results."""
        return {item.number: item.results for item in self._items if item.row is None}

    def _rows(self, place: Run) -> frozenset[TableRow]:
        """Rows of a table that a place stands in, or beside; a row of names alone goes with its
        neighbours."""
        cell, table = self._index.cells[place.words[0]], self._index.table_of(place.words[0])
        if cell is None:
            beside = self._index.row_beside(place)
            row = self._index.rows[beside] if beside is not None else None
            if row is None or not row.table or row.table in self._index.doubtful_tables:
                return frozenset()
            return frozenset({(row.table, row.table_row)})
        if table in self._index.doubtful_tables:
            return frozenset()
        key = (table, cell.row, cell.row_span)
        if key not in self._known_rows:
            rows = set(range(cell.row, cell.row + cell.row_span))
            if not any(self._has_value(table, row) for row in rows):
                rows |= {min(rows) - 1, max(rows) + 1}
            self._known_rows[key] = frozenset((table, row) for row in rows)
        return self._known_rows[key]

    def _column(self, place: Run) -> int:
        cell = self._index.cells[place.words[0]]
        return cell.column if cell is not None else 0

    def _has_value(self, table: int, row: int) -> bool:
        return any(c.isdigit() for w in self._row_words(table, row) for c in self._text(w))

    def _text(self, word: int) -> str:
        return self._index.words[word].text

    def _row_words(self, table: int, row: int) -> list[int]:
        return self._index.words_by_table_row.get((table, row), [])

    def _assign(self) -> dict[TableRow, _Item]:
        """Rows to items, the best supported first, each once; two values make a row an item's."""
        taken: dict[TableRow, _Item] = {}
        offers = sorted(
            (-count, item.number, row)
            for item in self._items
            for row, count in item.rows.items()
            if count >= 2
        )
        by_number = {item.number: item for item in self._items}
        for _, number, row in offers:
            item = by_number[number]
            if item.row is None and row not in taken:
                item.row, taken[row] = row, item
        return taken

    def _keep_to_row(self, item: _Item, row: TableRow) -> None:
        for number in item.results:
            result = self._out[number]
            places = self._places[number]
            inside = [p for p in places if row in self._rows(p)]
            if inside and not self._in_column(number, inside):
                note = Reason("WRONG_COLUMN", REASONS["WRONG_COLUMN"])
                self._out[number] = self._judge.unsettle(result, Status.FOUND_ELSEWHERE, note)
                continue
            inside = self._in_column(number, inside)
            if inside:
                # Equal prints in one row: the column of the other items' values, if they have one.
                usual = self._columns.get(_pattern(result.path), 0)
                place = min(inside, key=lambda p: self._column(p) != usual)
                if result.status is Status.AMBIGUOUS or place != places[0]:
                    self._out[number] = self._judge.settle(result, place)
            elif any(r[0] == row[0] for p in places for r in self._rows(p)):
                note = Reason(
                    "WRONG_ROW",
                    f"The item's other values stand in row {row[1]} of table {row[0]}; not this.",
                )
                self._out[number] = self._judge.unsettle(result, Status.FOUND_ELSEWHERE, note)

    def _in_column(self, number: int, places: list[Run]) -> list[Run]:
        """Those places that do not stand under a head which names another field."""
        name = self._out[number].path.rsplit("/", 1)[-1]
        kept = []
        for place in places:
            heads = table_heads(self._index.table_of(place.words[0]), self._index)
            if column_says(name, place, heads, self._index) is not False:
                kept.append(place)
        return kept

    def _without_row(self, item: _Item, taken: dict[TableRow, _Item]) -> None:
        """An item whose values stand in different rows, or in another item's."""
        claimed = [row for row, count in item.rows.items() if count >= 2 and row in taken]
        named = [n for n in item.results if not KINDS[self._out[n].kind].repeats_by_chance]
        named = [n for n in named if self._places[n]]
        # What is printed in lines too is told by its band.
        places = sum(self._only_in_tables(n) for n in item.results)
        if claimed:
            other = taken[claimed[0]].number
            text = (
                f"{self._name}/{other} already uses row {claimed[0][1]} of table {claimed[0][0]}."
            )
            code, status = "CLAIMED_TWICE", Status.AMBIGUOUS
        elif places >= 2:
            text = "The item's values stand in different rows of a table."
            code, status = "WRONG_ROW", Status.FOUND_ELSEWHERE
        else:
            return
        for number in item.results:
            in_table = any(self._rows(p) for p in self._places[number])
            if in_table and self._out[number].status is Status.VERIFIED:
                # The name stays: its row is the one that the others are not in.
                if code == "WRONG_ROW" and number in named[:1]:
                    continue
                self._out[number] = self._judge.unsettle(
                    self._out[number], status, Reason(code, text)
                )

    def _only_in_tables(self, number: int) -> bool:
        places = self._places[number]
        return bool(places) and all(self._rows(p) for p in places)

    def _missing(self, taken: dict[TableRow, _Item]) -> list[FieldResult]:
        """Rows like those of the items, which no item claims."""
        tables = {table for table, _ in taken}
        if len(tables) != 1 or len(taken) < 2:
            return []
        (table,) = tables
        columns = set.intersection(*(self._filled(table, row) for _, row in taken))
        rows = [row for number, row in self._index.words_by_table_row if number == table]
        touched = {row for item in self._items for row, count in item.rows.items() if count >= 2}
        out = []
        for row in sorted(rows):
            words = self._row_words(table, row)
            heads = any(c.column_header for w in words if (c := self._index.cells[w]))
            run = Run(tuple(words), " ".join(self._text(w) for w in words))
            last = Run((words[-1],), self._text(words[-1]))
            if heads or (table, row) in touched or not columns <= self._filled(table, row):
                continue
            if self._is_sum(last) or not self._has_value(table, row):
                continue
            note = Reason("ITEM_MISSING", f"Row {row} of table {table} is printed; no item has it.")
            out.append(self._judge.row_of(f"{self._name}/-/{row}", run, note))
        return out

    def _is_sum(self, last: Run) -> bool:
        return bool(self._judge.roles.at(last) & SUMS)

    def _filled(self, table: int, row: int) -> set[int]:
        return {c.column for w in self._row_words(table, row) if (c := self._index.cells[w])}
