"""What other readers say of a page: the one shape that their formats are brought into."""

from dataclasses import dataclass
from typing import Protocol

from visualproof_server.model.document import Line, Table, Trust, Word
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.reading.engine import trust_from
from visualproof_server.reading.pages import MAX_WORDS

# Confidence from which another reader's word counts as read surely.
SURE_FROM = 0.9


@dataclass(frozen=True, slots=True)
class Sheet:
    """Size of a page in its reading's own units; 0 by 0 where it speaks in fractions.

    dpi is that of the units, 0 where unknown.
    """

    width: float
    height: float
    dpi: float = 0.0


@dataclass(frozen=True, slots=True)
class Content:
    """Lines and tables in reading order, in pixels; no word stands in both."""

    lines: tuple[Line, ...]
    tables: tuple[Table, ...] = ()


class Reading(Protocol):
    """Another reader's output. Errors READING_INVALID."""

    @property
    def name(self) -> str:
        """Stands as the engine of each word."""
        ...

    def numbers(self) -> list[int]:
        """Pages it speaks of, 1-based, sorted."""
        ...

    def sheet(self, number: int) -> Sheet:
        """The size of a page."""
        ...

    def content(self, number: int, width: int, height: int) -> Content:
        """What it says of a page, when the page is width by height pixels."""
        ...


def word_of(
    text: str, corners: list[tuple[float, float]], confidence: float | None, name: str
) -> Word | None:
    """A word in whole pixels, None for one without text; corners clockwise from the top left."""
    text = " ".join(text.split())
    if not text:
        return None
    whole = [(round(x), round(y)) for x, y in corners]
    xs, ys = [x for x, _ in whole], [y for _, y in whole]
    box = whole_box(min(xs), min(ys), max(xs), max(ys))
    quad = quad_of(box)
    if len(whole) == 4 and not _upright(whole):
        quad = (whole[0], whole[1], whole[2], whole[3])
    if confidence is None:
        # One that does not say how sure it is may be sure of nothing.
        return Word(text, box, quad, None, name, Trust.DOUBTFUL)
    sure = min(max(confidence, 0.0), 1.0)
    return Word(text, box, quad, sure, name, trust_from(sure, SURE_FROM))


def _upright(corners: list[tuple[int, int]]) -> bool:
    """Within a pixel of its upright box."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    apart = (abs(ay - by), abs(cy - dy), abs(ax - dx), abs(bx - cx))
    return max(apart) <= 1 and ax < bx and ay < dy


def corners_of(left: float, top: float, right: float, bottom: float) -> list[tuple[float, float]]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def split_words(
    text: str, left: float, top: float, right: float, bottom: float, name: str
) -> list[Word]:
    """Words of a line whose own places are unknown: its width, shared out by characters.

    ValueError for more than a page has.
    """
    parts = text.split(None, MAX_WORDS)
    if not parts:
        return []
    if len(parts) > MAX_WORDS:
        raise ValueError("more words than a page has")
    each = (right - left) / max(1, len(" ".join(parts)))
    words, at = [], left
    for part in parts:
        end = at + each * len(part)
        word = word_of(part, corners_of(at, top, end, bottom), None, name)
        if word is not None:
            words.append(word)
        at = end + each
    return words


def whole_box(left: float, top: float, right: float, bottom: float) -> Box:
    """A box in whole pixels, at least one wide and high."""
    x, y = round(left), round(top)
    return Box(x, y, max(x + 1, round(right)), max(y + 1, round(bottom)))
