"""The one interface that every OCR engine stands behind."""

from dataclasses import dataclass
from typing import Protocol

from visualproof_server.model.document import Trust
from visualproof_server.reading.raster import Grey


@dataclass(frozen=True, slots=True)
class EngineWord:
    """A word in pixels of the image given to `read`; confidence 0 to 1.

    `line` groups the words of one printed line where the engine knows it (any number, the same
    for its words), `block` likewise groups lines of one column or paragraph. `engine` is set by
    engines that are made of several. `trust` is set by each engine: it knows what its confidence
    is worth.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    block: int
    line: int
    engine: str = ""
    trust: Trust = Trust.DOUBTFUL


def trust_from(confidence: float, sure_from: float) -> Trust:
    """What one engine's word is worth; sure_from is calibrated by bench/confidence.py."""
    return Trust.SURE if confidence >= sure_from else Trust.DOUBTFUL


class OcrEngine(Protocol):
    """Reads words from one image; single-threaded, without state between calls.

    What an implementer would get wrong: coordinates are those of the image as given, also when
    the engine scales it; confidences are 0 to 1; empty and white-space words are left out;
    nothing is dropped for low confidence, that is decided later.
    """

    @property
    def name(self) -> str:
        """As in ReadOptions.engine."""
        ...

    @property
    def version(self) -> str:
        """Version of engine and models; a part of the reader version."""
        ...

    @property
    def scout(self) -> "OcrEngine":
        """The engine that tries samples of a page: the cheapest of several, else itself."""
        ...

    def languages(self) -> tuple[str, ...]:
        """Installed language codes, sorted."""
        ...

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        """The words of a page. dpi is stated for pages we rasterised, None where unknown."""
        ...

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        """The words of each crop that holds one line of print, in pixels of the crop."""
        ...
