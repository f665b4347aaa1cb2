"""number, money, percent and quantity: decimals, never floats."""

import re
from dataclasses import dataclass
from decimal import Decimal

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec, Reason
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.locales import conventions
from visualproof_server.proving.values.numbers import NumberRead, scan_numbers
from visualproof_server.proving.values.units import CURRENCIES


@dataclass(frozen=True, slots=True)
class NumberClaim:
    """values holds what the claim may mean (several for a text such as "1.250").

    currencies and unit are empty where the claim states none.
    """

    values: frozenset[Decimal]
    digits: str
    percent: bool
    currencies: frozenset[str]
    unit: str


class Number:
    """A plain number: percentages are another kind, a printed unit is allowed unless it differs."""

    name = "number"
    chance = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> NumberClaim | None:
        currencies = frozenset({field.currency.upper()}) if field.currency else frozenset[str]()
        if isinstance(value, Decimal):
            return self._completed(
                NumberClaim(frozenset({value}), str(value), False, currencies, field.unit.lower())
            )
        if not isinstance(value, str):
            return None
        text = plain(value.strip())
        reads = scan_numbers(text)
        if reads and reads[0].loose:
            reads = reads[:1]
        if len(reads) != 1 or len(text) > 80:
            return None
        read = reads[0]
        rest = (text[: read.start] + text[read.end :]).strip()
        if rest and rest.lower() != read.unit:
            return None
        values = resolved(read, field, index)
        return self._completed(
            NumberClaim(
                frozenset(v for v in values),
                read.digits,
                read.percent,
                read.currencies or currencies,
                read.unit or field.unit.lower(),
            )
        )

    def find(self, claim: NumberClaim, field: FieldSpec, index: Index) -> list[Match]:
        matches = []
        for run, read in self._candidates(claim, index):
            same, code = self._compare(claim, read, run, field, index)
            if same or code in _DOUBTS:
                doubt = "" if same else code
                verbatim = read.digits == claim.digits
                matches.append(Match(run, doubt, self._lesser(claim, read), verbatim))
        return matches

    def misread(self, claim: NumberClaim, field: FieldSpec, index: Index) -> list[Run]:
        return [
            run
            for run, read in index.misread_numbers
            if self._compare(claim, read, run, field, index)[0]
        ]

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        wanted = set(words)
        reads = _by_word(index)
        hits = {id(run): (run, read) for w in words for run, read in reads.get(w, ())}
        spaced = conventions(field.locale).groups_by_space
        skipped = {"group"} if spaced else {"joined"}
        runs = [
            run
            for run, read in hits.values()
            if set(run.words) <= wanted and self._is(read) and read.loose not in skipped
        ]
        return sorted(runs, key=lambda r: r.words[0])

    def differs(self, claim: NumberClaim, run: Run, field: FieldSpec, index: Index) -> Difference:
        for found, read in _by_word(index).get(run.words[0], ()):
            if found.text == run.text:
                return Difference(self._compare(claim, read, found, field, index)[1])
        return Difference("VALUE_DIFFERS")

    def _completed(self, claim: NumberClaim) -> NumberClaim:
        return claim

    def _is(self, read: NumberRead) -> bool:
        """Whether a printed number can be one of this kind at all."""
        return not read.percent

    def _lesser(self, claim: NumberClaim, read: NumberRead) -> Reason | None:
        """10 of "10 cm" is a length."""
        return _WITH_UNIT if read.unit and not claim.unit else None

    def _candidates(self, claim: NumberClaim, index: Index) -> list[tuple[Run, NumberRead]]:
        by_value = _by_value(index)
        found = [hit for value in claim.values for hit in by_value.get(abs(value), ())]
        return list({id(hit[0]): hit for hit in found}.values())

    def _compare(
        self, claim: NumberClaim, read: NumberRead, run: Run, field: FieldSpec, index: Index
    ) -> tuple[bool, str]:
        """Whether they are the same, else a reason code; codes of _DOUBTS mean undecided."""
        values = resolved(read, field, index)
        if not values & claim.values:
            return False, self._why(claim, read)
        if read.percent != claim.percent:
            return False, "UNIT_DIFFERS"
        if claim.unit and not same_unit(claim.unit, read.unit):
            return False, "UNIT_DIFFERS"
        if claim.currencies and read.currencies and not claim.currencies & read.currencies:
            return False, "CURRENCY_DIFFERS"
        if read.sign == "?":
            return False, "SIGN_UNKNOWN"
        if (len(values) > 1 or len(claim.values) > 1) and read.digits != claim.digits:
            return False, "SEPARATOR_UNKNOWN"
        if len(values) > 1 and len(claim.values) == 1:
            return False, "SEPARATOR_UNKNOWN"
        if read.loose and not self._settled(read, field, index):
            return False, _LOOSE.get(read.loose, "GROUPING_UNKNOWN")
        if ZEROS.match(read.digits) and read.digits != claim.digits:
            return False, "LEADING_ZEROS"
        return True, ""

    def _settled(self, read: NumberRead, field: FieldSpec, index: Index) -> bool:
        """Whether spaces are known to group digits, or not to."""
        known = conventions(field.locale)
        if read.loose == "joined":
            return known.groups_by_space
        if read.loose != "group":
            return False
        return index.groups_by_mark or (bool(known.decimal_mark) and not known.groups_by_space)

    def _why(self, claim: NumberClaim, read: NumberRead) -> str:
        amounts = {abs(value) for value in claim.values}
        sizes = {abs(r.value).scaleb(read.exponent) for r in read.readings}
        if amounts & sizes:
            return "SIGN_DIFFERS"
        mantissas = {_mantissa(v) for v in sizes}
        if read.exponent and {_mantissa(v) for v in amounts} & mantissas:
            return "SCALE_DIFFERS"
        if {len(str(int(v))) for v in amounts} & {len(str(int(v))) for v in sizes}:
            return "DIGIT_DIFFERS"
        return "VALUE_DIFFERS"


_WITH_UNIT = Reason("UNIT_DIFFERS", "Printed with a unit that the claim does not have.")
_BARE = Reason("CURRENCY_UNKNOWN", "Printed as a bare whole number, maybe no amount.")
# As codes have them, and amounts that lost their decimal mark.
ZEROS = re.compile(r"0\d")
_LOOSE = {"scale": "SCALE_UNKNOWN", "bound": "BOUND_UNKNOWN"}
_DOUBTS = frozenset(
    {
        *_LOOSE.values(),
        "SIGN_UNKNOWN",
        "SEPARATOR_UNKNOWN",
        "GROUPING_UNKNOWN",
        "CURRENCY_UNKNOWN",
        "DECIMALS_MISSING",
        "LEADING_ZEROS",
    }
)


class Money(Number):
    """An amount: its currency must agree where both state one; quantities are no amounts."""

    name = "money"

    def _is(self, read: NumberRead) -> bool:
        return not read.percent and not read.unit

    def _lesser(self, claim: NumberClaim, read: NumberRead) -> Reason | None:
        """A bare integer may be a count."""
        return None if _has_cents(read) or read.currencies else _BARE

    def _compare(
        self, claim: NumberClaim, read: NumberRead, run: Run, field: FieldSpec, index: Index
    ) -> tuple[bool, str]:
        same, code = super()._compare(claim, read, run, field, index)
        if same and read.unit:
            return False, "UNIT_DIFFERS"
        if same and not _has_cents(read) and _prints_cents(index):
            return False, "DECIMALS_MISSING"
        if same and claim.currencies and not read.currencies:
            near = _currencies_near(run, index)
            if near and not claim.currencies & near:
                return False, "CURRENCY_DIFFERS"
            if not near:
                return False, "CURRENCY_UNKNOWN"
        return same, code


class Percent(Number):
    """20% is printed 20 %, and is not 20. A JSON number is taken to be percent."""

    name = "percent"

    def _completed(self, claim: NumberClaim) -> NumberClaim:
        return NumberClaim(claim.values, claim.digits, True, frozenset(), "")

    def _is(self, read: NumberRead) -> bool:
        return read.percent


class Quantity(Number):
    """A number with its unit, as printed; conversion is a derivation's."""

    name = "quantity"

    def _is(self, read: NumberRead) -> bool:
        return bool(read.unit) or read.percent


def resolved(read: NumberRead, field: FieldSpec, index: Index) -> frozenset[Decimal]:
    """The signed, scaled values that a printed number can mean under locale and document."""
    readings = read.readings
    if len(readings) > 1:
        mark = conventions(field.locale).decimal_mark or index.decimal_mark
        readings = tuple(r for r in readings if r.mark == mark) or readings
    values = {r.value.scaleb(read.exponent) for r in readings}
    if read.sign == "-":
        return frozenset(-v for v in values)
    if read.sign == "?":
        return frozenset(values | {-v for v in values})
    return frozenset(values)


def same_unit(ours: str, theirs: str) -> bool:
    """Equal but for spelling of the same unit."""
    return _UNITS.get(ours, ours) == _UNITS.get(theirs, theirs)


_UNITS = {
    "watts": "w", "watt": "w", "volts": "v", "volt": "v", "amps": "a", "hrs": "h", "hr": "h",
    "hour": "h", "hours": "h", "mins": "min", "lbs": "lb", "m²": "m2", "sqm": "m2", "m³": "m3",
    "km²": "km2", "pcs": "pc", "days": "day", "years": "year", "weeks": "week",
    "months": "month", "sec": "s",
}  # fmt: skip


def _currencies_near(run: Run, index: Index) -> frozenset[str]:
    """Currencies named in the run's row or, failing that, the only ones of the document."""
    row = index.rows[index.row_of[run.words[0]]]
    here = _named(plain(row.text))
    return here or _document_currencies(index)


def _document_currencies(index: Index) -> frozenset[str]:
    known: frozenset[str] | None = index.cache.get("currencies")
    if known is None:
        sets = {_named(plain(row.text)) for row in index.rows} - {frozenset()}
        common = frozenset.intersection(*sets) if sets else frozenset()
        known = common
        index.cache["currencies"] = known
    return known


def _named(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in text.replace("(", " ").replace(")", " ").split():
        word = word.strip(".,:;")
        symbol = word.strip("0123456789.,-")
        if word.isupper() and word.lower() in CURRENCIES:
            found |= CURRENCIES[word.lower()]
        elif (symbol and not symbol.isalpha() and symbol.lower() in CURRENCIES) or (
            symbol.isupper() and symbol != word and symbol.lower() in CURRENCIES
        ):
            found |= CURRENCIES[symbol.lower()]
    return frozenset(found)


def _by_value(index: Index) -> dict[Decimal, list[tuple[Run, NumberRead]]]:
    table: dict[Decimal, list[tuple[Run, NumberRead]]] | None = index.cache.get("by_value")
    if table is None:
        table = {}
        for run, read in index.numbers:
            for reading in read.readings:
                table.setdefault(reading.value.scaleb(read.exponent), []).append((run, read))
        index.cache["by_value"] = table
    return table


def _by_word(index: Index) -> dict[int, list[tuple[Run, NumberRead]]]:
    table: dict[int, list[tuple[Run, NumberRead]]] | None = index.cache.get("by_word")
    if table is None:
        table = {}
        for run, read in index.numbers:
            for word in run.words:
                table.setdefault(word, []).append((run, read))
        index.cache["by_word"] = table
    return table


def _mantissa(value: Decimal) -> str:
    return "".join(map(str, value.normalize().as_tuple().digits))


def _has_cents(read: NumberRead) -> bool:
    return bool(read.exponent) or len(_after_mark(read.digits)) == 2


def _prints_cents(index: Index) -> bool:
    """Whether the document's amounts show two decimals, but for a few."""
    known: bool | None = index.cache.get("cents")
    if known is None:
        amounts = [r for _, r in index.numbers if r.currencies or len(_after_mark(r.digits)) == 2]
        with_cents = sum(_has_cents(r) for r in amounts)
        known = with_cents >= 3 and with_cents >= 0.8 * len(amounts)
        index.cache["cents"] = known
    return known


def _after_mark(chunk: str) -> str:
    return (
        chunk[max(chunk.rfind("."), chunk.rfind(",")) + 1 :] if "." in chunk or "," in chunk else ""
    )
