"""Two engines as one: the first reads all, the second what the first doubts or missed.

A page of which the first doubts more than a few lines is read whole by the second, elsewhere only the
doubtful lines are. Where both say the same the word is sure; where they differ, the second is
followed, and doubted where the first was sure. The figures are in docs/design.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from visualproof_server.model.document import Trust
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.missed import Box, missed_boxes, read_missed, read_patches
from visualproof_server.reading.raster import Grey

# A line is read again if a word of it is less sure than this; see bench/confidence.py.
DOUBT = 0.9
# With more than this share of doubtful lines the page is read whole by the second engine.
MOSTLY_SURE = 0.1
# Below this, a line of the second engine is no better than the first's.
TRUST = 0.5
# What two readings that agree are worth.
AGREED = 0.99
# Words less sure than this, in a line that the second engine could not read, are dropped.
NOISE = 0.3
MAX_LINES = 400
# Height in pixels of the bands in which words of one line are looked for.
_BAND = 64


class Auto:
    """`auto`: first reads the page, second what it doubts."""

    name = "auto"

    def __init__(self, first: OcrEngine, second: OcrEngine) -> None:
        self._first = first
        self._second = second

    @property
    def version(self) -> str:
        return f"3 ({self._first.name} {self._first.version}, {self._second.name} {self._second.version})"

    @property
    def scout(self) -> OcrEngine:
        return self._first

    def languages(self) -> tuple[str, ...]:
        return self._first.languages()

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        words = [
            replace(w, engine=self._first.name) for w in self._first.read(image, languages, dpi)
        ]
        if not set(languages) <= set(self._second.languages()):
            return words
        lines = _by_line(words)
        doubtful = [line for line in lines.values() if min(w.confidence for w in line) < DOUBT]
        if len(doubtful) > MOSTLY_SURE * len(lines) or not lines:
            read = [
                replace(w, engine=self._second.name)
                for w in self._second.read(image, languages, dpi)
            ]
            known = merged(read, words)
        else:
            boxes = [_around(line) for line in doubtful[:MAX_LINES]]
            again = read_patches(image, boxes, self._second, languages)
            for line, second in zip(doubtful, again, strict=False):
                lines[line[0].line] = self._line(line, second)
            known = [w for line in lines.values() for w in line]
        missed = missed_boxes(image, known)[:MAX_LINES]
        return known + read_missed(image, missed, 2, self._second, languages)

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        return [
            [replace(w, engine=self._second.name) for w in words]
            for words in self._second.read_lines(images, languages)
        ]

    def _line(self, first: list[EngineWord], second: list[EngineWord]) -> list[EngineWord]:
        """One line out of two readings of it."""
        if not second or _mean(second) < max(TRUST, _mean(first) - 0.2):
            # What one engine reads without confidence and the other not at all is no print.
            return [w for w in first if w.confidence >= NOISE]
        own = first[0]
        placed = [
            replace(w, block=own.block, line=own.line, engine=self._second.name) for w in second
        ]
        return merged(placed, first)


def merged(read: Sequence[EngineWord], other: Sequence[EngineWord]) -> list[EngineWord]:
    """The words of one reading of a page, agreed or doubted by another reading of it.

    Words that both say have the other's boxes and spaces. In pixels of the same image.
    """
    bands: dict[int, list[EngineWord]] = defaultdict(list)
    for word in other:
        bands[int((word.top + word.bottom) / 2) // _BAND].append(word)
    out: list[EngineWord] = []
    for line in _by_line(read).values():
        mates = _level_with(line, bands)
        if _text(line) == _text(mates):
            out += _agreed(mates, line[0])
            continue
        for ours, theirs in _side_by_side(line, mates):
            if ours and _text(ours) == _text(theirs):
                out += _agreed(theirs, line[0])
            else:
                out += [_doubted_by(w, theirs) for w in ours]
    return out


def _agreed(words: Iterable[EngineWord], line: EngineWord) -> list[EngineWord]:
    return [
        replace(
            w,
            block=line.block,
            line=line.line,
            confidence=max(AGREED, w.confidence),
            trust=Trust.AGREED,
        )
        for w in words
    ]


def _doubted_by(word: EngineWord, others: Iterable[EngineWord]) -> EngineWord:
    """A word that the other reading, which is sure of its own, reads in another way."""
    sure = any(o.trust <= Trust.SURE for o in others)
    return replace(word, trust=max(word.trust, Trust.DOUBTFUL)) if sure else word


def _level_with(line: Sequence[EngineWord], bands: dict[int, list[EngineWord]]) -> list[EngineWord]:
    """Words of another reading that stand level with a line and within it, from the left."""
    left, top, right, bottom = _around(line)
    found = [
        word
        for band in range(int(top) // _BAND, int(bottom) // _BAND + 1)
        for word in bands.get(band, ())
        if top < (word.top + word.bottom) / 2 < bottom
        and left < (word.left + word.right) / 2 < right
    ]
    return sorted(found, key=lambda w: w.left)


def _side_by_side(
    ours: Sequence[EngineWord], theirs: Sequence[EngineWord]
) -> list[tuple[list[EngineWord], list[EngineWord]]]:
    """Words of two readings of one line, in groups that stand at the same places."""
    tagged = sorted(
        [(w.left, True, w) for w in ours] + [(w.left, False, w) for w in theirs],
        key=lambda each: each[0],
    )
    groups: list[tuple[list[EngineWord], list[EngineWord]]] = []
    reach = 0.0
    for left, own, word in tagged:
        # Boxes of single words are loose: neighbours may touch.
        if not groups or left > reach - 0.3 * (word.bottom - word.top):
            groups.append(([], []))
            reach = word.right
        groups[-1][0 if own else 1].append(word)
        reach = max(reach, word.right)
    return groups


def _by_line(words: Iterable[EngineWord]) -> dict[int, list[EngineWord]]:
    lines: dict[int, list[EngineWord]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    return lines


def _text(words: Iterable[EngineWord]) -> str:
    return "".join(w.text for w in words)


def _around(line: Sequence[EngineWord]) -> Box:
    return (
        min(w.left for w in line),
        min(w.top for w in line),
        max(w.right for w in line),
        max(w.bottom for w in line),
    )


def _mean(words: list[EngineWord]) -> float:
    return sum(w.confidence for w in words) / len(words) if words else 0.0
