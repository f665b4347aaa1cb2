"""number, percent and quantity: decimals, never floats."""

import re
from dataclasses import dataclass
from decimal import Decimal

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec, Reason
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stated import Stated
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text, plain
from visualproof_server.proving.values.locales import conventions
from visualproof_server.proving.values.number_read import NumberRead, Reading
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.proving.values.units import same_unit, unit_at

# Scales that a caption may state, for looking a claim up by what is printed under it.
_STATED_SCALES = (2, 3, 4, 5, 6, 7, 8, 9, 12)
# As codes have them, and amounts that lost their decimal mark.
ZEROS = re.compile(r"0\d")
_MAX_CLAIM = 80
_WITH_UNIT = Reason("UNIT_DIFFERS", "Printed with a unit that the claim does not have.")


@dataclass(frozen=True, slots=True)
class NumberClaim:
    """A claim, read by the grammar that reads print.

    values holds what it may mean (several for a text such as "1.250"). currencies and unit are
    what the claim or its field states, empty where neither does.
    """

    values: frozenset[Decimal]
    read: NumberRead
    currencies: frozenset[str]
    unit: str


class Number:
    """A plain number: percentages are another kind, a printed unit is allowed unless it differs."""

    name = "number"
    repeats_by_chance = True
    is_text = False
    is_amount = False
    is_code = False
    is_literal = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> NumberClaim | None:
        named = frozenset({field.currency.upper()}) if field.currency else frozenset[str]()
        unit = _unit_of(field.unit)
        if isinstance(value, Decimal):
            read = NumberRead(start=0, end=0, digits=str(value), readings=(Reading(value, "."),))
            return self._completed(NumberClaim(frozenset({value}), read, named, unit))
        if not isinstance(value, str):
            return None
        whole = _whole(" ".join(plain(value).split()))
        if whole is None:
            return None
        own = whole.unit or fold_text(whole.word)
        return self._completed(
            NumberClaim(
                resolved(whole, field, index), whole, whole.currencies or named, own or unit
            )
        )

    def needs_context(self, claim: NumberClaim, run: Run, index: Index) -> bool:
        """A single digit stands everywhere."""
        if claim.unit or claim.currencies:
            return False
        reads = [r for found, r in index.numbers_by_word.get(run.words[0], ()) if found == run]
        return any(
            len(r.digits) == 1 and not r.currencies and not r.unit and not r.bound for r in reads
        )

    def find(self, claim: NumberClaim, field: FieldSpec, index: Index) -> list[Match]:
        matches = []
        for run, read in self._candidates(claim, index):
            code = self._compare(claim, read, run, field, index)
            if not code or code in _DOUBTS:
                verbatim = read.digits == claim.read.digits
                matches.append(Match(run, code, self._ranked_lower(claim, read), verbatim))
        return matches

    def misread(self, claim: NumberClaim, field: FieldSpec, index: Index) -> list[Run]:
        return [
            run
            for run, read in index.misread_numbers
            if not self._compare(claim, read, run, field, index)
        ]

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        wanted = set(words)
        hits = {
            id(run): (run, read) for w in words for run, read in index.numbers_by_word.get(w, ())
        }
        spaced = conventions(field.locale).groups_by_space
        runs = [
            (run, read)
            for run, read in hits.values()
            if _digits_in(run, index) <= wanted and self._is(read, run, index)
        ]
        joined = [
            r for r, read in runs if Doubt.JOINED in read.doubts and _joins(read, spaced, index)
        ]
        inside = {w for r in joined for w in r.words}
        kept = [
            run
            for run, read in runs
            if (Doubt.JOINED in read.doubts and run in joined)
            or (Doubt.JOINED not in read.doubts and not set(run.words) & inside)
        ]
        return sorted(kept, key=lambda r: (r.words[0], -len(r.words), -len(r.text)))

    def differs(self, claim: NumberClaim, run: Run, field: FieldSpec, index: Index) -> Difference:
        for found, read in index.numbers_by_word.get(run.words[0], ()):
            if found.text == run.text:
                return Difference(
                    self._compare(claim, read, found, field, index) or "VALUE_DIFFERS"
                )
        return Difference("VALUE_DIFFERS")

    def _completed(self, claim: NumberClaim) -> NumberClaim | None:
        return claim

    def _is(self, read: NumberRead, run: Run, index: Index) -> bool:
        """Whether a printed number can be one of this kind at all."""
        return read.unit not in ("%", "‰")

    def _ranked_lower(self, claim: NumberClaim, read: NumberRead) -> Reason | None:
        """10 of "10 cm" is a length."""
        return _WITH_UNIT if read.unit not in _COUNTS and not claim.unit else None

    def _candidates(self, claim: NumberClaim, index: Index) -> list[tuple[Run, NumberRead]]:
        by_size = index.numbers_by_size
        found = [hit for value in claim.values for hit in by_size.get(abs(value), ())]
        for value in claim.values:
            for power in _STATED_SCALES:
                small = abs(value).scaleb(-power)
                found += [
                    hit
                    for hit in by_size.get(small, ())
                    if power in index.statements.of(hit[0]).exponents and not hit[1].scaled
                ]
        return list({id(hit[0]): hit for hit in found}.values())

    def _compare(
        self, claim: NumberClaim, read: NumberRead, run: Run, field: FieldSpec, index: Index
    ) -> str:
        """ "" where they are the same, else a reason code; codes of _DOUBTS mean undecided."""
        stated = index.statements.of(run)
        code = self._sizes(claim, read, stated, field, index)
        if code:
            return code
        if claim.read.bound != read.bound:
            return Doubt.BOUND_UNKNOWN if read.bound else "VALUE_DIFFERS"
        code = self._units(claim, read, stated) or self._currencies(claim, read, stated, field)
        if code:
            return code
        if read.sign == "?":
            return Doubt.SIGN_UNKNOWN
        return self._doubts(claim, read, run, field, index)

    def _sizes(
        self, claim: NumberClaim, read: NumberRead, stated: Stated, field: FieldSpec, index: Index
    ) -> str:
        """Whether value, range and mixed parts are equal, under what a caption says of the scale."""
        values = resolved(read, field, index)
        scaled = stated.exponents and not read.scaled and read.unit not in ("%", "‰")
        if scaled and not claim.read.scaled and values & claim.values:
            # 950 under "in thousands" is not 950.
            return Doubt.SCALE_UNKNOWN if not _small_share(claim) else ""
        if scaled and not values & claim.values:
            values = frozenset(v.scaleb(e) for v in values for e in stated.exponents)
        if not values & claim.values:
            return self._why(claim, read)
        ours, theirs = claim.read, read
        if (ours.until is None) != (theirs.until is None):
            return Doubt.PART_OF_RANGE if theirs.until is not None else "VALUE_DIFFERS"
        if ours.until is not None and theirs.until is not None:
            if not resolved(ours.until, field, index) & resolved(theirs.until, field, index):
                return "VALUE_DIFFERS"
        if len(ours.rest) != len(theirs.rest):
            return Doubt.PART_OF_RANGE if theirs.rest else "VALUE_DIFFERS"
        for one, other in zip(ours.rest, theirs.rest, strict=True):
            if not one.values() & other.values() or one.unit != other.unit:
                return "VALUE_DIFFERS"
        return ""

    def _units(self, claim: NumberClaim, read: NumberRead, stated: Stated) -> str:
        share, claimed = read.unit in ("%", "‰"), claim.unit in ("%", "‰")
        if share != claimed and not (claimed and claim.unit == stated.unit):
            return "UNIT_DIFFERS"
        if not claim.unit:
            return ""
        for unit in (read.unit, fold_text(read.word), "" if read.unit else stated.unit):
            if unit and same_unit(claim.unit, unit):
                return Doubt.UNIT_UNKNOWN if Doubt.UNIT_UNKNOWN in read.doubts else ""
        return "UNIT_DIFFERS"

    def _currencies(
        self, claim: NumberClaim, read: NumberRead, stated: Stated, field: FieldSpec
    ) -> str:
        if not claim.currencies:
            return ""
        printed = read.currencies
        if printed and stated.currencies and len(printed) > 1 and printed & stated.currencies:
            # A code narrows a sign.
            printed = printed & stated.currencies
        if printed and not claim.currencies & printed:
            return "CURRENCY_DIFFERS"
        local = printed & conventions(field.locale).currencies
        if len(printed) > 1 and local and not claim.currencies & local:
            # kr is another currency in Norway than in Sweden.
            return Doubt.CURRENCY_UNKNOWN
        return ""

    def _doubts(
        self, claim: NumberClaim, read: NumberRead, run: Run, field: FieldSpec, index: Index
    ) -> str:
        values = resolved(read, field, index)
        same = read.digits == claim.read.digits
        if len(values) > 1 and len(read.exponents) > 1:
            return Doubt.SCALE_UNKNOWN
        if (len(values) > 1 or len(claim.values) > 1) and not (same and len(claim.values) > 1):
            return Doubt.SEPARATOR_UNKNOWN
        for doubt in sorted(read.doubts):
            if not self._settled(doubt, read, field, index):
                return Doubt.GROUPING_UNKNOWN if doubt in _GROUPINGS else doubt
        if ZEROS.match(read.digits) and not same:
            return Doubt.LEADING_ZEROS
        return ""

    def _settled(self, doubt: Doubt, read: NumberRead, field: FieldSpec, index: Index) -> bool:
        """Whether spaces are known to group digits, or not to."""
        known = conventions(field.locale)
        if doubt is Doubt.JOINED:
            return _joins(read, known.groups_by_space, index)
        if doubt is Doubt.SPACED:
            local = bool(known.decimal_mark) and not known.groups_by_space
            return _by_mark(read, index) or (local and _mark(read) in ("", known.decimal_mark))
        return False

    def _why(self, claim: NumberClaim, read: NumberRead) -> str:
        amounts = {abs(value) for value in claim.values}
        sizes = {abs(value) for value in read.values()}
        if amounts & sizes:
            return "SIGN_DIFFERS"
        mantissas = {_mantissa(v) for v in sizes}
        if read.scaled and {_mantissa(v) for v in amounts} & mantissas:
            return "SCALE_DIFFERS"
        if {len(str(int(v))) for v in amounts} & {len(str(int(v))) for v in sizes}:
            return "DIGIT_DIFFERS"
        return "VALUE_DIFFERS"


# Units of what is counted: 12 pcs are 12.
_COUNTS = frozenset({"", "pcs", "person", "x", "pax", "day", "week", "month", "year", "h", "min"})
_GROUPINGS = frozenset({Doubt.JOINED, Doubt.SPACED})
_DOUBTS = frozenset(
    {
        Doubt.BOUND_UNKNOWN,
        Doubt.CURRENCY_UNKNOWN,
        Doubt.DECIMALS_MISSING,
        Doubt.GROUPING_UNKNOWN,
        Doubt.LEADING_ZEROS,
        Doubt.PART_OF_RANGE,
        Doubt.SCALE_UNKNOWN,
        Doubt.SEPARATOR_UNKNOWN,
        Doubt.SIGN_UNKNOWN,
        Doubt.UNIT_UNKNOWN,
    }
)


class Percent(Number):
    """20% is printed 20 %, and is not 20. A JSON number is taken to be percent."""

    name = "percent"

    def _completed(self, claim: NumberClaim) -> NumberClaim | None:
        if claim.unit not in ("", "%"):
            return claim if claim.unit == "‰" else None
        return NumberClaim(claim.values, claim.read, frozenset(), "%")

    def _is(self, read: NumberRead, run: Run, index: Index) -> bool:
        return read.unit == "%" or (not read.unit and index.statements.of(run).unit == "%")


class Quantity(Number):
    """A number with its unit, as printed; conversion is a derivation's."""

    name = "quantity"

    def _is(self, read: NumberRead, run: Run, index: Index) -> bool:
        return bool(read.unit or read.word or index.statements.of(run).unit)


def _whole(text: str) -> NumberRead | None:
    """The one number that a text is, with nothing left over; None if it is none or more."""
    if len(text) > _MAX_CLAIM:
        return None
    reads = scan_numbers(text)
    wholes = [r for r in reads if Doubt.PART_OF_RANGE not in r.doubts]
    for read in sorted(wholes, key=lambda r: r.start - r.end):
        rest = (text[: read.start] + " " + text[read.end :]).strip(" .")
        if read.word and fold_text(rest) == fold_text(read.word):
            rest = ""
        if read.bound and rest:
            bare = scan_numbers(text[read.start : read.end])
            rest = "" if bare and not bare[0].bound else rest
        if not rest:
            return read
    return None


def _unit_of(stated: str) -> str:
    if not stated:
        return ""
    unit, size = unit_at(stated.strip(), False)
    return unit if size == len(stated.strip()) else stated.strip()


def resolved(read: NumberRead, field: FieldSpec, index: Index) -> frozenset[Decimal]:
    """The signed, scaled values that a printed number can mean under locale and document."""
    if len(read.readings) == 1:
        return read.values()
    return read.values(conventions(field.locale).decimal_mark or index.decimal_mark)


def _mark(read: NumberRead) -> str:
    """The last mark among the digits, before decimals as a rule."""
    return re.sub(r"\d", "", read.digits)[-1:]


def _by_mark(read: NumberRead, index: Index) -> bool:
    """Whether the document groups digits by a mark, and this number does not write otherwise."""
    return bool(index.grouping_mark) and index.grouping_mark != _mark(read)


def _joins(read: NumberRead, spaced: bool, index: Index) -> bool:
    """Whether groups that spaces part are one number: where the locale writes so, or where what is
    attached leaves no other reading."""
    if _by_mark(read, index):
        return False
    cents = not read.digits.isdigit()
    attached = bool(read.currencies or read.unit or read.scaled)
    if spaced:
        return cents or attached or len(read.digits) <= 6
    return attached and not cents


def _digits_in(run: Run, index: Index) -> set[int]:
    """The words of a number that hold its digits; its currency may be its caption's: (GBP) 5.00."""
    held = {w for w in run.words if any(c.isdigit() for c in index.words[w].text)}
    return held or set(run.words)


def _small_share(claim: NumberClaim) -> bool:
    """Amounts per share and shares are given in full under a head that scales the others."""
    return claim.unit in ("%", "‰")


def _mantissa(value: Decimal) -> str:
    return "".join(map(str, value.normalize().as_tuple().digits))
