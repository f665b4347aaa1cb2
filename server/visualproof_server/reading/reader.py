"""The steps of reading, in order, for one page."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from visualproof_server.model.document import (
    Line,
    MediaType,
    Page,
    ReadOptions,
    Source,
    Warning,
    Word,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box
from visualproof_server.reading.cleanup import clean
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.layout import drop_noise, to_lines
from visualproof_server.reading.raster import Grey, raster_image, raster_pdf
from visualproof_server.reading.source import (
    PageLimits,
    PagePlan,
    count_pages,
    media_type,
    open_image,
    open_pdf,
    plan_image,
    plan_pdf_page,
)
from visualproof_server.reading.textlayer import (
    MAX_HIDDEN,
    hidden,
    hidden_warning,
    layer_words,
)
from visualproof_server.reading.turn import turn_needed, turned, turned_plan

LAYOUT_VERSION = "7"
IMAGE_QUALITY = 92
# Grey levels within a word's box under which nobody sees it.
MIN_CONTRAST = 10
# Mean word confidence under which the page may stand the wrong way up.
POOR_CONFIDENCE = 0.7


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page and its image: JPEG, grey, of the page's own size."""

    page: Page
    image: bytes


def reader_version(engines: Mapping[str, OcrEngine]) -> str:
    """Names everything that influences what is read; a part of each document's id."""
    parts = [f"visualproof-reader/{LAYOUT_VERSION}", f"opencv/{cv2.__version__}"]
    parts += [f"{engine.name}/{engine.version}" for engine in engines.values()]
    return " ".join(parts)


def file_type(path: Path) -> MediaType:
    """The type of a file on disk; errors EMPTY_FILE, UNSUPPORTED_TYPE."""
    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise VisualProofError("EMPTY_FILE", "The file is empty; send one with content.")
    media = media_type(head)
    if media is None:
        raise VisualProofError(
            "UNSUPPORTED_TYPE",
            "The bytes are no PDF, PNG, JPEG, WebP, TIFF or GIF, whatever the name says.",
        )
    return media


def pages_of(path: Path, password: str) -> int:
    """Pages in a file; errors as file_type's and source.count_pages'."""
    return count_pages(path, file_type(path), password)


def read_page(
    path: Path, number: int, options: ReadOptions, limits: PageLimits, engine: OcrEngine
) -> ReadPage:
    """Reads one page, 1-based; errors are those of source and raster, and the engine's."""
    media = file_type(path)
    if media is MediaType.PDF:
        with open_pdf(path, options.password) as pdf:
            plan = plan_pdf_page(pdf, number, options.dpi, limits)
        image = raster_pdf(path, plan, options.password)
        stated: int | None = round(plan.dpi)
        layer = layer_words(path, plan, options.password)
    else:
        with open_image(path) as opened:
            plan = plan_image(opened, number, limits)
            image = raster_image(opened, plan)
        stated, layer = None, []
    lines = read_lines(image, options.languages, stated, engine)
    unseen = hidden(layer, image, [w.text for li in lines for w in li.words])
    if (_is_poor(lines) or _is_tall(lines)) and (turn := turn_needed(image)):
        upright = turned(image, turn)
        again = read_lines(upright, options.languages, stated, engine)
        if _sureness(again) > _sureness(lines) or (_is_tall(lines) and not _is_tall(again)):
            image, lines, plan = upright, again, turned_plan(plan, turn)
    page = replace(_page(plan, lines), hidden=" ".join(w.text for w in unseen)[:MAX_HIDDEN])
    page = replace(page, warnings=page.warnings + hidden_warning(unseen, number))
    return ReadPage(page, encode(image))


def _sureness(lines: tuple[Line, ...]) -> float:
    """Sum of confidence over letters and digits: more and surer text is more."""
    return sum(
        (w.confidence or 0.0) * sum(c.isalnum() for c in w.text) for li in lines for w in li.words
    )


def _is_poor(lines: tuple[Line, ...]) -> bool:
    """Whether a page reads as print that stands the wrong way up does."""
    known = [w.confidence or 0.0 for li in lines for w in li.words]
    return not known or sum(known) / len(known) < POOR_CONFIDENCE


def _is_visible(word: EngineWord, image: Grey) -> bool:
    """Engines read grey 254 on 255 perfectly; a person does not."""
    crop = image[int(word.top) : int(word.bottom) + 1, int(word.left) : int(word.right) + 1]
    return crop.size > 0 and int(crop.max()) - int(crop.min()) >= MIN_CONTRAST


def _is_tall(lines: tuple[Line, ...]) -> bool:
    """Whether words stand on end: some engines read print that is turned by a quarter."""
    long = [w.box for li in lines for w in li.words if len(w.text) >= 4]
    return sum(b.height > b.width for b in long) > 0.5 * len(long)


def read_lines(
    image: Grey, languages: tuple[str, ...], dpi: int | None, engine: OcrEngine
) -> tuple[Line, ...]:
    """Cleans, reads and lays out one image."""
    if int(image.max()) - int(image.min()) < MIN_CONTRAST:
        return ()
    cleaned = clean(image)
    height, width = cleaned.image.shape
    words = drop_noise(engine.read(cleaned.image, languages, dpi), width, height)
    words = [w for w in words if _is_visible(w, cleaned.image)]
    return to_lines(words, cleaned, engine.name)


def reread(
    image: Grey, box: Box, languages: tuple[str, ...], engine: OcrEngine
) -> list[tuple[str, float]]:
    """A second look: words in a box with their confidence, read anew from the pixels.

    The crop is enlarged and read as one line, without knowing what is expected there.
    """
    pad = max(4, round(box.height * 0.35))
    top, bottom = max(0, box.top - pad), min(image.shape[0], box.bottom + pad)
    left, right = max(0, box.left - pad), min(image.shape[1], box.right + pad)
    crop = image[top:bottom, left:right]
    if crop.size == 0:
        return []
    scale = min(4.0, max(1.0, 48.0 / max(1, box.height)))
    crop = cv2.resize(crop, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    crop = cv2.copyMakeBorder(crop, 12, 12, 12, 12, cv2.BORDER_REPLICATE)
    (words,) = engine.read_lines([np.ascontiguousarray(crop)], languages)
    return [(w.text, w.confidence) for w in words]


def encode(image: Grey) -> bytes:
    """The page as stored."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, IMAGE_QUALITY])
    if not done:
        raise VisualProofError("RASTER_FAILED", "A page's image could not be stored.")
    return data.tobytes()


def decode(image: bytes) -> Grey:
    """A page as it was stored by `encode`."""
    return np.asarray(cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)


def _page(plan: PagePlan, lines: tuple[Line, ...]) -> Page:
    warnings: tuple[Warning, ...] = ()
    if plan.lowered:
        warnings = (
            Warning(
                "DPI_LOWERED",
                f"Page {plan.number} is read at {plan.dpi:.0f} dpi to stay within the limits.",
                plan.number,
            ),
        )
    return Page(
        plan.number,
        plan.label,
        plan.width,
        plan.height,
        plan.width_pt,
        plan.height_pt,
        plan.rotation,
        plan.dpi,
        Source.OCR,
        tuple(_clipped(line, plan) for line in lines),
        (),
        plan.pdf_transform,
        warnings,
    )


def _clipped(line: Line, plan: PagePlan) -> Line:
    """Boxes within the page: deskewing may carry a word over the edge."""

    def x(value: int) -> int:
        return min(max(value, 0), plan.width)

    def y(value: int) -> int:
        return min(max(value, 0), plan.height)

    words = []
    for word in line.words:
        b = word.box
        if b.left >= 0 and b.top >= 0 and b.right <= plan.width and b.bottom <= plan.height:
            words.append(word)
            continue
        a, b2, c, d = word.quad
        words.append(
            Word(
                word.text,
                Box(x(b.left), y(b.top), x(b.right), y(b.bottom)),
                ((x(a[0]), y(a[1])), (x(b2[0]), y(b2[1])), (x(c[0]), y(c[1])), (x(d[0]), y(d[1]))),
                word.confidence,
                word.engine,
            )
        )
    return Line(tuple(words), line.block)
