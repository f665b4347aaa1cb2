"""Printed numbers: every way to write one, and every way to read it.

Patterns are flat: no quantifier inside a quantified group can match the same text twice, so a
long run of digits costs linear time.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from visualproof_server.proving.text.boundaries import runs_on
from visualproof_server.proving.values.units import CURRENCIES, LONE_SCALES, SCALES, SYMBOLS, UNITS

MAX_DIGITS = 40

_CHUNK = re.compile(r"\d+(?:[.,']\d+)*")
# Groups of three parted by spaces: one number, or several side by side.
_JOINED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?(?![.,]?\d)(?! \d)")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_LETTERS_AFTER = re.compile(r"[^\W\d_]+")

_ORDINALS = {"st", "nd", "rd", "th", "er", "e"}
_PERCENT = re.compile(r" ?(?:%|percent\b|prozent\b|pct\b|pour cent\b|por ciento\b)", re.I)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a printed number: its value, and the decimal mark that it supposes."""

    value: Decimal
    mark: str


@dataclass(frozen=True, slots=True)
class NumberRead:
    """A number as printed at [start, end) of a text.

    sign is "+", "-", "" or "?" where a dash may be one. currencies is empty where none is printed
    at it. exponent is the power of ten that a scale word states. loose says why the number may be
    longer than this, or mean more ("" if it does not).
    """

    start: int
    end: int
    digits: str
    readings: tuple[Reading, ...]
    sign: str
    percent: bool
    currencies: frozenset[str]
    exponent: int
    unit: str
    loose: str = ""

    def with_loose(self, loose: str) -> "NumberRead":
        return replace(self, loose=loose) if loose else self


def readings_of(chunk: str) -> tuple[Reading, ...]:
    """Every value that digits with inner marks may mean; empty if they are no number."""
    if sum(c.isdigit() for c in chunk) > MAX_DIGITS:
        return ()
    chunk, apostrophes = chunk.replace("'", ""), "'" in chunk
    dots, commas = chunk.count("."), chunk.count(",")
    if not dots and not commas:
        return (Reading(Decimal(chunk), ""),)
    if dots and commas:
        mark = "." if chunk.rfind(".") > chunk.rfind(",") else ","
        group = "," if mark == "." else "."
        if chunk.count(mark) != 1:
            return ()
        whole, fraction = chunk.split(mark)
        if not _grouped(whole, group):
            return ()
        return (Reading(Decimal(whole.replace(group, "") + "." + fraction), mark),)
    mark = "." if dots else ","
    other = "," if dots else "."
    parts = chunk.split(mark)
    if len(parts) > 2:
        if not _grouped(chunk, mark):
            return ()
        return (Reading(Decimal("".join(parts)), other),)
    whole, fraction = parts
    as_decimal = Reading(Decimal(whole + "." + fraction), mark)
    if len(fraction) == 3 and len(whole) <= 3 and not whole.startswith("0") and not apostrophes:
        return (Reading(Decimal(whole + fraction), other), as_decimal)
    return (as_decimal,)


def _grouped(text: str, mark: str) -> bool:
    """Groups of three, or of two before the last three (lakh)."""
    first, *rest = text.split(mark)
    if not rest or not 1 <= len(first) <= 3 or len(rest[-1]) != 3:
        return False
    inner = {len(part) for part in rest[:-1]}
    return inner <= {3} or (inner == {2} and len(first) <= 2)


def scan_numbers(text: str) -> list[NumberRead]:
    """Numbers of a text that went through `normalize.plain`, left to right.

    Groups that spaces part are read twice: as one number (loose is "joined"), and each alone.

    Digits that belong to a date, time, range, code or identifier are no numbers.
    """
    found = []
    for match in _JOINED.finditer(text):
        read = _at(text, match.start(), match.end())
        if read is not None:
            found.append(read.with_loose("joined"))
    for match in _CHUNK.finditer(text):
        read = _at(text, match.start(), match.end())
        if read is not None:
            cut = runs_on(text, match.start(), match.end())
            found.append(read.with_loose("mark" if cut else ""))
    return sorted(found, key=lambda read: (read.start, -read.end))


def _at(text: str, start: int, end: int) -> NumberRead | None:
    chunk = text[start:end].replace(" ", "")
    left = _Left(text, start)
    if left.compound:
        return None
    if left.point:
        chunk = "0." + chunk
    right = _Right(text, end, bool(left.currencies))
    if right.compound:
        return None
    readings = readings_of(chunk)
    if not readings:
        return None
    sign = left.sign
    negative = left.parenthesis and right.parenthesis
    if negative or right.minus:
        sign = "-" if sign == "" else "?"
    if right.credit:
        sign = "?"
    begin = left.start + (left.parenthesis and not right.parenthesis)
    return NumberRead(
        begin,
        right.end,
        chunk,
        readings,
        sign,
        right.percent,
        left.currencies or right.currencies,
        right.exponent,
        right.unit,
        left.loose or right.loose,
    )


# "Exhibit B.4" has no 4.
_LONE_CAPITAL = re.compile(r"(?<![^\W_])[A-Z]\.$")
# What says less, more or about.
_BOUNDS = frozenset("<>≤≥±≈")


class _Left:
    """What stands before the digits: currency, sign, parenthesis."""

    def __init__(self, text: str, start: int) -> None:
        self.start = start
        self.sign = ""
        self.currencies: frozenset[str] = frozenset()
        self.parenthesis = self.compound = self.point = False
        self.loose = ""
        if start and text[start - 1] == "." and (start == 1 or text[start - 2] in " -+($€£"):
            self.point = True
            self.start = start = start - 1
        for _ in range(4):
            before = text[self.start - 1] if self.start else ""
            if before and before in "+-" and not self.sign:
                prior = text[self.start - 2] if self.start > 1 else " "
                if prior.isalnum() and not _currency_before(text, self.start - 1):
                    self.compound = True
                    return
                self.sign = before
                self.start -= 1
            elif before == "(":
                self.parenthesis = True
                self.start -= 1
                return
            elif not self.currencies and (found := _currency_before(text, self.start)):
                self.currencies, self.start = found
            else:
                break
        before = text[self.start - 1] if self.start else ""
        prior = text[self.start - 2] if self.start > 1 else ""
        if (
            before
            and (before.isalnum() or before in "_'" or (before in "/:.,-" and prior.isdigit()))
        ) or (before in "/-" and prior.isalnum()):
            self.compound = True
        # A few characters: a copy of all that stands before would cost the square of a long text.
        head = text[max(0, self.start - 6) : self.start]
        if _LONE_CAPITAL.search(head):
            self.compound = True
        if (not self.sign and head.endswith("- ")) or (start == 2 and text.startswith("- ")):
            self.sign = "?"
        if not self.sign and head.lower() == "minus ":
            self.sign = "-"
        if head.rstrip(" ")[-1:] in _BOUNDS:
            self.loose = "bound"


def _currency_before(text: str, end: int) -> tuple[frozenset[str], int] | None:
    """Currencies named directly before `end`, or one space before, and where the name begins."""
    stop = end - 1 if end and text[end - 1] == " " else end
    stop -= (
        stop > 0
        and text[stop - 1] == "."
        and text[max(0, stop - 3) : stop].lower() in ("rs.", "rm.", "kr.")
    )
    if stop and text[stop - 1] in SYMBOLS:
        begin = stop - 1
        letters = _LETTERS_BEFORE.search(text[max(0, begin - 3) : begin])
        if letters and (letters.group() + text[stop - 1]).lower() in CURRENCIES:
            name = letters.group() + text[stop - 1]
            return CURRENCIES[name.lower()], stop - len(name)
        return CURRENCIES[text[stop - 1]], begin
    letters = _LETTERS_BEFORE.search(text[max(0, stop - 8) : stop])
    if letters and letters.group().lower() in CURRENCIES:
        begin = stop - len(letters.group())
        if begin and (text[begin - 1].isalnum() or text[begin - 1] in "_"):
            return None
        return CURRENCIES[letters.group().lower()], begin
    return None


# Directly after an amount; elsewhere they are units.
_SHORT_SCALES = {"k": 3, "m": 6, "b": 9}
_PER = re.compile(r"/[^\W\d_]")
_CREDIT = re.compile(r" ?(?:CR|DR)\b")
# At the end of a row or cell: a minus, or a rule.
_LAST_DASH = re.compile(r" *- *(?:\t|\Z)")
# Units that are words of a sentence too.
_ALSO_WORDS = ("in", "a")


class _Right:
    """What stands after the digits: percent, scale, unit, currency, minus, parenthesis."""

    def __init__(self, text: str, end: int, has_currency: bool) -> None:
        self.end = end
        self.percent = self.minus = self.parenthesis = self.credit = self.compound = False
        self.currencies: frozenset[str] = frozenset()
        self.exponent = 0
        self.unit = self.loose = ""
        after, next_ = text[end : end + 1], text[end + 1 : end + 2]
        if after and after in "-/:" and next_.isalnum():
            self.compound = True
            return
        if (after and after in "_²³⁰¹⁴⁵⁶⁷⁸⁹") or (
            after in (".", ",") and next_.isalpha() and after == "."
        ):
            self.compound = after != "."
            if self.compound:
                return
        if match := _PERCENT.match(text, end):
            self.percent = True
            self.end = match.end()
        else:
            self._words(text, has_currency)
            if self.compound:
                return
        if text[self.end : self.end + 1] == ")":
            self.parenthesis = True
            self.end += 1
        elif text[self.end : self.end + 1] == "-" and text[self.end + 1 : self.end + 2] in (
            "",
            " ",
        ):
            self.minus = True
            self.end += 1
        elif _LAST_DASH.match(text, self.end):
            self.credit = True
        if _CREDIT.match(text, self.end):
            self.credit = True

    def _words(self, text: str, has_currency: bool) -> None:
        for _ in range(2):
            adjacent = text[self.end : self.end + 1] not in ("", " ")
            begin = self.end if adjacent else self.end + 1
            symbol = text[begin : begin + 1]
            if symbol and symbol in SYMBOLS and not has_currency and not self.currencies:
                if text[begin + 1 : begin + 2].isdigit():
                    return
                self.currencies = CURRENCIES[symbol]
                self.end = begin + 1
                continue
            if symbol == "°":
                self.unit = text[begin : begin + 2].lower()
                self.end = min(len(text), begin + 2)
                return
            letters = _LETTERS_AFTER.match(text, begin)
            if letters is None:
                return
            name, low = letters.group(), letters.group().lower()
            stop = letters.end()
            tail = text[stop : stop + 1]
            clean = not tail or not (tail.isalnum() or tail == "_")
            if low in CURRENCIES and clean and not has_currency and not self.currencies:
                # "5.00 RM 6.00": that currency belongs to the next number.
                if not text[stop : stop + 2].strip()[:1].isdigit() or adjacent:
                    self.currencies = CURRENCIES[low]
                    self.end = stop
                    continue
            amount = has_currency or bool(self.currencies)
            if adjacent and clean and amount and not self.exponent and low in _SHORT_SCALES:
                self.exponent = _SHORT_SCALES[low]
                self.end = stop
                continue
            if not adjacent and clean and amount and name in LONE_SCALES:
                self.loose = "scale"
            scale = SCALES.get(name, SCALES.get(low) if len(name) > 2 else None)
            if scale and clean and not self.exponent and (adjacent or name not in LONE_SCALES):
                self.exponent = scale
                self.end = stop
                continue
            unit = text[begin : begin + 40].split(" ", 1)[0].rstrip(".,;:)").lower()
            if low in UNITS and _PER.match(text, stop) and not amount:
                self.unit = unit
                return
            if unit in UNITS or (low in UNITS and clean):
                # "GBP 250,000 in each year", "12.50 a month": the sentence goes on.
                goes_on = low in _ALSO_WORDS and text[stop : stop + 2].strip().isalpha()
                if adjacent or not (amount or goes_on):
                    self.unit = unit if unit in UNITS else low
                return
            if adjacent and self.end == begin:
                if low in _ORDINALS and clean:
                    self.unit = low
                else:
                    self.compound = True
            return
