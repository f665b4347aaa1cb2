"""Printed dates: every shape, and every day that each may mean."""

import re
from dataclasses import dataclass
from datetime import date, time
from functools import lru_cache

from visualproof_server.proving.text.boundaries import runs_on
from visualproof_server.proving.vocabulary.words import vocabulary

# Years of two digits up to this are of this century, where nothing says otherwise.
CENTURY_TURN = 39


@dataclass(frozen=True, slots=True)
class DateReading:
    """A day, and the order of day, month and year that it supposes."""

    day: date
    order: str


@dataclass(frozen=True, slots=True)
class DateRead:
    """A date as printed at [start, end) of a text; mark is what parts its numbers, if any.

    short: its year has two digits, so that readings hold each century. clock is the time that stands directly
    after it, None where none does or it cannot be read. loose: its digits may go on.
    """

    start: int
    end: int
    readings: tuple[DateReading, ...]
    mark: str = ""
    short: bool = False
    clock: time | None = None
    loose: bool = False

    @property
    def days(self) -> frozenset[date]:
        return frozenset(r.day for r in self.readings)


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    names = sorted((n for n in vocabulary().months if n[0] < "\u2e80"), key=len, reverse=True)
    month = "(" + "|".join(map(re.escape, names)) + r")(?![^\W\d_])\.?"
    # Receipts print a time directly after the year: 26-06-201813:37.
    year = r"((?:1[89]|2[01])\d\d(?=\d{1,2}:\d\d)|\d{4}(?![\d:])|'?\d{2}(?![\d:]))(?![.,]\d)"
    long = r"((?:19|20)\d\d)"
    first = r"(?<!\d)(?<!\d[.,/:\-])(?<!\w-)"
    ordinal = r"(?:st|nd|rd|th|er|ère|ero|re|a|e|de|en|º|ª|°|\.)?"
    linked = r"(?:[ \-/.]{0,2}|[.] ?)(?:day of |of |de |del |d'|da |di |am )?"
    return (
        ("ymd", re.compile(
            first + r"(\d{4})( ?[-/.] ?)(\d{1,2})\2(\d\d(?=\d\d:\d\d)|\d{1,2}(?!\d))(?![-/]\d|\.\d)")),
        ("num", re.compile(
            first + r"(\d{1,2})( ?[-/.] ?)(\d{1,2})(?:\2| ?(?<=[.] )[.] ?)"
            r"((?:19|20)\d\d(?=\d{1,2}:\d\d)|\d{4}(?!\d)|'?\d{2}(?!\d))(?![-/]\d|\.\d)")),
        ("cjk", re.compile(r"(?<!\d)(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日号號일]")),
        ("glued", re.compile(r"(?<![\w.,/:\-])(\d{1,2})" + month + r"(\d{4}|\d{2})(?!\w)")),
        ("dmy", re.compile(
            first + r"(\d{1,2})" + ordinal + linked + month + r"[ \-/.,]{0,3}(?:de |del |do |d\.? ?j\.? )?" + year)),
        ("mdy", re.compile(
            r"(?<![^\W\d_])" + month + r"[ \-/.]{0,2}(\d{1,2})(?:st|nd|rd|th)?(?:[ ,.\-/]{1,3}|\n)" + year)),
        ("ymonthd", re.compile(first + r"(\d{4})[ \-/.]" + month + r"[ \-/.]?(\d{1,2})(?!\d)")),
        ("eight", re.compile(r"(?<![\w.,/:\-])(" + long[1:-1] + r"\d{4})(?![\w]|[.,/:\-]\w)")),
    )  # fmt: skip


_TIME = re.compile(
    r"(?:[,t]? ?(?:at |um |à |a las |- )?)(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})(?:\.\d+)?)?"
    r" ?(am|pm|a\.m\.|p\.m\.|uhr)?(?:z|[+\-]\d\d:?\d\d)?(?![\w:])"
)
_CLOCK = re.compile(
    r"(?<![\w:.,])(\d{1,2})(?::(\d{2})(?::(\d{2}))?|[.h](\d{2}))? ?(am|pm|a\.m\.|p\.m\.|uhr)?(?![\w:]|[.,]\d)"
)


def scan_dates(text: str) -> list[DateRead]:
    """Dates of a text that went through `folding.plain`, left to right, not overlapping."""
    if not any(c.isdigit() for c in text):
        return []
    low = text.lower()
    if len(low) != len(text):
        low = text
    found: list[DateRead] = []
    taken = bytearray(len(low) + 1)
    for shape, pattern in _patterns():
        for match in pattern.finditer(low):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            readings, short = _readings(shape, match)
            if not readings or _is_counter(low, start, shape, match):
                continue
            taken[start:end] = b"\x01" * (end - start)
            mark = match.group(2).strip() if shape == "num" else ""
            loose = runs_on(low, start, end) and not _TIME.match(low, end)
            found.append(DateRead(start, end, readings, mark, short, time_at(low, end), loose))
    return sorted(found, key=lambda f: f.start)


def _is_counter(low: str, start: int, shape: str, match: re.Match[str]) -> bool:
    """Whether the day's number belongs to a word before it: Week 5, March 2024."""
    if shape != "dmy":
        return False
    between = low[match.end(1) : match.start(2)]
    if "," in between:
        return True
    head = low[max(0, start - 24) : start].rsplit("\t", 1)[-1]
    words = head.replace(".", " ").split()
    return bool(words) and head.endswith(" ") and words[-1] in vocabulary().single("counters")


def time_at(low: str, at: int) -> time | None:
    """The time of day that stands directly at a place of a text in small letters."""
    match = _TIME.match(low, at)
    return None if match is None else _clock(match[1], match[2], match[3], match[4])


@dataclass(frozen=True, slots=True)
class TimeRead:
    """A time of day as printed at [start, end) of a text."""

    start: int
    end: int
    clock: time


def scan_times(text: str) -> list[TimeRead]:
    """Times of day: 14:30, 2.30 pm, 14h30, 9 am. A bare number is none."""
    low = text.lower()
    found = []
    for match in _CLOCK.finditer(low):
        if match[2] is None and match[5] is None and (match[4] is None or "h" not in match.group()):
            continue
        made = _clock(match[1], match[2] or match[4] or "00", match[3], match[5])
        if made is not None:
            found.append(TimeRead(match.start(), match.end(), made))
    return found


def _clock(hours: str, minutes: str, seconds: str | None, half: str | None) -> time | None:
    hour = int(hours)
    if half and half[0] in "ap":
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    try:
        return time(hour, int(minutes), int(seconds or 0))
    except ValueError:
        return None


def _readings(shape: str, match: re.Match[str]) -> tuple[tuple[DateReading, ...], bool]:
    g = match.groups()
    months = vocabulary().months
    if shape == "ymd":
        return _valid((g[0], [int(g[2])], g[3], "YMD"))
    if shape == "cjk":
        return _valid((g[0], [int(g[1])], g[2], "YMD"))
    if shape in ("dmy", "glued"):
        return _valid((g[2], sorted(months[g[1]]), g[0], "named"))
    if shape == "mdy":
        return _valid((g[2], sorted(months[g[0]]), g[1], "named"))
    if shape == "ymonthd":
        return _valid((g[0], sorted(months[g[1]]), g[2], "named"))
    if shape == "eight":
        digits = g[0]
        return _valid((digits[:4], [int(digits[4:6])], digits[6:], "YMD"))
    orders = [(g[3], [int(g[2])], g[0], "DMY"), (g[3], [int(g[0])], g[2], "MDY")]
    if len(g[3]) == 2:
        orders.append((g[0], [int(g[2])], g[3], "YMD"))
    return _valid(*orders)


def _valid(*candidates: tuple[str, list[int], str, str]) -> tuple[tuple[DateReading, ...], bool]:
    """Days that exist, and whether a year of two digits leaves the century open."""
    out, short = [], False
    for year, months, day, order in candidates:
        number = int(year.lstrip("'"))
        years = [number]
        if len(year.lstrip("'")) <= 2:
            short = True
            years = [2000 + number] if number <= CENTURY_TURN else [1900 + number, 2000 + number]
        for full in years:
            for month in months:
                if not 1800 <= full <= 2200:
                    continue
                try:
                    out.append(DateReading(date(full, month, int(day)), order))
                except ValueError:
                    continue
    return tuple(out), short
