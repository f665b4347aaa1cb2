"""Words of a region as text lines and phrases."""

import re
import statistics
from dataclasses import dataclass

from visualproof_server.reading.engine import EngineWord

_NUMBER = re.compile(r"[-+–—−(<>~≈$€£¥%*.,:;'’/\d\s)°xX]+[a-zA-Z*†‡%]{0,2}")


@dataclass(frozen=True, slots=True)
class _Words:
    """At least one word on one level, left to right."""

    words: tuple[EngineWord, ...]

    @property
    def top(self) -> float:
        return min(w.top for w in self.words)

    @property
    def bottom(self) -> float:
        return max(w.bottom for w in self.words)


class Phrase(_Words):
    """Words of one text line that stand close together."""

    __slots__ = ()

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return max(w.right for w in self.words)

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    @property
    def is_number(self) -> bool:
        return is_number(self.text)

    @property
    def is_value(self) -> bool:
        """A number, or what is printed in its stead."""
        bare = self.text.casefold()
        # Two points stand for a value, one is a leader's.
        return self.is_number or (bare != "." and bare.strip(".*") in _NO_VALUE)


def is_number(text: str) -> bool:
    """Figures, amounts, percentages; not words."""
    return any(c.isdigit() for c in text) and _NUMBER.fullmatch(text) is not None


_NO_VALUE = frozenset(["-", "–", "—", "n/a", "na", "n.a", "nil", "none", "", ":", "..", "…", "x"])


class TextLine(_Words):
    """All words on one level."""

    __slots__ = ()

    @property
    def middle(self) -> float:
        return statistics.median((w.top + w.bottom) / 2 for w in self.words)

    def phrases(self, gap: float, cuts: list[float] | None = None) -> list[Phrase]:
        """Words parted where more than `gap` pixels or an upright rule lies between them."""
        parts: list[list[EngineWord]] = [[self.words[0]]]
        for word in self.words[1:]:
            last = parts[-1][-1]
            ruled = any(last.right - 2 <= x <= word.left + 2 for x in cuts or ())
            if word.left - last.right > gap or ruled:
                parts.append([word])
            else:
                parts[-1].append(word)
        return [Phrase(tuple(part)) for part in parts]


def text_lines(words: list[EngineWord]) -> list[TextLine]:
    """Words grouped by level, top to bottom."""
    rows: list[list[EngineWord]] = []
    # High words first: dashes and points then find the line that they stand in.
    for word in sorted(words, key=lambda w: w.top - w.bottom):
        middle = (word.top + word.bottom) / 2
        best, least = None, 0.5
        for row in rows:
            # The first is the highest: what is not level with it is not in its line.
            if not row[0].top - 2 <= middle <= row[0].bottom + 2:
                continue
            top = statistics.median(w.top for w in row)
            bottom = statistics.median(w.bottom for w in row)
            apart = abs(middle - (top + bottom) / 2) / (bottom - top)
            if apart < least and not any(_over(word, w) for w in row):
                best, least = row, apart
        if best is None:
            rows.append([word])
        else:
            best.append(word)
    lines = [TextLine(tuple(sorted(row, key=lambda w: w.left))) for row in rows]
    return sorted(lines, key=lambda t: t.middle)


def _over(a: EngineWord, b: EngineWord) -> bool:
    """Whether two words stand one over the other."""
    shared = min(a.right, b.right) - max(a.left, b.left)
    return shared > 0.4 * min(a.right - a.left, b.right - b.left)


def character_width(words: list[EngineWord]) -> float:
    """Median width of a character, in pixels."""
    return statistics.median((w.right - w.left) / len(w.text) for w in words)


def tight_gap(character: float) -> float:
    """The widest space between two words of one phrase, in pixels."""
    return 1.05 * character + 1


def heading_gap(character: float) -> float:
    """The same for headings, whose type is wider."""
    return 1.6 * character
