"""A number as it was read, and every value that its digits may mean."""

from dataclasses import dataclass, replace
from decimal import Decimal

from visualproof_server.proving.text.doubt import Doubt

MAX_DIGITS = 40


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
