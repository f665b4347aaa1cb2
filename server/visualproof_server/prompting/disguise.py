"""Text of a document as a prompt shows it: on one line, with nothing that a model may read as a marker.

What a model may read as one is looked for in a fold of the text: without what is invisible, with look-alikes
and other spellings of its bracket and letters. Each step takes time that grows with the text.
"""

import re
import unicodedata
from functools import lru_cache

# Stands for the bracket that would open a marker. It folds back when a proof is matched, since
# punctuation is folded away.
DEFUSED = "\u2039"
# Brackets and signs that look like one, compatibility forms taken apart. They also quote names, so
# they open a marker only where a number follows.
_BRACKETS = "‹«˂ᐸᚲ≪≺⋖❬❮❰⟨⟪⧼⪡〈《"
# The bracket as HTML and programs spell it.
_ESCAPED = re.compile(
    r"&(?:amp;)*+(?:lt|lang|langle|lsaquo|laquo|#0*+60|#x0*+3c);?|\\u003c|\\x3c|%3c", re.I
)
_OPENS = re.compile(rf"[<{_BRACKETS}&\\%≮＜﹤︽︿\u2329]")
# Letters of other scripts that print like those of the markers' names.
_ALIKE = {
    "a": "αаɑᎪᴀꓮ", "b": "βвɓᏴʙꓐ", "e": "εеє℮ᎬᴇꓰΕ", "g": "ɢԍɡᏀꓖ", "i": "ιіӏıɪ│ǀꓲ",
    "l": "ʟᏞꓡ", "n": "νнɴոꓠ", "p": "ρрᏢᴘꓑ", "t": "τтᎢᴛꓔ",
}  # fmt: skip
_LETTERS = str.maketrans({alike: letter for letter, many in _ALIKE.items() for alike in many})
# Invisible, though they are letters or marks by their category.
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
# Letters that digits and strokes are taken for.
_SPELLED = {"i": "[i1l|!]", "l": "[l1|!i]", "e": "[e3]", "a": "[a4@]"}


def _name(word: str) -> str:
    """A marker's name, with white space between its letters or none."""
    return r"\s*+".join(_SPELLED.get(letter, letter) for letter in word)


_NAMES = f"(?:{_name('page')}|{_name('line')}|{_name('table')})"
_MARKER = re.compile(
    rf"<[\s/\\]*+{_NAMES}(?![a-z])|[<{DEFUSED}][\s/\\]*+(?:{_NAMES}[\s_:#.-]*+|[plt]\s*+)\d"
)
# What would begin a new line, and characters that nobody sees but a model may read: tags.
_ON_ONE_LINE = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ") | dict.fromkeys(
    range(0xE0000, 0xE0080)
)


def defuse(text: str) -> str:
    """A text on one line, with U+2039 for each bracket that would open what looks like a marker."""
    text = text.translate(_ON_ONE_LINE)
    if _OPENS.search(text) is None:
        return text
    folded, origin = _folded(text)
    places = [origin[m.start()] for m in _MARKER.finditer(folded)]
    if not places:
        return text
    shown = list(text)
    for place in places:
        shown[place] = DEFUSED
    return "".join(shown)


def _folded(text: str) -> tuple[str, list[int]]:
    """What the text looks like, and which character each of it comes from."""
    escapes = {m.start(): m.end() for m in _ESCAPED.finditer(text)}
    out: list[str] = []
    origin: list[int] = []
    at = 0
    while at < len(text):
        end = escapes.get(at)
        looks = _looks(text[at]) if end is None else "<"
        out.append(looks)
        origin += [at] * len(looks)
        at = end or at + 1
    return "".join(out), origin


@lru_cache(maxsize=8192)
def _looks(char: str) -> str:
    """A character as it looks: its base without marks, in lower case; empty for what is invisible."""
    apart = unicodedata.normalize("NFKD", char).casefold().translate(_LETTERS)
    seen = "".join(DEFUSED if c in _BRACKETS else c for c in apart if not _is_invisible(c))
    # Longer ones are words of their own, such as Arabic greetings.
    return seen[:4]


def _is_invisible(char: str) -> bool:
    # A control that is no white space parts nothing that a model reads.
    return char in _BLANK or (
        unicodedata.category(char) in ("Cf", "Cc", "Mn", "Me", "Cn", "Co") and not char.isspace()
    )
