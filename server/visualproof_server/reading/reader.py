"""The steps of reading, in order, for one page."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from pypdfium2 import PDFIUM_INFO

from visualproof_server.model.document import (
    Line,
    MediaType,
    Page,
    ReadOptions,
    Source,
    Table,
    TextLayer,
    Warning,
    Word,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, clipped, clipped_quad
from visualproof_server.reading.cleanup import Cleaned, clean, unchanged
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
from visualproof_server.reading.tables.find import find_tables, to_table
from visualproof_server.reading.tables.grid import Grid
from visualproof_server.reading.textlayer import (
    MAX_HIDDEN,
    LayerWord,
    hidden,
    hidden_warning,
    layer_words,
    mismatch_warning,
)
from visualproof_server.reading.turn import turn_needed, turned, turned_plan
from visualproof_server.reading.visible import NAME, VisibleText, read_rest, visible_text

LAYOUT_VERSION = "8"
IMAGE_QUALITY = 92
# Grey levels within a word's box under which nobody sees it.
MIN_CONTRAST = 10
# How much surer a sample must read as it is for its light to be left alone.
CLEARLY = 1.05
# Mean word confidence under which the page may stand the wrong way up.
POOR_CONFIDENCE = 0.7


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page and its image: JPEG, grey, of the page's own size."""

    page: Page
    image: bytes


def reader_version(engines: Mapping[str, OcrEngine]) -> str:
    """Names everything that influences what is read; a part of each document's id."""
    parts = [
        f"visualproof-reader/{LAYOUT_VERSION}",
        f"opencv/{cv2.__version__}",
        f"pdfium/{PDFIUM_INFO}",
    ]
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
    if file_type(path) is not MediaType.PDF:
        with open_image(path) as opened:
            plan = plan_image(opened, number, limits)
            image = raster_image(opened, plan)
        return _read_pixels(image, plan, None, [], options, engine)
    with open_pdf(path, options.password) as pdf:
        plan = plan_pdf_page(pdf, number, options.dpi, limits)
    if options.text_layer is TextLayer.VISIBLE:
        seen = visible_text(path, plan, options.password)
        if seen.words:
            return _read_layer(seen, plan, options, engine)
    image = raster_pdf(path, plan, options.password)
    layer = layer_words(path, plan, options.password)
    return _read_pixels(image, plan, round(plan.dpi), layer, options, engine)


def _read_layer(
    seen: VisibleText, plan: PagePlan, options: ReadOptions, engine: OcrEngine
) -> ReadPage:
    """A page by its proven text; only what is printed beside that is read from pixels."""
    rest = read_rest(seen, options.languages, round(plan.dpi), engine)
    words = [*seen.words, *_print(rest, seen.image)]
    unseen = hidden(seen.layer, seen.image, [w.text for w in words])
    # The rest was read already, so tables are not read a second time.
    page = _laid_out(unchanged(seen.image), words, plan, options, engine.name, None)
    return ReadPage(_with_hidden(page, unseen), encode(seen.image))


def _read_pixels(
    image: Grey,
    plan: PagePlan,
    dpi: int | None,
    layer: list[LayerWord],
    options: ReadOptions,
    engine: OcrEngine,
) -> ReadPage:
    """A page by OCR, turned if its print stands the wrong way up, beside its text layer."""
    cleaned, words = _words(image, options.languages, dpi, engine)
    read = [w.text for w in words]
    unseen = hidden(layer, image, read)
    differs = mismatch_warning(layer, unseen, read, plan.number)
    if (_is_poor(words) or _is_tall(words)) and (turn := turn_needed(image)):
        upright = turned(image, turn)
        level, again = _words(upright, options.languages, dpi, engine)
        if _sureness(again) > _sureness(words) or (_is_tall(words) and not _is_tall(again)):
            image, cleaned, words, plan = upright, level, again, turned_plan(plan, turn)
    page = _with_hidden(_laid_out(cleaned, words, plan, options, engine.name, engine), unseen)
    return ReadPage(replace(page, warnings=page.warnings + differs), encode(image))


def _with_hidden(page: Page, unseen: list[LayerWord]) -> Page:
    return replace(
        page,
        hidden=" ".join(w.text for w in unseen)[:MAX_HIDDEN],
        warnings=page.warnings + hidden_warning(unseen, page.number),
    )


def _sureness(words: list[EngineWord]) -> float:
    """Sum of confidence over letters and digits: more and surer text is more."""
    return sum(w.confidence * sum(c.isalnum() for c in w.text) for w in words)


def _is_poor(words: list[EngineWord]) -> bool:
    """Whether a page reads as print that stands the wrong way up does."""
    return not words or sum(w.confidence for w in words) / len(words) < POOR_CONFIDENCE


def _is_tall(words: list[EngineWord]) -> bool:
    """Whether words stand on end: some engines read print that is turned by a quarter."""
    long = [w for w in words if len(w.text) >= 4]
    return sum(w.bottom - w.top > w.right - w.left for w in long) > 0.5 * len(long)


def _is_visible(word: EngineWord, image: Grey) -> bool:
    """Engines read grey 254 on 255 perfectly; a person does not."""
    crop = image[int(word.top) : int(word.bottom) + 1, int(word.left) : int(word.right) + 1]
    return crop.size > 0 and int(crop.max()) - int(crop.min()) >= MIN_CONTRAST


def _words(
    image: Grey, languages: tuple[str, ...], dpi: int | None, engine: OcrEngine
) -> tuple[Cleaned, list[EngineWord]]:
    """Cleans and reads one image."""
    if int(image.max()) - int(image.min()) < MIN_CONTRAST:
        return unchanged(image), []
    cleaned = clean(image)
    if cleaned.flattened:
        # Evened light helps most photos and harms stained paper: a sample of both decides.
        as_is = clean(image, flatten=False)
        even, uneven = (
            _sureness(engine.read(_sample(c.image), languages, dpi)) for c in (cleaned, as_is)
        )
        cleaned = as_is if uneven > CLEARLY * even else cleaned
    return cleaned, _print(engine.read(cleaned.image, languages, dpi), cleaned.image)


def _sample(image: Grey) -> Grey:
    """The middle of a page, over its whole width."""
    height = image.shape[0]
    return np.ascontiguousarray(image[round(0.3 * height) : round(0.7 * height)])


def _print(words: list[EngineWord], image: Grey) -> list[EngineWord]:
    """Words that are some, and that a person sees."""
    height, width = image.shape
    return [w for w in drop_noise(words, width, height) if _is_visible(w, image)]


def _laid_out(
    cleaned: Cleaned,
    words: list[EngineWord],
    plan: PagePlan,
    options: ReadOptions,
    name: str,
    second: OcrEngine | None,
) -> Page:
    """Words as lines and tables in reading order; no word stands in both.

    name is that of the engine; second reads doubtful cells once more.
    """
    layer = sum(w.engine == NAME for w in words)
    source = Source.TEXT_LAYER if 2 * layer > len(words) else Source.OCR
    grids: list[Grid] = []
    if not options.tables_disabled:
        grids, words = find_tables(cleaned.image, words, second, options.languages)
    areas = [Box(*(round(v) for v in astuple(grid.area))) for grid in grids]
    lines, order = to_lines(words, cleaned, name, areas)
    tables = tuple(to_table(grids[i], after, cleaned, name) for i, after in order)
    return _page(plan, source, lines, tables)


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


def _page(
    plan: PagePlan, source: Source, lines: tuple[Line, ...], tables: tuple[Table, ...]
) -> Page:
    warnings = []
    if plan.lowered:
        text = f"Page {plan.number} is read at {plan.dpi:.0f} dpi to stay within the limits."
        warnings.append(Warning("DPI_LOWERED", text, plan.number))
    if any(t.doubtful for t in tables):
        text = f"Rows or columns of a table on page {plan.number} are doubtful; see to its cells."
        warnings.append(Warning("TABLE_DOUBTFUL", text, plan.number))
    return Page(
        plan.number,
        plan.label,
        plan.width,
        plan.height,
        plan.width_pt,
        plan.height_pt,
        plan.rotation,
        plan.dpi,
        source,
        tuple(Line(_clipped(line.words, plan), line.block) for line in lines),
        tuple(_clipped_table(table, plan) for table in tables),
        plan.pdf_transform,
        tuple(warnings),
    )


def _clipped_table(table: Table, plan: PagePlan) -> Table:
    size = plan.width, plan.height
    cells = tuple(
        replace(
            cell,
            box=clipped(cell.box, *size),
            quad=clipped_quad(cell.quad, *size) if cell.quad else None,
            words=_clipped(cell.words, plan),
        )
        for cell in table.cells
    )
    quad = clipped_quad(table.quad, *size) if table.quad else None
    return replace(table, box=clipped(table.box, *size), quad=quad, cells=cells)


def _clipped(words: tuple[Word, ...], plan: PagePlan) -> tuple[Word, ...]:
    """Boxes within the page: deskewing may carry a word over the edge."""
    size = plan.width, plan.height
    return tuple(
        word
        if clipped(word.box, *size) == word.box
        else replace(word, box=clipped(word.box, *size), quad=clipped_quad(word.quad, *size))
        for word in words
    )
