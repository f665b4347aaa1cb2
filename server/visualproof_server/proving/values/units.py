"""What stands beside numbers: currencies (ISO 4217), scales glued to them, and units."""

import re
from functools import lru_cache

from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary

# Hundredths of a currency: 50 cents is no 50 dollars.
MINOR_UNIT = "¢"
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_WORD = re.compile(r"[^\W\d_]+(?:['’.\-][^\W\d_]+)*")
_LONGEST_NAME = 3

Currencies = frozenset[str]


def currencies_named(name: str) -> Currencies:
    """What a sign, code or short name may stand for; empty if it is none."""
    known = vocabulary()
    if name.upper() in known.currency_codes and name not in known.codes_that_are_words:
        if name.isupper() or name.casefold() in known.codes_in_small_letters:
            return frozenset({name.upper()})
    if len(name) == 1 and name.isascii() and name.isalpha() and not name.isupper():
        return frozenset()
    return known.currency_signs.get(fold_text(name), frozenset())


@lru_cache(maxsize=1)
def sign_characters() -> frozenset[str]:
    """Single characters that are no letters and stand for currencies."""
    signs = vocabulary().currency_signs
    return frozenset(s for s in signs if len(s) == 1 and not s.isalpha())


def currency_before(text: str, end: int) -> tuple[Currencies, int] | None:
    """Currencies named directly before `end`, or one space before, and where the name begins."""
    stop = end - 1 if end > 1 and text[end - 1] == " " else end
    head = text[max(0, stop - 24) : stop]
    if not head or head[-1] == "\t":
        return None
    base = stop - len(head)
    if head[-1] in sign_characters():
        return _sign_before(head, base)
    dotted = head[:-1] if head.endswith(".") else head
    letters = _LETTERS_BEFORE.search(dotted)
    if letters is None:
        return None
    begin = letters.start()
    before = dotted[begin - 1] if begin else ""
    if before.isalnum() or before == "_":
        return None
    if before == "-" and begin > 1 and dotted[begin - 2].isalnum():
        return None
    if head.endswith(".") and stop == end and len(letters.group()) > 3:
        # A sentence or a leader ends: Total.100.00
        return None
    if found := currencies_named(letters.group()):
        return found, base + begin
    return _name_before(dotted, base)


def _sign_before(head: str, base: int) -> tuple[Currencies, int] | None:
    """A sign, with the letters glued to it: NZ$, US$, CA$."""
    sign = head[-1]
    rest = head[:-1]
    spaced = rest.endswith(" ")
    letters = _LETTERS_BEFORE.search(rest[:-1] if spaced else rest)
    if letters is not None and len(letters.group()) <= 3:
        begin = letters.start()
        bounded = not (begin and (rest[begin - 1].isalnum() or rest[begin - 1] == "_"))
        found = vocabulary().currency_signs.get(fold_text(letters.group() + sign))
        if found and bounded and (not spaced or letters.group() == "US"):
            return found, base + begin
        if not spaced and bounded and letters.group().upper() in vocabulary().currency_codes:
            return frozenset({letters.group().upper()}), base + begin
        if not spaced:
            # Letters glued to a sign belong to it; which currency that is, is not known.
            return frozenset({"XXX"}), base + begin
    return vocabulary().currency_signs[fold_text(sign)], base + len(head) - 1


def _name_before(head: str, base: int) -> tuple[Currencies, int] | None:
    words = [(m.group(), m.start()) for m in _WORD.finditer(head)]
    if not words or fold_text(words[-1][0]) not in vocabulary().currency_ends:
        return None
    names = vocabulary().currency_names
    for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
        some = words[-size:]
        found = names.get(tuple(fold_text(w) for w, _ in some))
        # The first word may be cut off by the reach.
        if found and (some[0][1] > 0 or base == 0):
            return found, base + some[0][1]
    return None


def currency_after(text: str, begin: int, adjacent: bool) -> tuple[Currencies, int] | None:
    """Currencies named at `begin`, and where the name ends; not one of the next number."""
    sign = text[begin : begin + 1]
    if not sign:
        return None
    if sign in sign_characters():
        stop = begin + 1
        following = text[stop : stop + 2].strip(" ")[:1]
        if following.isdigit() and (not adjacent or text[stop : stop + 1].isdigit()):
            return None
        return vocabulary().currency_signs[fold_text(sign)], stop
    match = re.compile(r"[^\W\d_]{1,12}\$?").match(text, begin)
    if match is None:
        return None
    name, stop = match.group(), match.end()
    if text[stop : stop + 1] == "$":
        stop += 1
    clean = not (text[stop : stop + 1].isalnum() or text[stop : stop + 1] == "_")
    found = _name_after(text, begin)
    if found is not None and found[1] > stop:
        return found
    known = currencies_named(name)
    if len(name) == 1 and name.isascii():
        # 5 R is no rand: a lone letter stands before its amount.
        known = frozenset()
    if known and clean and name not in vocabulary().units:
        if not adjacent and text[stop : stop + 2].strip(" ")[:1].isdigit():
            # "5.00 RM 6.00": that currency is the next number's; "100.00 USD 92.00 EUR": it is not.
            more = re.compile(r" [\d.,']{1,20} ?([A-Z]{3})(?![^\W_])").match(text, stop)
            own = more is not None and bool(currencies_named(more[1]))
            return (known, stop) if own or text[stop : stop + 1] != " " else None
        return known, stop
    return found


def _name_after(text: str, begin: int) -> tuple[Currencies, int] | None:
    names = vocabulary().currency_names
    words: list[tuple[str, int]] = []
    for match in _WORD.finditer(text[begin : begin + 40].split("\t", 1)[0]):
        words.append((fold_text(match.group()), begin + match.end()))
        if len(words) == _LONGEST_NAME:
            break
    for size in range(len(words), 0, -1):
        if found := names.get(tuple(w for w, _ in words[:size])):
            return found, words[size - 1][1]
    return None


_SCALE_WORDS = r"T|k|K|M|m|bn|Mio\.?|Mrd\.?|Tsd\.?|mln|mld"
_POWERS = {
    "T": 3, "k": 3, "K": 3, "M": 6, "m": 6, "bn": 9, "Mio": 6, "Mio.": 6, "Mrd": 9, "Mrd.": 9,
    "Tsd": 3, "Tsd.": 3, "mln": 6, "mld": 9,
}  # fmt: skip
_SCALE_FIRST = re.compile(rf"(?<![^\W_])({_SCALE_WORDS}) ?([A-Z]{{3}}|[€£$¥₹])$")
_SCALE_LAST = re.compile(rf"(?<![^\W_])([A-Z]{{0,3}}[€£$¥₹]|[A-Z]{{3}}) ?({_SCALE_WORDS})$")
_THOUSANDS = re.compile(r"([A-Z]{3}|[A-Z]{0,2}[€£$¥₹]) ?['’`]?000s?$")


def scaled_currency(text: str, end: int) -> tuple[Currencies, tuple[int, ...], int] | None:
    """A currency with its scale before `end`: TEUR, k€, USD'000, £m, Mio. EUR."""
    stop = end - 1 if end > 1 and text[end - 1] == " " else end
    head = text[max(0, stop - 12) : stop]
    base = stop - len(head)
    if (match := _THOUSANDS.search(head)) and (named := _named(match[1])):
        return named, (3,), base + match.start()
    if (match := _SCALE_FIRST.search(head)) and (named := _named(match[2])):
        return named, (_POWERS[match[1]],), base + match.start()
    if (match := _SCALE_LAST.search(head)) and (named := _named(match[1])):
        return named, (_POWERS[match[2]],), base + match.start()
    return None


def _named(name: str) -> Currencies:
    found = currencies_named(name)
    if not found and name[-1:] in sign_characters():
        return vocabulary().currency_signs[fold_text(name[-1])]
    return found


# Units of three words and of two: metric tons, degrees Celsius.
_PHRASES = tuple(
    re.compile(r"[^\W\d_]+(?:[ \-][^\W\d_]+){" + str(n) + r"}(?![^\W\d_])") for n in (2, 1)
)
_ATOM = re.compile(r"°\s?[CFcf]?(?![^\W\d_])|[^\W\d_]+\.?[²³]?|[″′\"']{1,2}|µ\w+")
_POWER = re.compile(r"\^?(-?[23])(?!\d)|[²³]| ([23])(?![\d.,])|⁻[¹²³]")
_DIVIDED = re.compile(r" ?/ ?| (?:per|pro|je|par|por|al|à la) ", re.I)
_TIMES = re.compile(r" ?[·⋅] ?")
_MAX_ATOMS = 4
_LENGTHS = frozenset({"m", "cm", "mm", "km", "ft", "in", "yd"})


def unit_at(text: str, spaced: bool) -> tuple[str, int]:
    """The canonical unit that a text begins with, and its length; "", 0 if with none.

    Compound units keep their shape: km/h, kg/m3, kW·h. Signs are case-sensitive (SI).
    """
    found, at = _simple(text, 0)
    if not found:
        return "", 0
    for _ in range(_MAX_ATOMS):
        divided = _DIVIDED.match(text, at) or _TIMES.match(text, at)
        if divided is not None:
            more, stop = _simple(text, divided.end())
            raw = _ATOM.match(text, divided.end())
            if not more and raw is not None:
                more, stop = fold_text(raw.group()), raw.end()
            if not more:
                break
            mark = "·" if _TIMES.match(text, at) else "/"
            found, at = f"{found}{mark}{more}", stop
        elif text[at : at + 1] == " " and (side := _beside(text, at)):
            found, at = f"{found}·{side[0]}", side[1]
        else:
            break
    return vocabulary().units.get(found, found), at


def _beside(text: str, at: int) -> tuple[str, int] | None:
    """A unit that multiplies the one before it by standing beside it: kW h, kg m-3."""
    match = re.compile(r" ([^\W\d_]{1,3})(-[123]|⁻[¹²³])?(?![\w])").match(text, at)
    if match is None:
        return None
    if match[2] is None and match[1] not in ("h", "m", "s"):
        return None
    power = match[2].translate(str.maketrans("⁻¹²³", "-123")) if match[2] else ""
    return match[1] + power, match.end()


def _simple(text: str, begin: int) -> tuple[str, int]:
    """One unit with its power."""
    units = vocabulary().units
    for phrase in _PHRASES:
        match = phrase.match(text, begin)
        if match is not None and fold_text(match.group()) in units:
            return units[fold_text(match.group())], match.end()
    match = _ATOM.match(text, begin)
    if match is None:
        return "", begin
    spelled, stop = match.group(), match.end()
    minor = spelled.rstrip(".").casefold()
    if minor in vocabulary().single("minor_currency") or spelled == "¢":
        return MINOR_UNIT, stop
    unit = _unit_named(spelled)
    if not unit and spelled[-1:] in "²³":
        unit, stop = _unit_named(spelled[:-1]), stop - 1
    if not unit and spelled.endswith("."):
        unit, stop = _unit_named(spelled[:-1]), stop - 1
    if not unit:
        return "", begin
    if text[stop : stop + 1].isdigit() and text[stop] not in "23":
        return "", begin
    if power := _POWER.match(text, stop):
        digits = power.group().strip(" ^").translate(str.maketrans("⁻¹²³", "-123"))
        made = unit + digits
        spaced = power.group()[0] == " "
        glued = not spaced and power.group()[0] not in "^²³⁻-"
        if glued and unit not in _LENGTHS and made not in units:
            return "", begin
        if spaced and (unit not in _LENGTHS or _simple(text[power.end() :].lstrip(" "), 0)[0]):
            return unit, stop
        return units.get(made, made), power.end()
    return unit, stop


def _unit_named(spelled: str) -> str:
    units = vocabulary().units
    return units.get(spelled) or units.get(spelled.casefold(), "")


def same_unit(ours: str, theirs: str) -> bool:
    """Whether two canonical units are one."""
    known = vocabulary().unit_signs
    if ours == theirs or ours in known or theirs in known:
        return ours == theirs
    return _singular(ours) == _singular(theirs)


def _singular(word: str) -> str:
    """Names of what is counted, their plural aside: box, boxes."""
    low = fold_text(word).rstrip(".")
    if low in ("pcs",):
        return low
    for ending, kept in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("sses", "ss"), ("s", "")):
        if len(low) > 3 and low.endswith(ending) and not low.endswith("ss"):
            return low[: -len(ending)] + kept
    return low
