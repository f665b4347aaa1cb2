"""The prose guard: a text made from verified values may contain no number that is not among them."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

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

_LEFT_OVER = re.compile(r"[^\W_]*\d[^\W_]*(?:[.,/:'\-]\d+)*[⁰¹²³⁴-⁹½¼¾]*")


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

    def __init__(self, reports: Iterable[Report]) -> None:
        self.numbers: list[_Fact] = []
        self.days: dict[date, str] = {}
        self.codes: dict[str, str] = {}
        for report in reports:
            for result in report.results:
                if result.status in (Status.VERIFIED, Status.DERIVED):
                    derived = result.status is Status.DERIVED
                    texts = [result.printed_text, *(e.text for e in result.evidence)]
                    if derived:
                        texts = [str(json.loads(result.value_json))]
                    self._add(texts, [e.context for e in result.evidence], result.path, derived)
            for relation in report.relations:
                if relation.outcome is Outcome.HOLDS:
                    literal = re.sub(r"/[^\s+*(),<>=]+", " ", relation.expression)
                    self._add([literal.replace("=", " ")], [], relation.expression, True)

    def _add(self, texts: list[str], contexts: list[str], path: str, derived: bool) -> None:
        own: set[Decimal] = set()
        for text in map(plain, texts):
            for read in scan_dates(text):
                for day in read.days if len(read.days) == 1 else ():
                    self.days.setdefault(day, path)
            days = [(d.start, d.end) for d in scan_dates(text)]
            reads = scan_numbers(text)
            for number in reads:
                # The 15 of a day is no number.
                if not any(start < number.end and number.start < end for start, end in days):
                    own |= self._number(number, path, derived)
            spans = [(r.start, r.end) for r in reads] + days
            for match in _LEFT_OVER.finditer(text):
                # The 15 of a day, the 020 of an amount are no codes.
                if not any(start < match.end() and match.start() < end for start, end in spans):
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
        self.numbers.append(_Fact(value, unit, read.currencies, read.bound, path, derived))
        return set(values)


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
    facts = _Facts(reports)
    shown = plain(text)
    spans: list[ProseSpan] = []

    def add(start: int, end: int, fact: tuple[ProseClass, str] | None) -> None:
        kind, path = fact or (ProseClass.UNVERIFIED, "")
        spans.append(ProseSpan(start, end, text[start:end], kind, path))

    def taken(start: int, end: int) -> bool:
        return any(start < s.end and s.start < end for s in spans)

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
        for fact in facts.numbers:
            places = -int(value.as_tuple().exponent) if isinstance(value, Decimal) else 0
            same = fact.value == value or (rounding and _rounds_to(fact.value, places, value))
            if same and _same_measure(read, fact, rounding):
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


def _rounds_to(exact: Decimal, places: int, value: Decimal) -> bool:
    """Whether a verified value rounds to what the text shows, at the decimals that it shows."""
    step = Decimal(1).scaleb(-places)
    return (exact / step).quantize(Decimal(1), ROUND_HALF_UP) * step == value
