"""Printed dates: every shape, and every day that each may mean."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from babel.dates import get_month_names

from visualproof_server.proving.text.boundaries import runs_on

# Languages whose month names are known; CLDR by Babel.
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "nb", "id", "ms")
# Two-digit years: up to 69 are 20xx, the others 19xx (POSIX strptime %y).
CENTURY_TURN = 69


@dataclass(frozen=True, slots=True)
class DateReading:
    """A day, and the order of day, month and year that it supposes."""

    day: date
    order: str


@dataclass(frozen=True, slots=True)
class DateRead:
    """A date as printed at [start, end) of a text; mark is what parts its numbers, if any.

    loose: its digits may go on.
    """

    start: int
    end: int
    readings: tuple[DateReading, ...]
    mark: str = ""
    loose: bool = False


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    names: dict[str, int] = {}
    for language in LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    key = name.casefold().rstrip(".")
                    if key.isalpha():
                        names.setdefault(key, number)
    # Short forms that print uses and CLDR has not.
    names |= {"sept": 9, "mrz": 3, "mär": 3, "okt": 10, "dez": 12, "déc": 12, "dec": 12, "mai": 5}
    return names


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    month = (
        "("
        + "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
        + r")(?![^\W\d_])\.?"
    )
    # Receipts print a time directly after the year: 26-06-201813:37.
    year = r"((?:19|20)\d\d(?=\d{1,2}:\d\d)|\d{4}(?![\d:])|'?\d{2}(?![\d:]))(?![.,]\d)"
    first = r"(?<!\d)(?<!\d[.,/:\-])(?<!\w-)"
    ordinal = r"(?:st|nd|rd|th|er|ero|º|ª|°|\.)?"
    return (
        ("ymd", re.compile(
            first + r"(\d{4}) ?([-/.]) ?(\d{1,2}) ?\2 ?(\d\d(?=\d\d:\d\d)|\d{1,2}(?!\d))(?![-/.]\d)")),
        ("num", re.compile(
            first + r"(\d{1,2}) ?([-/.]) ?(\d{1,2}) ?\2 ?"
            r"((?:19|20)\d\d(?=\d{1,2}:\d\d)|\d{4}(?!\d)|\d{2}(?!\d))(?![-/]\d|\.\d)")),
        ("cjk", re.compile(r"(?<!\d)(\d{4}) ?年 ?(\d{1,2}) ?月 ?(\d{1,2}) ?日")),
        ("dmy", re.compile(
            first + r"(\d{1,2})" + ordinal + r"[ \-/.,]{0,2}(?:de |of |del |d')?" + month
            + r"[ \-/.,]{0,3}(?:de |del )?" + year)),
        ("mdy", re.compile(
            r"(?<![^\W\d_])" + month + r"[ \-/.]{0,2}(\d{1,2})" + ordinal + r"[ ,.\-/]{1,3}" + year)),
        ("ymonthd", re.compile(first + r"(\d{4})[ \-/.]" + month + r"[ \-/.]?(\d{1,2})(?!\d)")),
        ("eight", re.compile(r"(?<![\w.,/:\-])(\d{8})(?![\w]|[.,/:\-]\w)")),
    )  # fmt: skip


def scan_dates(text: str) -> list[DateRead]:
    """Dates of a text that went through `normalize.plain`, left to right, not overlapping."""
    if not any(c.isdigit() for c in text):
        return []
    low = text.lower()
    if len(low) != len(text):
        low = text
    found: list[DateRead] = []
    for shape, pattern in _patterns():
        for match in pattern.finditer(low):
            if any(match.start() < f.end and f.start < match.end() for f in found):
                continue
            readings = _readings(shape, match)
            if readings:
                mark = match.group(2) if shape == "num" else ""
                loose = runs_on(low, match.start(), match.end())
                found.append(DateRead(match.start(), match.end(), readings, mark, loose))
    return sorted(found, key=lambda f: f.start)


def _readings(shape: str, match: re.Match[str]) -> tuple[DateReading, ...]:
    g = match.groups()
    if shape == "ymd":
        return _valid((g[0], g[2], g[3], "YMD"))
    if shape == "cjk":
        return _valid((g[0], g[1], g[2], "YMD"))
    if shape == "dmy":
        return _valid((g[2], str(_months()[g[1]]), g[0], "named"))
    if shape == "mdy":
        return _valid((g[2], str(_months()[g[0]]), g[1], "named"))
    if shape == "ymonthd":
        return _valid((g[0], str(_months()[g[1]]), g[2], "named"))
    if shape == "eight":
        digits = g[0]
        return _valid((digits[:4], digits[4:6], digits[6:], "YMD"))
    orders = [(g[3], g[2], g[0], "DMY"), (g[3], g[0], g[2], "MDY")]
    if len(g[3]) == 2:
        orders.append((g[0], g[2], g[3], "YMD"))
    return _valid(*orders)


def _valid(*candidates: tuple[str, str, str, str]) -> tuple[DateReading, ...]:
    out = []
    for year, month, day, order in candidates:
        number = int(year.lstrip("'"))
        if len(year.lstrip("'")) <= 2:
            number += 2000 if number <= CENTURY_TURN else 1900
        if not 1800 <= number <= 2200:
            continue
        try:
            out.append(DateReading(date(number, int(month), int(day)), order))
        except ValueError:
            continue
    return tuple(out)
