"""Writes proving/vocabulary/cldr.json: what CLDR knows of months, scales and currencies, by Babel.

python bench/make_cldr.py

CLDR is the Unicode Common Locale Data Repository (https://cldr.unicode.org). Looking through all of
its locales takes seconds, so what is needed of them is a file; a test says when it is out of date.
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from babel import Locale, localedata
from babel.core import UnknownLocaleError, get_global
from babel.dates import get_month_names
from babel.numbers import get_currency_precision, get_territory_currencies, list_currencies

FILE = Path(__file__).parents[1] / "server/visualproof_server/proving/vocabulary/cldr.json"
# Languages whose words are taken: those that this project's readers and users meet most.
LANGUAGES = [
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "pl",
    "sv",
    "da",
    "nb",
    "fi",
    "id",
    "ms",
    "cs",
    "sk",
    "hu",
    "ro",
    "tr",
    "el",
    "ru",
    "uk",
    "bg",
    "hr",
    "sl",
    "vi",
    "ja",
    "zh",
    "ko",
    "th",
    "hi",
    "bn",
    "ta",
    "ar",
    "fa",
    "he",
]


def locale_data(language: str) -> Any:
    """All that CLDR says of a language."""
    data: Any = localedata.load(language)
    return localedata.LocaleDataDict(data)


def months() -> dict[str, dict[str, int]]:
    """By language: names of months, folded, with their number."""
    found: dict[str, dict[str, int]] = {}
    for language in LANGUAGES:
        names: dict[str, int] = {}
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    key = name.casefold().strip(".")
                    if not any(c.isdigit() for c in key) and len(key) > 1:
                        names.setdefault(key, number)
        found[language] = names
    return found


def scales() -> dict[str, list[int]]:
    """Words of thousands, millions and more, folded, with the powers of ten they mean somewhere."""
    found: dict[str, set[int]] = defaultdict(set)
    for language in LANGUAGES:
        formats = locale_data(language)["compact_decimal_formats"]
        for width in ("long", "short"):
            for patterns in formats[width].values():
                for power, made in patterns.items():
                    text = re.sub(r"['\u200f\u200e\u00a4]", "", made.pattern).replace("\xa0", " ")
                    zeros = text.count("0")
                    word = text.replace("0", "").strip().strip(".").strip()
                    exponent = len(power) - zeros
                    if word and exponent > 0 and (len(word) > 2 or not word.isascii()):
                        found[word.casefold()].add(exponent)
    return {word: sorted(found[word]) for word in sorted(found)}


def symbols() -> dict[str, list[str]]:
    """Signs and short names of currencies, as some country of theirs writes them."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in ("en", *LANGUAGES):
        for code, symbol in Locale(name).currency_symbols.items():
            _sign(found, symbol, code)
    for name in localedata.locale_identifiers():
        try:
            locale = Locale.parse(name)
        except (UnknownLocaleError, ValueError):
            continue
        if locale.territory:
            for code in get_territory_currencies(locale.territory):
                _sign(found, locale.currency_symbols.get(code, ""), code)
    return {sign: sorted(found[sign]) for sign in sorted(found)}


def _sign(found: dict[str, set[str]], symbol: str, code: str) -> None:
    sign = re.sub(r"[\u200e\u200f]", "", symbol).replace("\xa0", " ").strip(". ").casefold()
    current = code in get_global("all_currencies") and code in list_currencies()
    if sign and sign != code.casefold() and " " not in sign and len(sign) <= 6 and current:
        found[sign].add(code)


def names() -> dict[str, list[str]]:
    """Full names of currencies in the plural and singular, folded."""
    found: dict[str, set[str]] = defaultdict(set)
    for language in LANGUAGES:
        locale = Locale(language)
        for code, forms in locale_data(language)["currency_names_plural"].items():
            for name in forms.values():
                found[name.casefold()].add(code)
        for code, name in locale.currencies.items():
            found[name.casefold()].add(code)
    kept = {n: c for n, c in found.items() if not any(ch.isdigit() or ch in "()" for ch in n)}
    return {name: sorted(kept[name]) for name in sorted(kept)}


def main() -> None:
    current = sorted(
        {
            code
            for territory in get_global("territory_currencies")
            for code in get_territory_currencies(territory)
        }
    )
    made = {
        "codes": {code: get_currency_precision(code) for code in current},
        "symbols": {
            sign: kept
            for sign, codes in symbols().items()
            if (kept := [c for c in codes if c in current])
        },
        "names": {
            name: kept
            for name, codes in names().items()
            if (kept := [c for c in codes if c in current])
        },
        "months": months(),
        "scales": scales(),
    }
    FILE.write_text(json.dumps(made, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
