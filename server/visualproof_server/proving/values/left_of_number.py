"""What stands before a number's digits: currency, scale, sign, bracket, bound."""

import re

from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.values.around_number import joins_range, phrase_before
from visualproof_server.proving.values.units import currency_before, scaled_currency
from visualproof_server.proving.vocabulary.words import vocabulary

_SHORT_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2} ?$")
# "Exhibit B.4" has no 4.
_LONE_CAPITAL = re.compile(r"(?<![^\W_])[A-Z]\.$")
_BOUND_SIGNS = {
    "<": "<", ">": ">", "≤": "≤", "≥": "≥", "~": "~", "≈": "~", "±": "±", "⩽": "≤", "⩾": "≥", "∼": "~",
}  # fmt: skip
_DOUBLE_BOUNDS = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥", "+/-": "±", "+-": "±", "-/+": "±"}
_NEGATIVE_MARKS = "▲△▼▽"


class Left:
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
            mark = next((m for m in _DOUBLE_BOUNDS if text.endswith(m, 0, at)), "")
            if mark:
                self.bound, self.start = _DOUBLE_BOUNDS[mark], at - len(mark)
                return
            if before in "+-" and not self.sign:
                prior = text[at - 2] if at > 1 else " "
                if not spaced:
                    if prior.isdigit() and before == "-" and joins_range(text, at - 1):
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
        in_range = before == "-" and prior.isdigit() and joins_range(text, self.start - 1)
        self.compound = not in_range and bool(
            (before and (glued or (before in "/:.,-" and prior.isdigit())))
            or (before and before in "/-" and prior.isalnum())
            or before == "^"
            or (before == "*" and prior == "*")
        )
        head = text[max(0, self.start - 6) : self.start]
        if _LONE_CAPITAL.search(head):
            self.compound = True
        if not self.sign and (head.endswith(" - ") or (self.start == 2 and head == "- ")):
            self.sign = "?"
        if self.compound or self.sign:
            return
        words = phrase_before(text, self.start)
        if words and words[-1] in vocabulary().single("negative"):
            self.sign = "-"

    def _bounded(self, text: str) -> None:
        head = text[max(0, self.start - 3) : self.start].rstrip(" ").rstrip("(").rstrip(" ")
        for mark, bound in (*_DOUBLE_BOUNDS.items(), *_BOUND_SIGNS.items()):
            if head.endswith(mark) and not self.bound:
                self.bound = bound
        if self.bound:
            return
        found = vocabulary().bounds_before.at_end(phrase_before(text, self.start))
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
