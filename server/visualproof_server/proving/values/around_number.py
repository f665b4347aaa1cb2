"""What both sides of a number ask of its text: phrases, dashes of ranges."""

import re

from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values.units import unit_at

# How far to look back for words that bound a number, and ahead for those after it.
REACH = 48
SHARE = re.compile(r" ?(%|‰)")


def phrase_before(text: str, at: int) -> list[str]:
    """Words before a place, folded, back to a gap or a sentence's end; at most eight."""
    head = text[max(0, at - REACH) : at].rsplit("\t", 1)[-1]
    cut = at > REACH and len(head) == REACH and not head[0].isspace()
    words = fold_text(head).replace("(", " ").split()
    words = [word.rstrip(".,") or word for word in words]
    return words[1:][-8:] if cut and words else words[-8:]


_LOW_END = re.compile(r"(?<![\w\-/.,])\d{1,6}(?:[.,]\d{1,3})?$")
_HIGH_END = re.compile(r"\d{1,6}(?:[.,]\d{1,3})?(?![\d\-/])")


def joins_range(text: str, dash: int) -> bool:
    """Whether a dash joins two plain numbers of which the second has a unit or a share: 10-20 kg."""
    if not _LOW_END.search(text[max(0, dash - 12) : dash]):
        return False
    high = _HIGH_END.match(text, dash + 1)
    if high is None:
        return False
    rest = text[high.end() : high.end() + 24]
    return bool(SHARE.match(rest)) or bool(unit_at(rest.removeprefix(" "), rest[:1] == " ")[0])
