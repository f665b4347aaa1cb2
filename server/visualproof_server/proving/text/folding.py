"""The only text folding. Published vectors: docs/design.md and tests/proving/test_normalize.py.

Folding changes lengths, so every fold keeps a map back. It never drops a digit, a sign, a decimal
mark, a percent sign or a currency.
"""

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

_TABLE = {
    "œ": "oe",
    "Œ": "OE",
    "æ": "ae",
    "Æ": "AE",
    "ß": "ss",
    "ẞ": "SS",
    "…": "...",
    "\u00ad": "",
    "\u200b": "",
    "\u200c": "",
    "\u200d": "",
    "\ufeff": "",
    "\u2060": "",
}
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043"
_SINGLE = "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060\u02bc\uff07"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_CHARS = (
    dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SINGLE, "'") | dict.fromkeys(_DOUBLE, '"') | _TABLE
)


# Marks that are normalised with their base (UAX 15, D4): sorting a longer run takes the square of its
# length.
MAX_MARKS = 30


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    """One base character with its combining marks, conservatively."""
    if len(cluster) == 1:
        if cluster in _CHARS:
            return _CHARS[cluster]
        if unicodedata.category(cluster) == "Nd":
            return str(unicodedata.digit(cluster))
        if cluster.isspace():
            # A tab parts columns and cells in the text of a row.
            return "\t" if cluster == "\t" else " "
        how = unicodedata.decomposition(cluster)
        # 10² is not 102, and 3½ is not 31/2.
        if how.startswith(("<super>", "<sub>")):
            return cluster
        if how.startswith("<fraction>"):
            return " " + unicodedata.normalize("NFKC", cluster).replace("\u2044", "/")
    return unicodedata.normalize("NFKC", cluster)


# ASCII that folding leaves as it is, but for its case.
_PLAIN_ASCII = re.compile(r"[ !-_a-~]*")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; `origin[i]` is the index in the source of the character `text[i]` came from."""

    text: str
    origin: tuple[int, ...]


def fold(text: str, keep_case: bool = False) -> Folded:
    """Width, ligatures, dashes, quotes, digits of any script, spaces; case unless kept."""
    out: list[str] = []
    origin: list[int] = []
    length, i = len(text), 0
    while i < length:
        end = i + 1
        while end < length and end - i <= MAX_MARKS and unicodedata.combining(text[end]):
            end += 1
        folded = _fold_cluster(text[i:end])
        if not keep_case:
            folded = folded.casefold()
        out.append(folded)
        origin += [i] * len(folded)
        i = end
    return Folded("".join(out), tuple(origin))


def fold_text(text: str) -> str:
    """`fold` without the map."""
    if _PLAIN_ASCII.fullmatch(text):
        return text.casefold()
    return fold(text).text


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Length-preserving fold for typed kinds: ASCII digits, dashes, quotes and spaces."""
    if text.isascii():
        return text
    out = []
    for char in text:
        folded = _fold_cluster(char)
        out.append(folded if len(folded) == 1 else char)
    return "".join(out)


# Tokens of folded text. A number keeps the marks inside it; a sign or an accounting parenthesis
# directly at a number is a token; letters keep their combining marks.
_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,/:']\d+)*)"
    r"|(?P<sign>(?<![^\s(\[])[-+](?=[^\w\s]?\d)|\((?=[^\w\s]?[\d.,]+\))|(?<=\d)\)(?=\s|$))"
    r"|(?P<letter>[^\W\d_])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a source text with its span there (end exclusive)."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """What of a text must be equal for two texts to be the same.

    Words of letters, numbers with their inner marks, signs, percent and currency symbols. White
    space, case and other punctuation are left out; a comma that cannot belong to one number
    splits it.
    """
    folded = fold(text)
    found: list[Token] = []
    position, length = 0, len(folded.text)
    while position < length:
        char = folded.text[position]
        if char.isspace():
            position += 1
            continue
        match = _TOKEN.match(folded.text, position)
        if match is None:
            if unicodedata.category(char)[0] in "LMN":
                position = _append(found, folded, position, _word_end(folded.text, position))
            elif _is_symbol(char):
                position = _append(found, folded, position, position + 1)
            else:
                position += 1
            continue
        if match.lastgroup == "number":
            start = match.start()
            for part in _split_number(match.group()):
                at = folded.text.index(part, start)
                start = _append(found, folded, at, at + len(part))
            position = match.end()
        elif match.lastgroup == "letter":
            position = _append(found, folded, position, _word_end(folded.text, position))
        else:
            position = _append(found, folded, position, match.end())
    return found


def _is_symbol(char: str) -> bool:
    """Symbols that mean something: per cent, and, at, degree, currencies, non-ASCII operators."""
    category = unicodedata.category(char)
    return char in "%&@°" or category == "Sc" or (category == "Sm" and not char.isascii())


def _word_end(text: str, start: int) -> int:
    end = start + 1
    while end < len(text):
        char = text[end]
        category = unicodedata.category(char)
        if category[0] in "LM" or (char == "'" and end + 1 < len(text) and text[end + 1].isalpha()):
            end += 1
        else:
            break
    return end


def _append(found: list[Token], folded: Folded, start: int, end: int) -> int:
    text = folded.text[start:end].replace("'", "") or folded.text[start:end]
    found.append(Token(text, folded.origin[start], folded.origin[end - 1] + 1))
    return end


def _split_number(text: str) -> list[str]:
    """`13,81200` is two numbers with a comma between; `1,234` and `1,5` are one."""
    parts = text.split(",")
    out = [parts[0]]
    for part in parts[1:]:
        digits = re.match(r"\d+", part)
        if digits and len(digits.group()) > 3:
            out.append(part)
        else:
            out[-1] += "," + part
    return out


def compact(found: list[Token]) -> str:
    """Tokens joined without spaces, but for one between two numbers, which are not one."""
    out: list[str] = []
    for token in found:
        if out and out[-1][-1].isdigit() and token.text[0].isdigit():
            out.append(" ")
        out.append(token.text)
    return "".join(out)


def agree(first: list[str], second: list[str], doubtful: set[int]) -> bool:
    """Whether two readings of one place say the same at the doubtful tokens of the first.

    The readings are aligned character by character, spaces aside. A doubtful token must stand in
    the second reading whole, and must not be longer there: its ends are token ends in both, or
    its neighbours agree too.
    """
    one, starts = _laid_out(first)
    other, edges = _laid_out(second)
    edges.append(len(other))
    place: dict[int, int] = {-1: -1, len(one): len(other)}
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            place[block.a + offset] = block.b + offset
    for index in doubtful:
        start, end = starts[index], starts[index] + len(first[index])
        there = place.get(start)
        if there is None:
            return False
        if any(place.get(start + i) != there + i for i in range(end - start)):
            return False
        stop = there + end - start
        if there not in edges and place.get(start - 1) != there - 1:
            return False
        if stop not in edges and place.get(end) != stop:
            return False
    return True


def contains(reading: list[str], sought: list[str]) -> bool:
    """Whether tokens stand in a reading, whole and next to each other, spaces aside."""
    wanted = "".join(sought)
    for start in range(len(reading)):
        joined = ""
        for token in reading[start:]:
            joined += token
            if len(joined) >= len(wanted):
                break
        if joined == wanted:
            return bool(wanted)
    return False


def _laid_out(parts: list[str]) -> tuple[str, list[int]]:
    """The parts joined, and where each begins."""
    starts, at = [], 0
    for part in parts:
        starts.append(at)
        at += len(part)
    return "".join(parts), starts


# Letters that OCR takes for digits or for each other; they locate, and never verify. No digit is
# ever merged with another digit: a wrong digit is a wrong value.
_CONFUSIONS = str.maketrans(
    {"o": "0", "q": "0", "l": "1", "i": "1", "|": "1", "s": "5", "$": "5", "b": "8", "z": "2"}
)
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
_MARKS = re.compile(r"[^\w]", re.UNICODE)


def bare(text: str) -> str:
    """Text without accents, as capitals, typists and an OCR of another language leave them out."""
    if text.isascii():
        return text
    # Character by character: a run of marks is sorted at the square of its length.
    plain = (part for char in text for part in unicodedata.normalize("NFD", char))
    return "".join(c for c in plain if not unicodedata.combining(c))


def confusable(text: str) -> str:
    """Text with look-alikes merged, without accents and marks: equal forms may be one misread print."""
    text = bare(text)
    for pair, single in _PAIRS:
        text = text.replace(pair, single)
    return _MARKS.sub("", text).translate(_CONFUSIONS)


DIGIT_LIKE = "OoQlI|SsBZz"
_DIGITS = str.maketrans(DIGIT_LIKE, "00011155822")
_MIXED = re.compile(r"\S*\d\S*")


def unconfused(text: str) -> str:
    """The text with look-alike letters in words that hold a digit taken for digits; same length."""
    return _MIXED.sub(lambda m: m.group().translate(_DIGITS), text)
