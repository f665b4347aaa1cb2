"""The prose guard: a text made from verified values may contain no number that is not among them."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.prose import ProseClass, ProseReport, ProseSpan
from visualproof_server.model.report import Outcome, Report, Status
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text, plain
from visualproof_server.proving.values import spelled
from visualproof_server.proving.values.dates import scan_dates
from visualproof_server.proving.values.number_read import NumberRead
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.proving.values.units import same_unit

MAX_TEXT = 200_000
MAX_REPORTS = 50
# Digits of a number, and of one rounded at as many decimals.
_CONTEXT = Context(prec=200)

# It begins where no letter is before it, or each letter of a long word would be a try.
_LEFT_OVER = re.compile(r"(?<![^\W\d_])[^\W\d_]*+\d[^\W_]*(?:[.,/:'\-]\d+)*[⁰¹²³⁴-⁹½¼¾]*")


class _Taken:
    """Which characters of a text are a part of something found."""

    def __init__(self, text: str) -> None:
        self._marks = bytearray(len(text))

    def add(self, start: int, end: int) -> None:
        self._marks[start:end] = b"\x01" * (end - start)

    def any(self, start: int, end: int) -> bool:
        return self._marks.find(1, start, end) >= 0


@dataclass(frozen=True, slots=True)
class _Fact:
    """A verified number: with its unit ("%" among them), currency and bound."""

    value: Decimal
    unit: str
    currencies: frozenset[str]
    bound: str
    path: str
    derived: bool


class _Facts:
    """All that may be said."""

    def __init__(self, reports: Iterable[Report], rounding: bool) -> None:
        self._rounding = rounding
        # In the reports' order, each once, with the first path that says it.
        self._numbers: dict[tuple[object, ...], _Fact] = {}
        # By the decimals that are shown: what rounds to a value at these.
        self._by_value: dict[int | None, dict[Decimal, list[_Fact]]] = {}
        self.days: dict[date, str] = {}
        self.codes: dict[str, str] = {}
        for report in reports:
            for result in report.results:
                if result.status in (Status.VERIFIED, Status.DERIVED):
                    derived = result.status is Status.DERIVED
                    texts = [result.printed_text, *(e.text for e in result.evidence)]
                    if derived:
                        texts = [_said_by(result.value_json)]
                    self._add(texts, [e.context for e in result.evidence], result.path, derived)
            for relation in report.relations:
                if relation.outcome is Outcome.HOLDS:
                    literal = re.sub(r"/[^\s+*(),<>=]+", " ", relation.expression)
                    self._add([literal.replace("=", " ")], [], relation.expression, True)

    def of(self, value: Decimal) -> list[_Fact]:
        """Facts that a number shown states, units aside."""
        places = -int(value.as_tuple().exponent) if self._rounding else None
        if places not in self._by_value:
            made: dict[Decimal, list[_Fact]] = {}
            for fact in self._numbers.values():
                same = {fact.value}
                if places is not None:
                    same.add(_rounded(fact.value, places))
                for one in same:
                    made.setdefault(one, []).append(fact)
            self._by_value[places] = made
        return self._by_value[places].get(value, [])

    def _add(self, texts: list[str], contexts: list[str], path: str, derived: bool) -> None:
        own: set[Decimal] = set()
        for text in map(plain, texts):
            days, taken = _Taken(text), _Taken(text)
            for read in scan_dates(text):
                days.add(read.start, read.end)
                taken.add(read.start, read.end)
                for day in read.days if len(read.days) == 1 else ():
                    self.days.setdefault(day, path)
            for number in scan_numbers(text):
                taken.add(number.start, number.end)
                # The 15 of a day is no number.
                if not days.any(number.start, number.end):
                    own |= self._number(number, path, derived)
            for match in _LEFT_OVER.finditer(text):
                # The 15 of a day, the 020 of an amount are no codes.
                if not taken.any(*match.span()):
                    self.codes.setdefault(match.group(), path)
        # The unit or currency may stand beside what was matched: "104110" in "104110 m3/day".
        for text in map(plain, contexts):
            for number in scan_numbers(text):
                if number.values() & own:
                    self._number(number, path, derived)

    def _number(self, read: NumberRead, path: str, derived: bool) -> set[Decimal]:
        values = read.values()
        if len(values) != 1 or read.doubts or read.until is not None or read.rest:
            return set()
        (value,) = values
        unit = read.unit or fold_text(read.word)
        fact = _Fact(value, unit, read.currencies, read.bound, path, derived)
        self._numbers.setdefault((value, unit, read.currencies, read.bound, derived), fact)
        return set(values)


def _said_by(value_json: str) -> str:
    """A value's text; none for what is no JSON: reports are sent by callers."""
    try:
        return str(json.loads(value_json))
    except (ValueError, RecursionError):
        return ""


def check_prose(text: str, reports: list[Report], rounding: bool) -> ProseReport:
    """Classes every number of a text against the verified values of some reports.

    Numbers are digits, number words up to twenty, percentages, money, dates, years and codes.
    With `rounding`, a number also passes if a verified one rounds to it (half up) at the number
    of decimals it shows. Error ANSWER_TOO_LARGE.
    """
    if len(text) > MAX_TEXT or len(reports) > MAX_REPORTS:
        raise VisualProofError(
            "ANSWER_TOO_LARGE",
            f"At most {MAX_TEXT} characters and {MAX_REPORTS} reports are checked.",
        )
    facts = _Facts(reports, rounding)
    shown = plain(text)
    spans: list[ProseSpan] = []
    marks = _Taken(text)
    taken = marks.any

    def add(start: int, end: int, fact: tuple[ProseClass, str] | None) -> None:
        kind, path = fact or (ProseClass.UNVERIFIED, "")
        spans.append(ProseSpan(start, end, text[start:end], kind, path))
        marks.add(start, end)

    for day in scan_dates(shown):
        known = [facts.days[d] for d in day.days if d in facts.days] if len(day.days) == 1 else []
        add(day.start, day.end, (ProseClass.QUOTED, known[0]) if known else None)
    for read in scan_numbers(shown):
        if Doubt.JOINED in read.doubts and _known(read, facts, rounding) is None:
            continue
        if not taken(read.start, read.end):
            bracketed = shown[read.start : read.start + 1] == "("
            add(read.start, _unit_end(shown, read), _known(read, facts, rounding, bracketed))
    for match in _LEFT_OVER.finditer(shown):
        if not taken(match.start(), match.end()):
            code = facts.codes.get(match.group())
            add(match.start(), match.end(), (ProseClass.QUOTED, code) if code else None)
    for start, end, value in spelled.find(shown):
        if not taken(start, end):
            add(start, end, _said(shown, start, end, value, facts, rounding))
    for at, char in enumerate(shown):
        # Numerals of other scripts: 十, Ⅷ.
        if not char.isdigit() and char.isnumeric() and not taken(at, at + 1):
            add(at, at + 1, None)
    return ProseReport(tuple(sorted(spans, key=lambda s: s.start)))


def _said(
    text: str, start: int, end: int, value: Decimal, facts: _Facts, rounding: bool
) -> tuple[ProseClass, str] | None:
    """The fact that a number in words states with what stands around it."""
    head, tail = text[max(0, start - 40) : start], text[end : end + 24]
    reads = [r for r in scan_numbers(f"{head}{value:f}{tail}") if r.start <= len(head) < r.end]
    return _known(reads[0], facts, rounding) if reads else None


def _unit_end(text: str, read: NumberRead) -> int:
    """Where a number ends with its unit: the 3 of m3 is no number of its own."""
    end = read.end
    while end < len(text) and (text[end].isalnum() and not text[end - 1].isspace()):
        end += 1
    return end


def _known(
    read: NumberRead, facts: _Facts, rounding: bool, bracketed: bool = False
) -> tuple[ProseClass, str] | None:
    """The fact that a number states, if there is one with the same unit, currency and bound."""
    if read.until is not None or read.rest or read.doubts - {Doubt.JOINED}:
        return None
    # Prose puts in brackets what it says by the way.
    if read.sign == "?" and not bracketed:
        return None
    for value in {abs(v) for v in read.values()} if bracketed else read.values():
        for fact in facts.of(value):
            if _same_measure(read, fact, rounding):
                return (ProseClass.DERIVED if fact.derived else ProseClass.QUOTED), fact.path
    return None


def _same_measure(read: NumberRead, fact: _Fact, rounding: bool) -> bool:
    if (read.unit == "%") != (fact.unit == "%"):
        return False
    if read.bound != fact.bound and not (rounding and read.bound == "~"):
        return False
    if read.currencies and not read.currencies & fact.currencies:
        return False
    return not read.unit or same_unit(read.unit, fact.unit)


def _rounded(exact: Decimal, places: int) -> Decimal:
    """A verified value at the decimals that a text shows."""
    step = Decimal(1).scaleb(-places)
    return _CONTEXT.multiply(
        _CONTEXT.divide(exact, step).quantize(Decimal(1), ROUND_HALF_UP, _CONTEXT), step
    )
