"""Printed numbers: every way to write one, and every way to read it.

A number is read with all that changes what it says: bound, range, sign, groups, fraction, power,
scale, unit, per cent, currency. What is attached and not understood is a doubt, never dropped.

Patterns are flat: no quantifier inside a quantified group can match the same text twice, and all
looking back and ahead is over a fixed number of characters, so that a long text costs linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from visualproof_server.proving.text.boundaries import runs_on
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values import spelled
from visualproof_server.proving.values.units import (
    MINOR_UNIT,
    currency_after,
    currency_before,
    scaled_currency,
    unit_at,
)
from visualproof_server.proving.vocabulary.words import vocabulary

MAX_DIGITS = 40
# How far to look back for words that bound a number, and ahead for those after it.
_REACH = 48

_CHUNK = re.compile(r"\d+(?:[.,']\d+)*")
# Groups of three parted by spaces: one number, or several side by side.
_JOINED = re.compile(
    r"(?<![\d.,'])(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d{1,2})?(?![.,]?\d)(?! \d)"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FRACTIONS = {
    "½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75"), "⅛": Decimal("0.125"),
    "⅜": Decimal("0.375"), "⅝": Decimal("0.625"), "⅞": Decimal("0.875"), "⅕": Decimal("0.2"),
    "⅖": Decimal("0.4"), "⅗": Decimal("0.6"), "⅘": Decimal("0.8"), "⅓": None, "⅔": None,
    "⅙": None, "⅚": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a printed number: its value, and the decimal mark that it supposes."""

    value: Decimal
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRead:
    """A number as printed at [start, end) of a text, with all that belongs to it.

    sign is "+", "-", "" or "?" where something may be one. unit is a canonical sign ("%" and "‰"
    among them), word what follows and may be one. currencies is empty where none is printed at it.
    exponents are the powers of ten that a scale word may state, (0,) for none. bound is "", "<",
    "≤", ">", "≥", "~" or "±". until is the other end of a range, rest what a mixed quantity goes
    on with (2 h 30 min). doubts say why it may be longer than this, or mean more.
    """

    start: int
    end: int
    digits: str
    readings: tuple[Reading, ...]
    sign: str = ""
    unit: str = ""
    word: str = ""
    currencies: frozenset[str] = frozenset()
    exponents: tuple[int, ...] = (0,)
    bound: str = ""
    until: "NumberRead | None" = None
    rest: tuple["NumberRead", ...] = ()
    doubts: frozenset[Doubt] = frozenset()

    @property
    def percent(self) -> bool:
        return self.unit == "%"

    @property
    def scaled(self) -> bool:
        return self.exponents != (0,)

    @property
    def decimals(self) -> int:
        """Digits after the last mark; 0 without one."""
        return (
            len(self.digits) - max(self.digits.rfind("."), self.digits.rfind(",")) - 1
            if ("." in self.digits or "," in self.digits)
            else 0
        )

    def doubted(self, *doubts: Doubt) -> "NumberRead":
        return replace(self, doubts=self.doubts | set(doubts)) if doubts else self

    def values(self, mark: str = "") -> frozenset[Decimal]:
        """Signed and scaled; by one decimal mark where that settles it."""
        readings = tuple(r for r in self.readings if r.mark == mark) or self.readings
        sizes = {r.value.scaleb(e) for r in readings for e in self.exponents}
        if self.sign == "-":
            return frozenset(-v for v in sizes)
        return frozenset(sizes | {-v for v in sizes}) if self.sign == "?" else frozenset(sizes)


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
    """Numbers of a text that went through `folding.plain`, left to right.

    A tab parts what does not belong together. Groups that spaces part are read twice: as one
    number (with the doubt JOINED), and each alone. Ends of ranges and parts of mixed quantities are
    in the whole, and stand for themselves with the doubt PART_OF_RANGE. Digits that belong to a
    date, time, code or identifier are no numbers.
    """
    if not any(c.isdigit() for c in text):
        return []
    single = [made for match in _CHUNK.finditer(text) if (made := _at(text, *match.span()))]
    joined = [made for match in _JOINED.finditer(text) if (made := _at(text, *match.span()))]
    found = [
        replace(read.read, doubts=read.read.doubts | {Doubt.JOINED})
        for read in joined
        if not read.read.rest
    ]
    _space(text, single)
    found += _composed(text, single)
    return sorted(found, key=lambda read: (read.start, -read.end))


@dataclass(slots=True)
class _Atom:
    """A number with what is attached, and where its digits and its currency begin."""

    read: NumberRead
    digits: int
    begin: int


def _space(text: str, atoms: list[_Atom]) -> None:
    """Doubts digits that only a space parts from other digits: they may be groups of one number.

    A group with cents may also be an amount after a count (2 120.00); what a document's other
    numbers settle.
    """
    for left, right in pairwise(atoms):
        one, other = left.read, right.read
        if (
            one.digits == "000"
            or right.digits != one.end + 1
            or text[one.end] != " "
            or not one.digits.isdigit()
            or not text[one.end - 1].isdigit()
        ):
            continue
        cents = not other.digits.isdigit()
        group = len(other.digits.split(".")[0].split(",")[0])
        if cents and group == 3 and len(one.digits) <= 3:
            doubt = Doubt.SPACED
        elif not cents and max(len(one.digits), len(other.digits)) >= 3:
            doubt = Doubt.GROUPING_UNKNOWN
        else:
            continue
        left.read, right.read = one.doubted(doubt), other.doubted(doubt)


def _composed(text: str, atoms: list[_Atom]) -> Iterator[NumberRead]:
    """Numbers alone, and those that ranges and mixed quantities are made of."""
    reads = [a.read for a in atoms]
    whole: list[NumberRead] = []
    for i in range(len(atoms) - 1):
        left, right = reads[i], reads[i + 1]
        between = text[left.end : atoms[i + 1].begin]
        if len(between) > 12 or left.end > atoms[i + 1].digits:
            continue
        if _is_range(text, left, between, atoms[i + 1]):
            ends = replace(left, doubts=left.doubts | {Doubt.PART_OF_RANGE})
            if right.sign in ("-", "?"):
                # The dash is the range's.
                right = replace(right, sign="")
            unit = left.unit or right.unit
            whole.append(
                replace(
                    left,
                    end=right.end,
                    unit=unit,
                    word=left.word or right.word,
                    currencies=left.currencies or right.currencies,
                    exponents=left.exponents if left.scaled else right.exponents,
                    until=right,
                )
            )
            reads[i] = ends
            reads[i + 1] = reads[i + 1].doubted(Doubt.PART_OF_RANGE)
        elif _is_mixed(left, between, right):
            if whole and whole[-1].end == left.end and whole[-1].rest:
                whole[-1] = replace(whole[-1], end=right.end, rest=(*whole[-1].rest, right))
            else:
                whole.append(replace(left, end=right.end, rest=(right,)))
            reads[i] = reads[i].doubted(Doubt.PART_OF_RANGE)
            reads[i + 1] = right.doubted(Doubt.PART_OF_RANGE)
    yield from whole
    yield from reads


def _is_range(text: str, left: NumberRead, between: str, right: _Atom) -> bool:
    """Whether what stands between two numbers makes them ends of a range."""
    word = fold_text(between.strip(" ()"))
    if not word:
        # The dash was taken for a sign.
        dash = text[right.begin : right.digits].strip(" ")
        return (
            bool(dash) and dash[0] in "-~" and right.read.sign in ("-", "?") and "\t" not in between
        )
    if "\t" in between:
        return False
    if set(word) <= set(".") and len(word) >= 2:
        return True
    if word in ("-", "~", "…", "...", "->", "→", "±", "+/-", "+-"):
        return True
    if word in _words("range_words"):
        return True
    if word in _words("range_and"):
        return _before(text, left.start, 1) in (("between",), *vocabulary().phrases("between"))
    return False


def _is_mixed(left: NumberRead, between: str, right: NumberRead) -> bool:
    """Whether two quantities side by side are one: 2 h 30 min."""
    word = fold_text(between.strip(" ,"))
    if "\t" in between or (word and word not in _words("range_and")):
        return False
    units = vocabulary().mixed_units
    one, other = units.get(left.unit), units.get(right.unit)
    return one is not None and other is not None and one[0] == other[0] and one[1] < other[1]


def _words(name: str) -> frozenset[str]:
    return _WORDS.setdefault(name, vocabulary().single(name))


_WORDS: dict[str, frozenset[str]] = {}


def _before(text: str, at: int, count: int) -> tuple[str, ...]:
    """The last words before a place, within its phrase."""
    return tuple(_phrase_before(text, at)[-count:])


def _phrase_before(text: str, at: int) -> list[str]:
    """Words before a place, folded, back to a gap or a sentence's end; at most eight."""
    head = text[max(0, at - _REACH) : at].rsplit("\t", 1)[-1]
    cut = at > _REACH and len(head) == _REACH and not head[0].isspace()
    words = fold_text(head).replace("(", " ").split()
    words = [word.rstrip(".,") or word for word in words]
    return words[1:][-8:] if cut and words else words[-8:]


def _at(text: str, start: int, end: int) -> _Atom | None:
    chunk = text[start:end].replace(" ", "")
    left = _Left(text, start)
    if left.compound:
        return None
    if left.point:
        chunk = "0." + chunk
    readings = readings_of(chunk)
    if not readings:
        return None
    right = _Right(text, end, left, chunk)
    if right.compound:
        return None
    if right.fraction is not None:
        if len(readings) != 1 or "." in chunk or "," in chunk:
            return None
        readings = (Reading(readings[0].value + right.fraction, ""),)
    doubts = left.doubts | right.doubts
    if runs_on(text, start, end):
        doubts |= {Doubt.GROUPING_UNKNOWN}
    if left.currencies and right.currencies and not left.parenthesis:
        _part_currencies(text, left)
    sign = left.sign
    if right.minus:
        sign = "-" if sign in ("", "-") and not left.sign else "?"
    if left.parenthesis and right.parenthesis:
        sign = _bracketed(text, left, right, chunk, readings, sign)
    if right.credit:
        sign = "?"
    begin, unit, end = left.start, right.unit, right.end
    if left.parenthesis and not right.parenthesis:
        begin = left.inner
    elif left.parenthesis and not sign and not unit and text[end : end + 1] == " ":
        # thirty (30) days
        unit, size = unit_at(text[end + 1 : end + 41], True)
        end += size + 1 if unit else 0
    read = NumberRead(
        start=begin,
        end=end,
        digits=chunk,
        readings=readings,
        sign=sign,
        unit=unit,
        word=right.word,
        currencies=left.currencies or right.currencies,
        exponents=left.exponents if left.exponents != (0,) else right.exponents,
        bound=left.bound or right.bound,
        doubts=frozenset(doubts),
    )
    if left.currencies and right.currencies:
        # A code narrows a sign; two that exclude each other name nothing for sure.
        both = left.currencies & right.currencies
        read = replace(read, currencies=both or left.currencies)
        if not both:
            read = read.doubted(Doubt.CURRENCY_UNKNOWN)
    if left.exponents != (0,) and right.exponents != (0,):
        read = read.doubted(Doubt.SCALE_UNKNOWN)
    return _Atom(read, start, left.start)


def _part_currencies(text: str, left: "_Left") -> None:
    """100.00 USD 92.00 EUR: a currency between two numbers is the first one's, if each has one."""
    if left.named and text[max(0, left.named - 2) : left.named].strip(" ")[-1:].isdigit():
        left.currencies, left.start = frozenset(), left.digits


def _bracketed(
    text: str, left: "_Left", right: "_Right", chunk: str, readings: tuple[Reading, ...], sign: str
) -> str:
    """The sign of a number in brackets: accounts print what is negative so; prose repeats.

    `thirty (30)` is 30, `(52.00)` is -52.00; a note, a year or a count in brackets is neither.
    """
    head = text[max(0, left.start - 2 * _REACH) : left.start].rsplit("\t", 1)[-1]
    if any(spelled.ends_with(head, r.value, right.unit) for r in readings):
        return sign
    if sign == "-":
        # (-52.00): a negative amount in brackets, not twice negative.
        return "-"
    money = bool(left.currencies or right.currencies)
    amount = money or "." in chunk or "," in chunk
    if right.unit == "%":
        # A share after its words is said by the way; alone in its column it is negative.
        return "" if head.strip() and head[-1:] == " " and head.strip()[-1:].isalnum() else "?"
    if right.unit or right.word:
        return "?"
    if amount:
        return "-"
    # A whole number is an account's only where it ends the line and is no year, note or count.
    tail = text[right.end : right.end + 2]
    words = _phrase_before(text, left.start)
    named = words and (words[-1] in _words("counters") or not words)
    year = len(chunk) == 4 and chunk[:2] in ("18", "19", "20")
    return "?" if named or year or tail.strip(" ") not in ("", "\t") else "-"


_SHORT_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2} ?$")
# "Exhibit B.4" has no 4.
_LONE_CAPITAL = re.compile(r"(?<![^\W_])[A-Z]\.$")
_BOUND_SIGNS = {
    "<": "<", ">": ">", "≤": "≤", "≥": "≥", "~": "~", "≈": "~", "±": "±", "⩽": "≤", "⩾": "≥", "∼": "~",
}  # fmt: skip
_DOUBLE_BOUNDS = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥", "+/-": "±", "+-": "±", "-/+": "±"}
_NEGATIVE_MARKS = "▲△▼▽"


class _Left:
    """What stands before the digits: currency, scale, sign, bracket, bound."""

    def __init__(self, text: str, start: int) -> None:
        self.start = self.inner = self.digits = start
        # Where the name of its currency begins, 0 if it has none before it.
        self.named = 0
        self.sign = self.bound = ""
        self.currencies: frozenset[str] = frozenset()
        self.exponents: tuple[int, ...] = (0,)
        self.parenthesis = self.compound = self.point = False
        self.doubts: set[Doubt] = set()
        if start and text[start - 1] == "." and (start == 1 or text[start - 2] in " -+($€£\t"):
            self.point = True
            self.start = start = start - 1
        self._attached(text)
        if not self.compound:
            self._edge(text)
            self._bounded(text)

    def _attached(self, text: str) -> None:
        for _ in range(5):
            spaced = self.start > 1 and text[self.start - 1] == " "
            at = self.start - 1 if spaced else self.start
            before = text[at - 1] if at else ""
            if not before or before == "\t":
                return
            if any(text.endswith(mark, max(0, at - 3), at) for mark in _DOUBLE_BOUNDS):
                mark = next(m for m in _DOUBLE_BOUNDS if text.endswith(m, max(0, at - 3), at))
                self.bound, self.start = _DOUBLE_BOUNDS[mark], at - len(mark)
                return
            if before in "+-" and not self.sign:
                prior = text[at - 2] if at > 1 else " "
                if not spaced:
                    if prior.isdigit() and before == "-" and _joins_range(text, at - 1):
                        return
                    if prior.isalnum() and not currency_before(text, at - 1):
                        self.compound = True
                        return
                    if prior == "°":
                        # 5°-10°C: the dash of a range.
                        self.sign = "?"
                    else:
                        self.sign = before
                elif before == "-" and (prior in " \t" or at == 1 or currency_before(text, at - 1)):
                    self.sign = "?"
                else:
                    return
                self.start = at - 1
            elif before in _NEGATIVE_MARKS and not self.sign:
                self.sign, self.start = "?", at - 1
            elif before == "(" and not self.parenthesis:
                self.parenthesis, self.inner, self.start = True, self.start, at - 1
                if self.currencies:
                    return
            elif before == ")" and not self.currencies and (found := _enclosed(text, at)):
                # (USD) (52.00)
                if not self.parenthesis:
                    # Total due (GBP) 16,020.00: the caption's currency, not the number's print.
                    self.currencies = found[0]
                    return
                self.currencies, self.start = found
            elif before == "*" and not spaced and self._stars(text, at):
                continue
            elif before == ":" and not spaced and (found := currency_before(text, at - 1)):
                # EUR:5.00
                self.currencies, self.start = found
            elif not self.currencies and (scaled := scaled_currency(text, self.start)):
                self.currencies, self.exponents, self.start = scaled
            elif found := currency_before(text, self.start):
                # AUD $100.00: a code narrows a sign.
                narrowed = found[0] & self.currencies if self.currencies else found[0]
                if self.currencies and not narrowed:
                    return
                self.currencies, self.start = narrowed, found[1]
                self.named = found[1]
            else:
                return

    def _stars(self, text: str, at: int) -> bool:
        """Whether stars before the digits fill a cheque's amount: $*****5.00."""
        begin = at
        while begin and text[begin - 1] == "*":
            begin -= 1
        if begin and not self.currencies and (found := currency_before(text, begin)):
            self.currencies, self.start = found
            return True
        return False

    def _edge(self, text: str) -> None:
        before = text[self.start - 1] if self.start else ""
        prior = text[self.start - 2] if self.start > 1 else ""
        glued = before.isalnum() or before in "_'"
        if before == "-" and prior.isdigit() and _joins_range(text, self.start - 1):
            pass
        elif (
            (before and (glued or (before in "/:.,-" and prior.isdigit())))
            or (before and before in "/-" and prior.isalnum())
            or before == "^"
            or (before == "*" and prior == "*")
        ):
            self.compound = True
        head = text[max(0, self.start - 6) : self.start]
        if _LONE_CAPITAL.search(head):
            self.compound = True
        if not self.sign and (head.endswith(" - ") or text[: self.start] == "- "):
            self.sign = "?"
        if self.compound or self.sign:
            return
        words = _phrase_before(text, self.start)
        if words and words[-1] in _words("negative"):
            self.sign = "-"

    def _bounded(self, text: str) -> None:
        head = text[max(0, self.start - 3) : self.start].rstrip(" ").rstrip("(").rstrip(" ")
        for mark, bound in (*_DOUBLE_BOUNDS.items(), *_BOUND_SIGNS.items()):
            if head.endswith(mark) and not self.bound:
                self.bound = bound
        if self.bound:
            return
        found = vocabulary().bounds_before.at_end(_phrase_before(text, self.start))
        if found and _SHORT_CAPITALS.search(text[max(0, self.start - 4) : self.start]):
            # CA is a state or a turnover; ca is about.
            return
        self.bound = found


def _enclosed(text: str, end: int) -> tuple[frozenset[str], int] | None:
    """A currency in brackets that end at `end`."""
    begin = text.rfind("(", max(0, end - 8), end)
    if begin < 0:
        return None
    found = currency_before(text, end - 1)
    return (found[0], begin) if found is not None and found[1] == begin + 1 else None


_LOW_END = re.compile(r"(?<![\w\-/.,])\d{1,6}(?:[.,]\d{1,3})?$")
_HIGH_END = re.compile(r"\d{1,6}(?:[.,]\d{1,3})?(?![\d\-/])")


def _joins_range(text: str, dash: int) -> bool:
    """Whether a dash joins two plain numbers of which the second has a unit or a share: 10-20 kg."""
    if not _LOW_END.search(text[max(0, dash - 12) : dash]):
        return False
    high = _HIGH_END.match(text, dash + 1)
    if high is None:
        return False
    rest = text[high.end() : high.end() + 24]
    return bool(_SHARE.match(rest)) or bool(unit_at(rest.removeprefix(" "), rest[:1] == " ")[0])


_SHARE = re.compile(r" ?(%|‰)")
_NOT_SURE_SHARE = re.compile(r" ?%[o0O°](?![^\W_])|° ?/ ?(?:o|0|00|oo)(?![^\W_])|o/o")
_POWER_OF_TEN = re.compile(
    rf" ?[x×*·] ?10(?: ?(?:\^|\*\*) ?([-+]?\d{{1,2}})|([⁻⁺]?[{_RAISED}]{{1,2}}))"
)
_EXPONENT = re.compile(r"[eE]([-+]?\d{1,2})(?![\w.])")
_FRACTION = re.compile(r" (\d{1,2})/(\d{1,2})(?![\d/])")
_CREDIT_GLUED = re.compile(r"(?:CR|DR|Cr|Dr|cr|dr)\b")
_LAST_DASH = re.compile(r" *- *(?:\t|\Z)|- (?=[^\W\d])| - (?=[^\W\d])")
# Round amounts: 12.-, 12,--, 1.000,—
_NO_CENTS = re.compile(r"[.,] ?(?:-{1,3}|=)(?![\w])")
# After an amount these may be scales; with cents a capital is a tax code.
_SHORT_SCALES = {"k": 3, "K": 3, "m": 6, "M": 6, "b": 9, "B": 9, "T": 12, "t": 3, "L": 5, "l": 5}


class _Right:
    """What stands after the digits: fraction, power, share, scale, unit, currency, minus, bracket."""

    def __init__(self, text: str, end: int, left: _Left, chunk: str) -> None:
        self.end = end
        self.minus = self.parenthesis = self.credit = self.compound = False
        self.currencies: frozenset[str] = frozenset()
        self.exponents: tuple[int, ...] = (0,)
        self.unit = self.word = self.bound = ""
        self.fraction: Decimal | None = None
        self.doubts: set[Doubt] = set()
        self._chunk = chunk
        # A quotation mark that closes is no inch.
        self._quoted = left.digits > 0 and text[left.digits - 1] in "\"'"
        self._cents = len(chunk) - max(chunk.rfind("."), chunk.rfind(",")) - 1 == 2 and (
            "." in chunk or "," in chunk
        )
        if self._glued_on(text):
            return
        if not self._share(text):
            self._words(text, bool(left.currencies))
            if self.compound:
                return
        self._bounded(text)
        self._closing(text, left)

    def _glued_on(self, text: str) -> bool:
        """Fractions and powers; whether digits belong to a code, so that they are no number."""
        end = self.end
        after, next_ = text[end : end + 1], text[end + 1 : end + 2]
        if power := _POWER_OF_TEN.match(text, end):
            self.exponents = (int((power[1] or power[2]).translate(_SUPERSCRIPTS)),)
            self.end = power.end()
            return False
        if power := _EXPONENT.match(text, end):
            self.exponents = (int(power[1]),)
            self.end = power.end()
            return False
        if fraction := _FRACTION.match(text, end):
            if 0 < int(fraction[1]) < int(fraction[2]):
                self.fraction = Decimal(int(fraction[1])) / int(fraction[2])
                self.end = fraction.end()
                return False
        spaced = after == " "
        vulgar = next_ if spaced else after
        if vulgar and vulgar in _FRACTIONS:
            part = _FRACTIONS[vulgar]
            if part is None:
                self.compound = True
                return True
            self.fraction = part
            self.end = end + 1 + spaced
            return False
        if rest := _NO_CENTS.match(text, end):
            if "." not in self._chunk[-3:] and "," not in self._chunk[-3:]:
                self.end = rest.end()
                return False
        if after and after in "-/:" and next_.isalnum():
            self.compound = not (after == "-" and _joins_range(text, end))
        elif (after and (after in "_^" or after in _RAISED or text.startswith("**", end))) or (
            after == " " and (next_ == "^" or text.startswith("**", end + 1))
        ):
            self.compound = True
        elif after and after in ".," and next_.isdigit() and after == ",":
            pass
        return self.compound

    def _share(self, text: str) -> bool:
        if match := _NOT_SURE_SHARE.match(text, self.end):
            # Per mille, or per cent and more: the mark may be misread.
            self.unit, self.end = "‰", match.end()
            self.doubts.add(Doubt.UNIT_UNKNOWN)
            return True
        if match := _SHARE.match(text, self.end):
            self.unit, self.end = match[1], match.end()
            if text[self.end : self.end + 1].isalnum():
                self.doubts.add(Doubt.UNIT_UNKNOWN)
            return True
        words, ends = _words_after(text, self.end)
        sign, size = vocabulary().shares.at_start(words)
        if sign:
            self.unit, self.end = sign, ends[size - 1]
            return True
        return False

    def _words(self, text: str, has_currency: bool) -> None:
        for _ in range(3):
            adjacent = text[self.end : self.end + 1] not in ("", " ", "\t")
            if text[self.end : self.end + 1] == "\t" or self.end >= len(text):
                return
            begin = self.end if adjacent else self.end + 1
            if (
                text[begin : begin + 1] == "+"
                and adjacent
                and not text[begin + 1 : begin + 2].isalnum()
            ):
                self.bound, self.end = "≥", begin + 1
                return
            if scaled := _scaled_after(text, begin):
                self.currencies, self.exponents, self.end = scaled
                return
            if not has_currency or not self.currencies:
                found = currency_after(text, begin, adjacent)
                if found is not None and not self.currencies:
                    self.currencies, self.end = found
                    continue
            if self._scale(text, begin, adjacent, has_currency or bool(self.currencies)):
                continue
            self._unit(text, begin, adjacent, has_currency or bool(self.currencies))
            return

    def _scale(self, text: str, begin: int, adjacent: bool, amount: bool) -> bool:
        letters = _letters(text, begin)
        if not letters or self.exponents != (0,):
            return False
        stop = begin + len(letters)
        clean = not text[stop : stop + 1].isalnum() and text[stop : stop + 1] != "_"
        if not clean:
            return False
        low = fold_text(letters)
        if _CREDIT_GLUED.match(text, begin) and (adjacent or self._cents):
            return False
        short = _SHORT_SCALES.get(letters)
        if short is not None:
            if self._cents and adjacent and letters.isupper():
                # 5.00T on a receipt: a tax code.
                self.end = stop
                self.doubts.discard(Doubt.SCALE_UNKNOWN)
                return True
            if amount and adjacent and letters in "kKmMbB":
                self.exponents, self.end = (short,), stop
                return True
            if amount and not self._cents:
                self.doubts.add(Doubt.SCALE_UNKNOWN)
            if adjacent and letters in "kKMB" and not amount:
                self.exponents, self.end = (short,), stop
                return True
            return False
        exponents = vocabulary().scales.get(low)
        if exponents is None and letters[0] > "\u2e80":
            exponents, stop = _cjk_scale(text, begin)
        if exponents is None:
            return False
        if letters in vocabulary().units and not amount:
            return False
        if len(low) <= 3 and amount and self._cents and low in ("cr", "dr"):
            return False
        self.exponents, self.end = exponents, stop
        if text[stop : stop + 1] == "." and len(low) <= 4:
            self.end = stop + 1
        again = _letters(text, self.end + 1)
        if text[self.end : self.end + 1] == " " and (
            more := vocabulary().scales.get(fold_text(again))
        ):
            # mil millones
            self.exponents = tuple(sorted({a + b for a in exponents for b in more}))
            self.end += 1 + len(again)
        if text[self.end : self.end + 4].casefold() in (" of ", " de ", " d'e"):
            skip = 3 if text[self.end + 3] == "'" else 4
            if currency_after(text, self.end + skip, False):
                self.end += skip - 1
        return True

    def _unit(self, text: str, begin: int, adjacent: bool, amount: bool) -> None:
        unit, size = unit_at(text[begin : begin + 40], not adjacent)
        letters = _letters(text, begin)
        if unit in ("″", "′") and self._quoted:
            return
        if adjacent and unit == "x" and text[begin + size : begin + size + 1].isdigit():
            self.compound = True
            return
        if unit and not (
            amount and not adjacent and unit in ("in", "A", "m", "t", "x", "T", "K", "L")
        ):
            if (
                unit in ("in", "A", "t", "min", "m")
                and not adjacent
                and self._goes_on(text, begin + size)
            ):
                return
            if amount and unit != MINOR_UNIT and "/" not in unit and not adjacent:
                # USD 5.00 per kg has a unit; USD 5.00 kg a neighbour.
                self.word = letters
                return
            self.unit, self.end = unit, begin + size
            return
        if not letters:
            return
        if amount or self._cents:
            if (
                adjacent
                and not self._tax_code(text, begin, letters)
                and not _CREDIT_GLUED.match(text, begin)
            ):
                self.compound = not amount
                if amount:
                    self.doubts.add(Doubt.UNIT_UNKNOWN)
            elif not adjacent and fold_text(letters) in _words("per"):
                self.doubts.add(Doubt.UNIT_UNKNOWN)
            return
        if adjacent:
            low = letters.casefold()
            if low in ("st", "nd", "rd", "th", "er", "e", "º", "ª"):
                self.unit, self.end = low, begin + len(letters)
            else:
                self.compound = True
            return
        self.word = letters

    def _tax_code(self, text: str, begin: int, letters: str) -> bool:
        """Whether letters at an amount with cents are a code of its tax, as tills print them."""
        return self._cents and len(letters) <= 2 and letters.isupper()

    def _goes_on(self, text: str, stop: int) -> bool:
        """Whether a unit that is a word too is one here: GBP 250,000 in each year."""
        return text[stop : stop + 2].strip().isalpha()

    def _bounded(self, text: str) -> None:
        if self.bound:
            return
        words, _ = _words_after(text, self.end)
        self.bound = vocabulary().bounds_after.at_start(words)[0]

    def _closing(self, text: str, left: _Left) -> None:
        tail = text[self.end : self.end + 2]
        if tail[:1] == ")" or tail == " )":
            self.parenthesis = True
            self.end += 1 + (tail[0] == " ") if left.parenthesis else 0
        elif tail[:1] == "-" and tail[1:] in ("", " ", "\t", ")", "|"):
            self.minus = tail[1:] != " " or not text[self.end + 2 : self.end + 3].isalpha()
            self.credit = not self.minus
            self.end += 1
        elif _LAST_DASH.match(text, self.end):
            self.credit = True
        if _CREDIT_GLUED.match(text, self.end):
            self.credit = True
        words, _ = _words_after(text, self.end)
        if (
            words
            and words[0].rstrip(".") in _words("credit")
            and (len(words[0]) > 1 or len(words) == 1)
        ):
            self.credit = True


def _words_after(text: str, end: int) -> tuple[list[str], list[int]]:
    """Words after a place, folded, up to a gap; at most five, with where each ends."""
    tail = text[end : end + _REACH].split("\t", 1)[0]
    words: list[str] = []
    ends: list[int] = []
    for match in re.finditer(r"[^\s()\[\],;:]+", tail):
        if len(words) == 5 or tail[: match.start()].strip():
            # Nothing but words and spaces may stand between.
            if len(words) == 5 or set(tail[(ends[-1] - end) if ends else 0 : match.start()]) - {
                " "
            }:
                break
        words.append(fold_text(match.group()).rstrip(".,") or match.group())
        ends.append(end + match.end())
    return words, ends


def _letters(text: str, begin: int) -> str:
    match = re.compile(r"[^\W\d_]+").match(text, begin)
    return match.group() if match else ""


def _scaled_after(text: str, begin: int) -> tuple[frozenset[str], tuple[int, ...], int] | None:
    """950 TEUR, 950 T€, 4.2 mm USD: a scale glued to a currency after its number."""
    match = re.compile(r"(T|k|K|M|m|Mio|Mrd)(€|£|\$|EUR|USD|GBP|CHF)(?![^\W_])").match(text, begin)
    if match is None:
        return None
    power = {"T": 3, "k": 3, "K": 3, "M": 6, "m": 6, "Mio": 6, "Mrd": 9}[match[1]]
    found = currency_before(text, match.end())
    return None if found is None else (found[0], (power,), match.end())


def _cjk_scale(text: str, begin: int) -> tuple[tuple[int, ...] | None, int]:
    """Scales of scripts without spaces: 5 億円."""
    scales = vocabulary().scales
    for size in (2, 1):
        if found := scales.get(text[begin : begin + size]):
            return found, begin + size
    return None, begin
