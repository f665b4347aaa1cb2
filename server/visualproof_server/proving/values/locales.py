"""What a locale settles: the decimal mark, grouping by spaces, the order of dates, what a sign for
several currencies means. CLDR by Babel."""

import re
from dataclasses import dataclass
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.numbers import get_territory_currencies


@dataclass(frozen=True, slots=True)
class Conventions:
    """Empty members are not settled."""

    decimal_mark: str = ""
    groups_by_space: bool = False
    date_order: str = ""
    currencies: frozenset[str] = frozenset()


@lru_cache(maxsize=256)
def conventions(tag: str) -> Conventions:
    """Conventions of a BCP 47 tag; nothing is settled by an unknown or empty tag.

    A language alone settles the order of dates only where its countries agree, so not for `en`.
    """
    if not tag:
        return Conventions()
    try:
        locale = Locale.parse(tag.replace("-", "_"))
    except (UnknownLocaleError, ValueError, TypeError):
        return Conventions()
    symbols = locale.number_symbols.get("latn", locale.number_symbols)
    mark = str(symbols.get("decimal", ""))
    group = str(symbols.get("group", ""))
    pattern = str(locale.date_formats["short"].pattern)
    order = "".join(dict.fromkeys(re.sub(r"[^dMy]", "", pattern))).upper()
    if locale.language == "en" and not locale.territory:
        order = ""
    return Conventions(
        mark if mark in (".", ",") else "",
        group.isspace(),
        order if order in ("DMY", "MDY", "YMD") else "",
        frozenset(get_territory_currencies(locale.territory)) if locale.territory else frozenset(),
    )
