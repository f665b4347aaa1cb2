"""Two engines as one: the first reads all, the second what the first doubts or missed.

The second's accuracy at little more than the first's price: only doubtful lines are recognised
again. Where both say the same the word is sure; where they differ, the calibrated confidence
decides. The figures are in docs/design.md.
"""

from dataclasses import replace

from visualproof_server.model.document import Trust
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.missed import Box, missed_boxes, read_missed, read_patches
from visualproof_server.reading.raster import Grey

# A line is read again if a word of it is less sure than this; see bench/confidence.py.
DOUBT = 0.9
# A page that the first engine reads with less mean confidence is left to the second.
HOPELESS = 0.6
# Below this, a line of the second engine is no better than the first's.
TRUST = 0.5
# What two readings that agree are worth.
AGREED = 0.99
# Words less sure than this, in a line that the second engine could not read, are dropped.
NOISE = 0.3
MAX_LINES = 400


class Auto:
    """`auto`: first reads the page, second the doubtful lines."""

    name = "auto"

    def __init__(self, first: OcrEngine, second: OcrEngine) -> None:
        self._first = first
        self._second = second

    @property
    def version(self) -> str:
        return f"2 ({self._first.name} {self._first.version}, {self._second.name} {self._second.version})"

    def languages(self) -> tuple[str, ...]:
        return self._first.languages()

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        words = [
            replace(w, engine=self._first.name) for w in self._first.read(image, languages, dpi)
        ]
        if not set(languages) <= set(self._second.languages()):
            return words
        if _mean(words) < HOPELESS:
            by_text: dict[str, list[EngineWord]] = {}
            for word in words:
                by_text.setdefault(word.text, []).append(word)
            read = self._second.read(image, languages, dpi)
            return [
                replace(w, engine=self._second.name, trust=Trust.AGREED if twin else w.trust)
                for w in read
                for twin in [_twin(w, by_text.get(w.text, []))]
            ]
        lines: dict[int, list[EngineWord]] = {}
        for word in words:
            lines.setdefault(word.line, []).append(word)
        doubtful = [line for line in lines.values() if min(w.confidence for w in line) < DOUBT]
        boxes = [_around(line) for line in doubtful[:MAX_LINES]]
        again = read_patches(image, boxes, self._second, languages)
        for line, second in zip(doubtful, again, strict=False):
            lines[line[0].line] = self._merged(line, second)
        known = [w for line in lines.values() for w in line]
        missed = missed_boxes(image, known)[:MAX_LINES]
        return known + read_missed(image, missed, 2, self._second, languages)

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        return [
            [replace(w, engine=self._second.name) for w in words]
            for words in self._second.read_lines(images, languages)
        ]

    def _merged(self, first: list[EngineWord], second: list[EngineWord]) -> list[EngineWord]:
        """One line out of two readings of it."""
        if not second or _mean(second) < max(TRUST, _mean(first) - 0.2):
            # What one engine reads without confidence and the other not at all is no print.
            return [w for w in first if w.confidence >= NOISE]
        out = []
        for word in second:
            placed = replace(
                word, block=first[0].block, line=first[0].line, engine=self._second.name
            )
            twin = _twin(placed, first)
            if twin is not None:
                sure = max(AGREED, twin.confidence)
                placed = replace(twin, confidence=sure, trust=Trust.AGREED)
            out.append(placed)
        return out


def _around(line: list[EngineWord]) -> Box:
    return (
        min(w.left for w in line),
        min(w.top for w in line),
        max(w.right for w in line),
        max(w.bottom for w in line),
    )


def _mean(words: list[EngineWord]) -> float:
    return sum(w.confidence for w in words) / len(words) if words else 0.0


def _twin(word: EngineWord, others: list[EngineWord]) -> EngineWord | None:
    """The other reading of the same word at the same place, if it says the same."""
    for other in others:
        shared = min(word.right, other.right) - max(word.left, other.left)
        level = min(word.bottom, other.bottom) - max(word.top, other.top)
        if (
            other.text == word.text
            and shared > 0.4 * (other.right - other.left)
            and level > 0.4 * (other.bottom - other.top)
        ):
            return other
    return None
