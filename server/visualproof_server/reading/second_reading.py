"""Single words read a second time from the page's pixels, knowing nothing of what is claimed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import cv2
import numpy as np

from visualproof_server.model.geometry import Box
from visualproof_server.model.second_reading import Place, Reading
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.raster import Grey

MAX_ENLARGED = 4.0
# The engine that reads crops best.
BEST = "rapidocr"
# Median grey level under which a crop is light print on a dark ground.
DARK = 100


@dataclass(frozen=True, slots=True)
class WordCrop:
    """How single words are cut out for an engine: space around them in heights of the words, the
    height they get in pixels (None: as they are), and the rim of the crop in pixels."""

    above: float
    beside: float
    height: int | None = None
    rim: int = 0


# Two ways for each engine, so different that a misread word often reads otherwise; measured by
# bench/second_readings.py.
WORD_CROPS = {
    "rapidocr": (WordCrop(0.15, 0.3), WordCrop(0.15, 0.3, 40, 8)),
    "tesseract": (WordCrop(0.25, 0.5, 32, 10), WordCrop(0.15, 0.3, 40, 16)),
}

# An engine and the ways to cut words for it.
_Means = tuple[OcrEngine, tuple[WordCrop, ...]]


def second_readings(
    image: Grey,
    places: Sequence[Place],
    languages: tuple[str, ...],
    engines: Mapping[str, OcrEngine],
) -> dict[Place, tuple[Reading, ...]]:
    """What is read at places of one page; all crops for an engine in one batch."""
    out: dict[Place, tuple[Reading, ...]] = dict.fromkeys(places, ())
    by_means = sorted(out, key=_means_key)
    for (first, attempt), group in groupby(by_means, key=_means_key):
        alike = list(group)
        for engine, crops in _means(first, attempt, languages, engines):
            for place, words in _read(image, alike, languages, engine, crops):
                out[place] += (Reading(engine.name, words),)
    return out


def _means_key(place: Place) -> tuple[str, int]:
    return place.engine, place.attempt


def _means(
    first: str, attempt: int, languages: tuple[str, ...], engines: Mapping[str, OcrEngine]
) -> list[_Means]:
    """By what a word is read a second time that `first` has read, a file's reader or an engine.

    RapidOCR reads crops of words far better than Tesseract does, which at other sizes mostly
    repeats itself, right or wrong (docs/design.md). So RapidOCR reads at two sizes, also what it
    read first; Tesseract is asked after it, and confirms itself for want of another only.
    """
    able = {
        name: engine
        for name, engine in engines.items()
        if name in WORD_CROPS and set(languages) <= set(engine.languages())
    }
    best: list[_Means] = [(able[BEST], WORD_CROPS[BEST])] if BEST in able else []
    rest: list[_Means] = [(able[n], WORD_CROPS[n]) for n in able if n not in (BEST, first)]
    once = [(engine, crops[:1]) for engine, crops in rest]
    if first in able and first != BEST:
        return [(able[first], WORD_CROPS[first])] if attempt else best
    if best:
        return once if attempt else best
    return [] if attempt else once


def _read(
    image: Grey,
    places: Sequence[Place],
    languages: tuple[str, ...],
    engine: OcrEngine,
    crops: Sequence[WordCrop],
) -> list[tuple[Place, tuple[tuple[str, float], ...]]]:
    """The words at each place, once for each way to cut them."""
    cut = [(place, _crop(image, place.box, crop)) for place in places for crop in crops]
    cut = [(place, crop) for place, crop in cut if crop.size]
    images = [crop for _, crop in cut]
    if engine.name == BEST:
        # One by one, at the same cost: what it reads of a crop depends on others of its batch.
        read = [words for image in images for words in engine.read_lines([image], languages)]
    else:
        read = engine.read_lines(images, languages)
    return [
        (place, tuple((w.text, w.confidence) for w in words))
        for (place, _), words in zip(cut, read, strict=True)
    ]


def _crop(image: Grey, box: Box, crop: WordCrop) -> Grey:
    """The pixels of a box as a crop asks for them, dark on light; empty where there are none."""
    down, across = (max(2, round(box.height * share)) for share in (crop.above, crop.beside))
    top, bottom = max(0, box.top - down), min(image.shape[0], box.bottom + down)
    left, right = max(0, box.left - across), min(image.shape[1], box.right + across)
    cut = image[top:bottom, left:right]
    if min(cut.shape) < 1:
        return np.zeros((0, 0), np.uint8)
    if float(np.median(cut)) < DARK:
        cut = 255 - cut
    scale = min(MAX_ENLARGED, crop.height / max(1, box.height)) if crop.height else 1.0
    if scale != 1.0:
        way = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
        cut = cv2.resize(cut, None, fx=scale, fy=scale, interpolation=way)
    if crop.rim:
        rim = crop.rim
        cut = cv2.copyMakeBorder(cut, rim, rim, rim, rim, cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(cut)
