"""Where print ends: whether digits may go on beyond what was read, over marks, gaps and strokes."""

import re

from visualproof_server.proving.text.folding import DIGIT_LIKE
from visualproof_server.proving.vocabulary.words import vocabulary

# Marks that part no numbers: between digits they are a decimal or group mark misread, or a digit.
_MARK = r"[.,;:'’‘`´·~\"”″°|!^#\\]"
_BETWEEN = rf"(?:{_MARK}+|[.,;] [.,;]|[.,;]{{2}} |[.,]-)"
# Letters that digits are read as, also those that are too rare to be read back.
_LOOK = DIGIT_LIKE.replace("|", "") + "DiGgq"
_GOES_ON = re.compile(rf"{_BETWEEN}(?:[{_LOOK}]*\d|[{_LOOK}]{{1,3}}(?![^\W_]))")
_WENT_BEFORE = re.compile(rf"(?:\d[{_LOOK}]*{_BETWEEN}|\d[{_LOOK}]+)$")
_LETTERS_BEFORE = re.compile(rf"(?<![^\W_])([^\W\d_]*?)[{_LOOK}]{{1,3}}[.,]+$")
_TIME = re.compile(rf"{_MARK}\d{{1,2}}:\d\d")
_NEGATION = re.compile(r"(?<![^\W_])(?:non|not|un)-$", re.I)
# What a 1 is read as where it touches other digits.
_STROKE = re.compile(r"(?<![^\W_])[|!/\\\[\]lI](?=\d)|(?<=\d)[|!/\\\[\]lI](?![^\W_])")
_LONE_STROKES = frozenset("|!/\\[]lI")
# Words closer than this (heights) may be parts of one.
NEAR = 0.8
_TOUCHING = 0.3


def runs_on(text: str, start: int, end: int) -> bool:
    """Whether digits at an edge of text[start:end] go on beyond it: 1 in `1.,280` is no 1."""
    after = text[end - 1 : end].isdigit() and _GOES_ON.match(text, end)
    if after and not _TIME.match(text, end):
        return True
    if not text[start : start + 1].isdigit():
        return False
    head = text[max(0, start - 8) : start]
    if _WENT_BEFORE.search(head):
        return True
    # RMO.55 is no 55; No.55 is.
    letters = _LETTERS_BEFORE.search(head)
    return letters is not None and (not letters[1] or _is_currency(letters[1].lower()))


def is_cut(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is only a part of a word or code: `Flat 12` of `Flat 12A`."""
    address = "@" in text or "://" in text or text.startswith("www.")
    return (
        _joins(text[end - 1 : end], text[end : end + 2], address)
        or _joins(text[start : start + 1], text[max(0, start - 2) : start][::-1], address)
        or bool(_NEGATION.search(text[max(0, start - 5) : start]))
    )


def _joins(edge: str, beyond: str, address: bool) -> bool:
    """Whether an edge character and what follows outwards are one word or code."""
    near, far = beyond[:1], beyond[1:]
    if not edge.isalnum() or not near:
        return False
    if near.isalnum():
        # Scripts that write without spaces part words nowhere.
        return edge < "\u2e80" and near < "\u2e80"
    if near in "-/_" and far.isalnum():
        return edge.isdigit() or far.isdigit()
    return address and near in "@./-_" and far.isalnum()


def part_runs_on(words: list[str], part: str) -> bool:
    """runs_on for a part of words that begins in the first of them and ends in the last."""
    return any(runs_on(*place) for place in _places(words, part.strip(".,;:|")))


def part_is_cut(words: list[str], part: str) -> bool:
    """is_cut likewise."""
    return any(is_cut(*place) for place in _places(words, part))


def _places(words: list[str], part: str) -> list[tuple[str, int, int]]:
    """(word, start, end) of what a part has of the first and of the last word."""
    if len(words) == 1:
        at = words[0].find(part)
        return [(words[0], at, at + len(part))] if at >= 0 else []
    first, last = words[0], words[-1]
    begins = len(first) - len(part.split(" ", 1)[0])
    return [(first, begins, len(first)), (last, 0, len(part.rsplit(" ", 1)[-1]))]


def has_stroke(text: str) -> bool:
    """Whether a stroke touches the digits of a word, so that it may be a 1 that was misread."""
    if text.startswith("[") and text.rstrip(".,;").endswith("]"):
        return False
    return bool(_STROKE.search(text))


def touches_stroke(before: str, text: str, gap: float) -> bool:
    """Whether a word that is one stroke stands so close before digits that it may be a 1."""
    return before in _LONE_STROKES and text[:1].isdigit() and gap < _TOUCHING


def continues(left: str, right: str, gap: float) -> str:
    """Whether two neighbouring words may be one number that was printed or read with a space."""
    if not left or not right or gap >= NEAR:
        return ""
    left, right = _as_digits(left), _as_digits(right)
    if left[-1].isdigit() and right[0] in ".," and right[1:2].isdigit():
        return "mark"
    if left[-1] in ".," and left[-2:-1].isdigit() and right[0].isdigit():
        return "mark"
    if not (left[-1].isdigit() and right[0].isdigit()):
        return ""
    if gap < 0.2:
        return "close"
    digits = right.rstrip(".,;:").split(",")[0].split(".")[0]
    group = re.fullmatch(r"(\D*)\d{1,3}", left)
    if group and len(digits) == 3 and _is_amount_head(group.group(1)):
        return "group"
    return ""


def _as_digits(text: str) -> str:
    """A word of digits and letters that digits are read as, in digits; others as they are."""
    if re.fullmatch(rf"[\d.,{_LOOK}]*\d[\d.,{_LOOK}]*", text):
        return re.sub(f"[{_LOOK}]", "0", text)
    return text


def _is_currency(name: str) -> bool:
    known = vocabulary()
    return name in known.currency_signs or name.upper() in known.currency_codes


def _is_amount_head(text: str) -> bool:
    head = text.strip("-+(").lower()
    return not head or _is_currency(head)


def day_continues(before: str, date: str, after: str) -> bool:
    """Whether a date may have been read short of a digit, its neighbours being near: `1 5 March
    2024`, `5 March 20 24`."""
    if before.isdigit() and len(before) <= 2 and re.match(r"\d(?!\d)", date):
        return True
    return bool(re.fullmatch(r"\d\d\W?", after) and re.search(r"(?<!\d)(?:19|20)$", date))
