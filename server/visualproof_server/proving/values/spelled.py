"""Numbers in words: `thirty`, `one million`, `fünfunddreißig`. The words are num2words'."""

import itertools
import re
from decimal import Decimal
from functools import lru_cache

from num2words import num2words

from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary

# Languages whose words are known.
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "ru")
# Every number below this is looked up whole; more is said by scale words.
_BELOW = 1000
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_MAX_WORDS = 8


def _key(text: str) -> str:
    """Words of a number without what parts them."""
    return "".join(c for c in fold_text(text) if c.isalpha())


@lru_cache(maxsize=1)
def _table() -> dict[str, int]:
    found: dict[str, int] = {}
    for language in LANGUAGES:
        for number in range(_BELOW):
            try:
                said = num2words(number, lang=language)
            except (NotImplementedError, IndexError):
                continue
            found.setdefault(_key(said), number)
            found.setdefault(_key(re.sub(r"\band\b", "", said)), number)
    found |= {"ahundred": 100, "hundred": 100, "dozen": 12}
    return found


def read(words: list[str]) -> Decimal | None:
    """The value of words that are one number, None if they are not.

    A number below a thousand, or such a number (or none) and scale words: one million two hundred
    thousand.
    """
    if not words or len(words) > _MAX_WORDS:
        return None
    table, scales = _table(), vocabulary().scales
    # One hundred and five, trente et un.
    links = vocabulary().single("number_links")
    whole = table.get(_key(" ".join(words)))
    if whole is not None:
        return Decimal(whole)
    total = Decimal(0)
    part: list[str] = []
    last: int | None = None
    for word in words:
        powers = scales.get(fold_text(word).strip("."))
        if powers is not None and len(powers) == 1 and powers[0] >= 3:
            # Scales go down: a million, then thousands.
            if last is not None and powers[0] >= last:
                return None
            value = table.get(_key(" ".join(part))) if part and part != ["a"] else 1
            if value is None or (not part and last is not None):
                return None
            total += Decimal(value).scaleb(powers[0])
            part, last = [], powers[0]
        elif not (word in links and not part):
            part.append(word)
    if last is None:
        return None
    if part:
        rest = table.get(_key(" ".join(part)))
        if rest is None:
            return None
        total += rest
    return total


def ends_with(text: str, value: Decimal, unit: str = "") -> bool:
    """Whether a text's last words say this value, what is counted or its currency aside."""
    words = [fold_text(m.group()) for m in _WORD.finditer(text[-96:])]
    if len(text) > 96 and words:
        words = words[1:]
    for skipped in range(0, min(3, len(words))):
        rest = words[: len(words) - skipped] if skipped else words
        for size in range(1, min(_MAX_WORDS, len(rest)) + 1):
            if read(rest[-size:]) == value:
                return True
    return False


def find(text: str) -> list[tuple[int, int, Decimal]]:
    """Numbers in words, the longest at each place: (start, end, value). Scale words alone are none."""
    words = [(m.start(), m.end(), fold_text(m.group())) for m in _WORD.finditer(text)]
    found: list[tuple[int, int, Decimal]] = []
    at = 0
    table, scales = _table(), vocabulary().scales
    # Words of other sentences too: "is due" is no Italian two, "once a week" no Spanish eleven.
    homonyms = vocabulary().single("number_homonyms")
    while at < len(words):
        start, _, word = words[at]
        begins = _key(word) in table or word == "a" or word in scales
        size = 0
        if begins:
            for length in range(min(_MAX_WORDS, len(words) - at), 0, -1):
                some = words[at : at + length]
                if any(text[a[1] : b[0]].strip(" -") for a, b in itertools.pairwise(some)):
                    continue
                value = read([w for *_, w in some])
                if value is not None and not (length == 1 and word in homonyms):
                    found.append((start, some[-1][1], value))
                    size = length
                    break
        at += max(size, 1)
    return found
