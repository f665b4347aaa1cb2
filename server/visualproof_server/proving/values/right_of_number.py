"""What stands after a number's digits: fraction, power, share, scale, unit, currency, minus, bracket."""

import re
from decimal import Decimal

from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values.around_number import REACH, SHARE, joins_range
from visualproof_server.proving.values.left_of_number import Left
from visualproof_server.proving.values.units import (
    MINOR_UNIT,
    currency_after,
    currency_before,
    unit_at,
)
from visualproof_server.proving.vocabulary.words import vocabulary

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FRACTIONS = {
    "½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75"), "⅛": Decimal("0.125"),
    "⅜": Decimal("0.375"), "⅝": Decimal("0.625"), "⅞": Decimal("0.875"), "⅕": Decimal("0.2"),
    "⅖": Decimal("0.4"), "⅗": Decimal("0.6"), "⅘": Decimal("0.8"), "⅓": None, "⅔": None,
    "⅙": None, "⅚": None,
}  # fmt: skip
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


class Right:
    """What stands after the digits: fraction, power, share, scale, unit, currency, minus, bracket."""

    def __init__(self, text: str, end: int, left: Left, chunk: str) -> None:
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
            self.compound = not (after == "-" and joins_range(text, end))
        elif (after and (after in "_^" or after in _RAISED or text.startswith("**", end))) or (
            after == " " and (next_ == "^" or text.startswith("**", end + 1))
        ):
            self.compound = True
        return self.compound

    def _share(self, text: str) -> bool:
        if match := _NOT_SURE_SHARE.match(text, self.end):
            # Per mille, or per cent and more: the mark may be misread.
            self.unit, self.end = "‰", match.end()
            self.doubts.add(Doubt.UNIT_UNKNOWN)
            return True
        if match := SHARE.match(text, self.end):
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
            # GBP 250,000 in each year
            if (
                unit in ("in", "A", "t", "min", "m")
                and not adjacent
                and text[begin + size : begin + size + 2].strip().isalpha()
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
            if adjacent and not self._is_tax_code(letters) and not _CREDIT_GLUED.match(text, begin):
                self.compound = not amount
                if amount:
                    self.doubts.add(Doubt.UNIT_UNKNOWN)
            elif not adjacent and fold_text(letters) in vocabulary().single("per"):
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

    def _is_tax_code(self, letters: str) -> bool:
        """Whether letters at an amount with cents are a code of its tax, as tills print them."""
        return self._cents and len(letters) <= 2 and letters.isupper()

    def _bounded(self, text: str) -> None:
        if self.bound:
            return
        words, _ = _words_after(text, self.end)
        self.bound = vocabulary().bounds_after.at_start(words)[0]

    def _closing(self, text: str, left: Left) -> None:
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
            and words[0].rstrip(".") in vocabulary().single("credit")
            and (len(words[0]) > 1 or len(words) == 1)
        ):
            self.credit = True


def _words_after(text: str, end: int) -> tuple[list[str], list[int]]:
    """Words after a place, folded, up to a gap; at most five, with where each ends."""
    tail = text[end : end + REACH].split("\t", 1)[0]
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
