"""Printed numbers: every way to write one, and every way to read it.

A number is read with all that changes what it says: bound, range, sign, groups, fraction, power,
scale, unit, per cent, currency. What is attached and not understood is a doubt, never dropped.

Patterns are flat: no quantifier inside a quantified group can match the same text twice, and all
looking back and ahead is over a fixed number of characters, so that a long text costs linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from visualproof_server.proving.text.boundaries import runs_on
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values import spelled
from visualproof_server.proving.values.around_number import REACH, phrase_before
from visualproof_server.proving.values.left_of_number import Left
from visualproof_server.proving.values.number_read import NumberRead, Reading, readings_of
from visualproof_server.proving.values.right_of_number import Right
from visualproof_server.proving.values.units import unit_at
from visualproof_server.proving.vocabulary.words import vocabulary

_CHUNK = re.compile(r"\d+(?:[.,']\d+)*")
# Groups of three parted by spaces: one number, or several side by side.
_JOINED = re.compile(
    r"(?<![\d.,'])(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d{1,2})?(?![.,]?\d)(?! \d)"
)
# Till printers leave air after the point: TOTAL 29. 80. A line's own number (1. 50) begins it.
_AIRED = re.compile(r"(?<=[^\d.,'])(?<!\d )\d+[.,] \d\d(?=\t|$)")


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
    aired = [(m.span(), made) for m in _AIRED.finditer(text) if (made := _at(text, *m.span()))]
    found += [made.read for _, made in aired]
    parts = {at for span, _ in aired for at in range(*span)}
    for atom in single:
        if atom.digits in parts:
            atom.read = atom.read.doubted(Doubt.GROUPING_UNKNOWN)
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
    if word in vocabulary().single("range_words"):
        return True
    if word in vocabulary().single("range_and"):
        return tuple(phrase_before(text, left.start)[-1:]) in vocabulary().phrases("between")
    return False


def _is_mixed(left: NumberRead, between: str, right: NumberRead) -> bool:
    """Whether two quantities side by side are one: 2 h 30 min."""
    word = fold_text(between.strip(" ,"))
    if "\t" in between or (word and word not in vocabulary().single("range_and")):
        return False
    units = vocabulary().mixed_units
    one, other = units.get(left.unit), units.get(right.unit)
    return one is not None and other is not None and one[0] == other[0] and one[1] < other[1]


def _at(text: str, start: int, end: int) -> _Atom | None:
    chunk = text[start:end].replace(" ", "")
    left = Left(text, start)
    if left.compound:
        return None
    if left.point:
        chunk = "0." + chunk
    readings = readings_of(chunk)
    if not readings:
        return None
    right = Right(text, end, left, chunk)
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


def _part_currencies(text: str, left: Left) -> None:
    """100.00 USD 92.00 EUR: a currency between two numbers is the first one's, if each has one."""
    if left.named and text[max(0, left.named - 2) : left.named].strip(" ")[-1:].isdigit():
        left.currencies, left.start = frozenset(), left.digits


def _bracketed(
    text: str, left: Left, right: Right, chunk: str, readings: tuple[Reading, ...], sign: str
) -> str:
    """The sign of a number in brackets: accounts print what is negative so; prose repeats.

    `thirty (30)` is 30, `(52.00)` is -52.00; a note, a year or a count in brackets is neither.
    """
    head = text[max(0, left.start - 2 * REACH) : left.start].rsplit("\t", 1)[-1]
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
    words = phrase_before(text, left.start)
    named = bool(words) and words[-1] in vocabulary().single("counters")
    year = len(chunk) == 4 and chunk[:2] in ("18", "19", "20")
    return "?" if named or year or tail.strip(" ") not in ("", "\t") else "-"
