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
from visualproof_server.proving.kinds.number import same_unit
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.dates import scan_dates
from visualproof_server.proving.values.numbers import NumberRead, scan_numbers

MAX_TEXT = 200_000
MAX_REPORTS = 50

# Number words up to twenty, in the languages of the reading tests.
_WORDS = {
    word: number
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
        " fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
        " seize dix-sept dix-huit dix-neuf vingt",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        " dieciséis diecisiete dieciocho diecinueve veinte",
    )
    for number, word in enumerate(words.split())
} | {"half": Decimal("0.5"), "dozen": 12}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_LEFT_OVER = re.compile(r"\d+(?:[.,/:'\-]\d+)*")
# Articles and everyday words of some language: "once a week" is no eleven.
_NOT_ALONE = {"un", "uno", "null", "once"}


@dataclass(frozen=True, slots=True)
class _Fact:
    """A verified number: with its currency, unit and whether it is a percentage."""

    value: Decimal
    percent: bool
    currencies: frozenset[str]
    unit: str
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
                for reading in read.readings if len(read.readings) == 1 else ():
                    self.days.setdefault(reading.day, path)
            for number in scan_numbers(text):
                own |= self._number(number, path, derived)
            for match in _LEFT_OVER.finditer(text):
                self.codes.setdefault(match.group(), path)
        # The unit or currency may stand beside what was matched: "104110" in "104110 m3/day".
        for text in map(plain, contexts):
            for number in scan_numbers(text):
                if any(_value(number, r.value) in own for r in number.readings):
                    self._number(number, path, derived)

    def _number(self, read: NumberRead, path: str, derived: bool) -> set[Decimal]:
        values = {_value(read, r.value) for r in read.readings}
        if len(values) != 1 or read.sign == "?":
            return set()
        (value,) = values
        self.numbers.append(_Fact(value, read.percent, read.currencies, read.unit, path, derived))
        return values


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
        days = {r.day for r in day.readings}
        known = [facts.days[d] for d in days if d in facts.days] if len(days) == 1 else []
        add(day.start, day.end, (ProseClass.QUOTED, known[0]) if known else None)
    for read in scan_numbers(shown):
        if read.loose and (read.loose != "joined" or _known(read, facts, rounding) is None):
            continue
        if not taken(read.start, read.end):
            add(read.start, _unit_end(shown, read), _known(read, facts, rounding))
    for match in _LEFT_OVER.finditer(shown):
        if not taken(match.start(), match.end()):
            code = facts.codes.get(match.group())
            add(match.start(), match.end(), (ProseClass.QUOTED, code) if code else None)
    for match in _WORD.finditer(shown):
        number = _WORDS.get(match.group().casefold())
        if number is None or match.group().casefold() in _NOT_ALONE or taken(*match.span()):
            continue
        said = scan_numbers(f"{number}{shown[match.end() : match.end() + 20]}")
        add(match.start(), match.end(), _known(said[0], facts, rounding) if said else None)
    return ProseReport(tuple(sorted(spans, key=lambda s: s.start)))


def _unit_end(text: str, read: NumberRead) -> int:
    """Where a number ends with its unit: the 3 of m3 is no number of its own."""
    begin = read.end + (text[read.end : read.end + 1] == " ")
    has_unit = read.unit and text[begin : begin + len(read.unit)].lower() == read.unit
    return begin + len(read.unit) if has_unit else read.end


def _known(read: NumberRead, facts: _Facts, rounding: bool) -> tuple[ProseClass, str] | None:
    """The fact that a number states, if there is one with the same unit and currency."""
    if read.sign == "?":
        return None
    for reading in read.readings:
        value = _value(read, reading.value)
        for fact in facts.numbers:
            places = -int(reading.value.as_tuple().exponent) - read.exponent
            same = fact.value == value or (rounding and _rounds_to(fact.value, places, value))
            if same and _same_measure(read, fact):
                return (ProseClass.DERIVED if fact.derived else ProseClass.QUOTED), fact.path
    return None


def _same_measure(read: NumberRead, fact: _Fact) -> bool:
    if read.percent != fact.percent:
        return False
    if read.currencies and not read.currencies & fact.currencies:
        return False
    return not read.unit or same_unit(read.unit, fact.unit)


def _rounds_to(exact: Decimal, places: int, value: Decimal) -> bool:
    """Whether a verified value rounds to what the text shows, at the decimals that it shows."""
    step = Decimal(1).scaleb(-places)
    return (exact / step).quantize(Decimal(1), ROUND_HALF_UP) * step == value


def _value(read: NumberRead, value: Decimal) -> Decimal:
    scaled = value.scaleb(read.exponent)
    return -scaled if read.sign == "-" else scaled
