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
    TextLayer,
    Trust,
    Word,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box
from visualproof_server.reading.boxes import with_boxes
from visualproof_server.reading.cleanup import Cleaned, clean, unchanged
from visualproof_server.reading.damage import is_damaged
from visualproof_server.reading.doubts import doubted
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.imported.page import (
    content_of,
    looks_like_reading,
    page_count,
    plan_sheet,
    without_pixels,
)
from visualproof_server.reading.layout import drop_noise, to_lines
from visualproof_server.reading.pages import page_of
from visualproof_server.reading.raster import (
    Grey,
    is_doubted_by_poppler,
    raster_image,
    raster_pdf,
)
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
from visualproof_server.reading.steps import step
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

LAYOUT_VERSION = "10"
IMAGE_QUALITY = 92
# Grey levels within a word's box under which nobody sees it.
MIN_CONTRAST = 10
# How much surer a sample must read as it is for its light to be left alone.
CLEARLY = 1.05
FEW_WORDS = 40
# And how much surer a sample must read for a page to be turned, where nothing else tells.
TURNED = 1.5
# Mean word confidence under which the page may stand the wrong way up.
POOR_CONFIDENCE = 0.8


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
    if media is None and looks_like_reading(head):
        return MediaType.READING
    if media is None:
        raise VisualProofError(
            "UNSUPPORTED_TYPE",
            "The bytes are no PDF, PNG, JPEG, WebP, TIFF, GIF or another reader's output,"
            " whatever the name says.",
        )
    return media


def pages_of(path: Path, password: str) -> int:
    """Pages in a file; errors as file_type's and source.count_pages', READING_INVALID."""
    media = file_type(path)
    return page_count(path) if media is MediaType.READING else count_pages(path, media, password)


def import_page(
    path: Path, reading: Path, number: int, options: ReadOptions, limits: PageLimits
) -> ReadPage:
    """A page whose words are in another reader's output, on the document's own pixels.

    Words that nobody sees on them are left out. path may be the reading itself: then there are
    no pixels. Errors as read_page's, READING_INVALID.
    """
    media = file_type(path)
    if media is MediaType.READING:
        plan = plan_sheet(path, number, limits)
        content = content_of(path, plan)
        made = page_of(plan, Source.IMPORTED, content.lines, content.tables)
        return ReadPage(without_pixels(made), b"")
    plan, image, layer = _rastered(path, media, number, options, limits)
    content = content_of(reading, plan)
    made = _seen_only(page_of(plan, Source.IMPORTED, content.lines, content.tables), image)
    unseen = hidden(layer, image, [w.text for w in made.words])
    return ReadPage(_with_hidden(_doubted(made, image), unseen), encode(image))


def read_page(
    path: Path, number: int, options: ReadOptions, limits: PageLimits, engine: OcrEngine
) -> ReadPage:
    """Reads one page, 1-based; errors are those of source and raster, and the engine's."""
    media = file_type(path)
    if media is MediaType.PDF and options.text_layer is TextLayer.VISIBLE:
        plan = _pdf_plan(path, number, options, limits)
        with step("text layer"):
            seen = visible_text(path, plan, options.password)
        if seen.words:
            with step("draw"):
                damaged = is_doubted_by_poppler(path, number, options.password, limits.raster)
                damaged = damaged or is_damaged(path, number, options.password, plan.of_pages)
            plan = replace(plan, damaged=damaged)
            return _read_layer(seen, plan, options, engine)
    plan, image, layer = _rastered(path, media, number, options, limits)
    dpi = round(plan.dpi) if media is MediaType.PDF else None
    return _read_pixels(image, plan, dpi, layer, options, engine)


def _pdf_plan(path: Path, number: int, options: ReadOptions, limits: PageLimits) -> PagePlan:
    with open_pdf(path, options.password) as pdf:
        return plan_pdf_page(pdf, number, options.dpi, limits)


def _rastered(
    path: Path, media: MediaType, number: int, options: ReadOptions, limits: PageLimits
) -> tuple[PagePlan, Grey, list[LayerWord]]:
    """A page's size, its pixels, and the words of its text layer."""
    if media is not MediaType.PDF:
        with open_image(path) as opened:
            plan = plan_image(opened, number, limits)
            with step("draw"):
                drawn = raster_image(path, opened, plan)
            return replace(plan, damaged=drawn.doubtful), drawn.image, []
    plan = _pdf_plan(path, number, options, limits)
    with step("draw"):
        drawn = raster_pdf(path, plan, options.password, limits.raster)
        damaged = drawn.doubtful or is_damaged(path, number, options.password, plan.of_pages)
    layer = layer_words(path, plan, options.password)
    return replace(plan, damaged=damaged), drawn.image, layer


def _read_layer(
    seen: VisibleText, plan: PagePlan, options: ReadOptions, engine: OcrEngine
) -> ReadPage:
    """A page by its proven text; only what is printed beside that is read from pixels."""
    rest = read_rest(seen, options.languages, round(plan.dpi), engine)
    words = [*seen.words, *_print(rest, seen.image)]
    unseen = hidden(seen.layer, seen.image, [w.text for w in words])
    # The rest was read already, so tables are not read a second time.
    page = _laid_out(unchanged(seen.image), words, plan, options, engine.name, None)
    return ReadPage(_with_hidden(_doubted(page, seen.image), unseen), encode(seen.image))


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
    if (_is_poor(words) or _is_tall(words)) and (turn := _turn(image, words, options, dpi, engine)):
        upright = turned(image, turn)
        level, again = _words(upright, options.languages, dpi, engine)
        if _sureness(again) > _sureness(words) or (_is_tall(words) and not _is_tall(again)):
            image, cleaned, words, plan = upright, level, again, turned_plan(plan, turn)
    page = _laid_out(cleaned, words, plan, options, engine.name, engine)
    page = _with_hidden(_doubted(page, image), unseen)
    return ReadPage(replace(page, warnings=page.warnings + differs), encode(image))


def _turn(
    image: Grey, words: list[EngineWord], options: ReadOptions, dpi: int | None, engine: OcrEngine
) -> int:
    """Degrees clockwise after which a page reads better: told by Tesseract's own look at it, or,
    where that finds too little print, by a sample that reads clearly surer; else 0."""
    with step("turn"):
        if turn := turn_needed(image):
            return turn
        turns = (90, 270) if _is_tall(words) else (180,)
        # The middle of a page with little print may be blank.
        part = _sample if len(words) > FEW_WORDS else np.ascontiguousarray
        tried = {
            turn: _sureness(
                engine.scout.read(
                    part(turned(image, turn) if turn else image), options.languages, dpi
                )
            )
            for turn in (0, *turns)
        }
        best = max(turns, key=lambda turn: tried[turn])
        return best if tried[best] > TURNED * max(tried[0], 1.0) else 0


def _doubted(page: Page, image: Grey) -> Page:
    with step("doubts"):
        return doubted(page, image)


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


def _seen_only(page: Page, image: Grey) -> Page:
    """Without the words that nobody sees: another reader may have them from elsewhere.

    What is kept may be of another version of the document: where there are pixels, they decide.
    """

    def seen(words: tuple[Word, ...]) -> tuple[Word, ...]:
        return tuple(
            replace(w, trust=max(w.trust, Trust.UNSEEN)) for w in words if _is_visible(w.box, image)
        )

    lines = tuple(Line(words, li.block) for li in page.lines if (words := seen(li.words)))
    kept = [bool(seen(li.words)) for li in page.lines]
    tables = tuple(
        replace(
            table,
            after_line=sum(kept[: table.after_line]),
            cells=tuple(replace(c, words=seen(c.words)) for c in table.cells),
        )
        for table in page.tables
    )
    return replace(page, lines=lines, tables=tables)


def _is_visible(word: EngineWord | Box, image: Grey) -> bool:
    """Engines read grey 254 on 255 perfectly; a person does not."""
    crop = image[int(word.top) : int(word.bottom) + 1, int(word.left) : int(word.right) + 1]
    return crop.size > 0 and int(crop.max()) - int(crop.min()) >= MIN_CONTRAST


def _words(
    image: Grey, languages: tuple[str, ...], dpi: int | None, engine: OcrEngine
) -> tuple[Cleaned, list[EngineWord]]:
    """Cleans and reads one image."""
    if int(image.max()) - int(image.min()) < MIN_CONTRAST:
        return unchanged(image), []
    with step("clean"):
        cleaned = clean(image)
    if cleaned.flattened:
        # Evened light helps most photos and harms stained paper: a sample of both decides.
        as_is = clean(image, flatten=False)
        with step("light"):
            even, uneven = (
                _sureness(engine.scout.read(_sample(c.image), languages, dpi))
                for c in (cleaned, as_is)
            )
        cleaned = as_is if uneven > CLEARLY * even else cleaned
    with step("ocr"):
        words = engine.read(cleaned.image, languages, dpi)
    with step("boxes"):
        words = with_boxes(_print(words, cleaned.image), cleaned.image)
    return cleaned, words


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
        with step("tables"):
            grids, words = find_tables(cleaned.image, words, second, options.languages)
    areas = [Box(*(round(v) for v in astuple(grid.area))) for grid in grids]
    lines, order = to_lines(words, cleaned, name, areas)
    tables = tuple(to_table(grids[i], after, cleaned, name) for i, after in order)
    return page_of(plan, source, lines, tables)


def reads(engine: OcrEngine) -> bool:
    """Whether an engine reads a test page."""
    page = np.full((120, 420), 255, np.uint8)
    cv2.putText(page, "READY 2026", (30, 75), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (0,), 3, cv2.LINE_AA)
    said = "".join(w.text for w in engine.read(page, ("eng",), 200))
    return "READY" in said.upper()


def encode(image: Grey) -> bytes:
    """The page as stored."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, IMAGE_QUALITY])
    if not done:
        raise VisualProofError("RASTER_FAILED", "A page's image could not be stored.")
    return data.tobytes()


def decode(image: bytes) -> Grey:
    """A page as it was stored by `encode`."""
    return np.asarray(cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)
