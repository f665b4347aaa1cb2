"""A second reading of tables: what an engine misses or garbles between rules."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.missed import Box, missed_boxes, read_patches
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.tables.grid import Area, Grid
from visualproof_server.reading.tables.rules import Rules
from visualproof_server.reading.tables.text import Phrase

# Mean confidence from which a second reading counts, and under which a first one is read again.
TRUST, DOUBT = 0.7, 0.6
ON_END_TRUST = 0.85
# A word that is less sure than this, and not read again, is no print.
NOISE = 0.5
MAX_CROPS = 400
# Space around a crop, and ink from which a cell is not empty, in text heights.
MARGIN, LEAST_INK = 0.25, 0.1


@dataclass(frozen=True, slots=True)
class Again:
    """Reads parts of a cleaned page once more, as single lines."""

    image: Grey
    height: float
    engine: OcrEngine
    languages: tuple[str, ...]

    def words(
        self, words: list[EngineWord], areas: Sequence[Area], rules: Rules
    ) -> list[EngineWord]:
        """Words with what was missed in ruled areas: single figures, two rows read as one."""
        wrong = [w for w in words if any(a.holds(w) for a in areas) and self._is_misread(w, rules)]
        dropped = {id(w) for w in wrong}
        words = [w for w in words if id(w) not in dropped]
        pad = max(2.0, 0.12 * self.height)
        drawn: list[Box] = [(r.start, r.at - pad, r.end, r.at + pad) for r in rules.level]
        drawn += [(r.at - pad, r.start, r.at + pad, r.end) for r in rules.upright]
        boxes = [
            box
            for box in missed_boxes(self.image, words, 0.2, drawn)
            if any(a.holds_box(box) for a in areas)
            and not any(self._is_rest_of(box, w) for w in words)
        ][:MAX_CROPS]
        boxes = self._without_piles(boxes)
        words += [w for found in self._read(boxes) for w in found]
        # What could not be read better is kept: nothing printed is lost.
        return words + [w for w in wrong if _is_print(w) and not any(_on(n, w) for n in words)]

    def fill(self, grids: Sequence[Grid], words: list[EngineWord]) -> None:
        """Reads cells that have ink, but no words: dashes, single marks, print on end."""
        empty = [
            (cell, box)
            for grid in grids
            for cell in grid.cells
            if not cell.phrases
            and (box := self._ink(grid.area_of(cell))) is not None
            and not any(_touches(box, w) for w in words)
        ][:MAX_CROPS]
        level = [(cell, box) for cell, box in empty if box[3] - box[1] <= 2 * self.height]
        found = self._read([box for _, box in level], marks=True)
        for (cell, _), read in zip(level, found, strict=True):
            if read and not all(set(w.text) <= set("_|") for w in read):
                cell.phrases.append(Phrase(tuple(read)))
        for cell, box in empty:
            if box[3] - box[1] > max(2 * self.height, 1.5 * (box[2] - box[0])):
                cell.phrases += self._on_end(box)

    def _on_end(self, box: Box) -> list[Phrase]:
        """One phrase of print that stands on end, whichever way; none if neither reads well."""
        left, top, right, bottom = (int(v) for v in box)
        pad = round(MARGIN * self.height)
        crop = self.image[max(0, top - pad) : bottom + pad, max(0, left - pad) : right + pad]
        ways = [np.ascontiguousarray(np.rot90(crop, turn)) for turn in (1, 3)]
        readings = self.engine.read_lines(ways, self.languages)
        best = max(readings, key=lambda r: sum(w.confidence for w in r) / max(1, len(r)))
        if not best or statistics.mean(w.confidence for w in best) < ON_END_TRUST:
            return []
        # Its words lie over each other; as one, their box is right and their order kept.
        text = " ".join(w.text for w in best)
        confidence = min(w.confidence for w in best)
        trust = max(w.trust for w in best)
        word = replace(
            best[0], text=text, confidence=confidence, trust=trust, left=box[0], top=box[1]
        )
        return [Phrase((replace(word, right=box[2], bottom=box[3]),))]

    def _read(self, boxes: list[Box], marks: bool = False) -> list[list[EngineWord]]:
        """The words of each box, none where nothing sure is read; marks: also without letters."""
        margin = MARGIN * self.height
        latin = not any(code.startswith(("chi", "jpn")) for code in self.languages)
        read = read_patches(
            self.image, boxes, self.engine, self.languages, lambda _: (margin, margin)
        )
        out: list[list[EngineWord]] = []
        for number, (box, found) in enumerate(zip(boxes, read, strict=True)):
            sure = bool(found) and statistics.mean(w.confidence for w in found) >= TRUST
            if not sure or not (marks or any(c.isalnum() for w in found for c in w.text)):
                out.append([])
                continue
            line = -MAX_CROPS * (2 if marks else 1) - number
            alone = len(found) == 1
            out.append(
                [
                    replace(
                        word,
                        # The recogniser has a Chinese numeral for a lone dash.
                        text=word.text.replace("一", "—") if latin else word.text,
                        left=box[0] if alone else max(box[0], word.left),
                        right=box[2] if alone else min(box[2], word.right),
                        block=line,
                        line=line,
                    )
                    for word in found
                ]
            )
        return out

    def _ink(self, area: Area) -> Box | None:
        """Around the ink inside a cell, clear of its sides; None if there is none to speak of."""
        inset = max(2.0, 0.15 * self.height)
        left, top = int(area.left + inset), int(area.top + inset)
        crop = self.image[top : int(area.bottom - inset), left : int(area.right - inset)]
        if min(crop.shape) < 3:
            return None
        ground = int(np.median(crop))
        ink = (crop < ground - 60).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
        least = max(2.0, LEAST_INK * self.height)
        high, wide = crop.shape
        marks = [
            (x, y, w, h)
            for x, y, w, h, _ in stats[1:].tolist()
            # What reaches a side comes from outside: a rule, the next row.
            if x > 0 and y > 0 and x + w < wide and y + h < high
            if max(w, h) >= least
        ]
        if not marks:
            return None
        x0, y0 = min(s[0] for s in marks), min(s[1] for s in marks)
        x1, y1 = max(s[0] + s[2] for s in marks), max(s[1] + s[3] for s in marks)
        return float(left + x0), float(top + y0), float(left + x1), float(top + y1)

    def _without_piles(self, boxes: list[Box]) -> list[Box]:
        """Boxes without letters that lie close over each other: print on end, for `fill`."""

        def follows(a: Box, b: Box) -> bool:
            level = abs(a[0] + a[2] - b[0] - b[2]) < 0.8 * self.height
            return level and 0 <= b[1] - a[3] < 0.4 * self.height

        over = [sum(follows(other, box) for other in boxes) for box in boxes]
        under = [sum(follows(box, other) for other in boxes) for box in boxes]
        piled = {n for n in range(len(boxes)) if over[n] and under[n]}
        ends = {
            n
            for n in range(len(boxes))
            for m in piled
            if follows(boxes[n], boxes[m]) or follows(boxes[m], boxes[n])
        }
        return [box for n, box in enumerate(boxes) if n not in piled | ends]

    def _is_rest_of(self, box: Box, word: EngineWord) -> bool:
        """Whether ink is the end of a word whose box is too short."""
        apart = max(box[0] - word.right, word.left - box[2])
        level = min(box[3], word.bottom) - max(box[1], word.top)
        return apart < 0.25 * self.height and level > 0.5 * (box[3] - box[1])

    def _is_misread(self, word: EngineWord, rules: Rules) -> bool:
        """Doubtful, a rule read as a letter, or words of two cells read as one."""
        if word.confidence < DOUBT:
            return True
        high, wide, height = word.bottom - word.top, word.right - word.left, self.height
        for rule in rules.upright:
            along = rule.covers(word.top, word.bottom)
            if set(word.text) <= set("|[]{}()\\/lI1!") and wide < 0.8 * height:
                if along > 0.7 and word.left - 3 <= rule.at <= word.right + 3:
                    return True
            if along > 0.8 and word.left + 0.6 * height < rule.at < word.right - 0.6 * height:
                return True
        return any(
            word.top + 0.3 * high < r.at < word.bottom - 0.3 * high
            and r.covers(word.left, word.right) > 0.6
            for r in rules.level
        )


def _is_print(word: EngineWord) -> bool:
    return word.confidence >= NOISE and any(c.isalnum() for c in word.text)


def _on(new: EngineWord, old: EngineWord) -> bool:
    x = (new.left + new.right) / 2
    y = (new.top + new.bottom) / 2
    return old.left <= x <= old.right and old.top <= y <= old.bottom


def _touches(box: Box, word: EngineWord) -> bool:
    """Whether ink lies in the middle half of a word; boxes of two rows are too high."""
    quarter = (word.bottom - word.top) / 4
    middle = (box[1] + box[3]) / 2
    return (
        box[0] < word.right
        and word.left < box[2]
        and word.top + quarter < middle < word.bottom - quarter
    )
