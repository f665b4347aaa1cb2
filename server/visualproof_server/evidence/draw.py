"""A report drawn on its pages: a frame per line touched, a tag per value."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from visualproof_server.evidence import fonts
from visualproof_server.evidence.frames import draw_frame, with_air
from visualproof_server.evidence.presentation import COLOURS, name_of, shown
from visualproof_server.model.document import Document
from visualproof_server.model.drawing import DrawRequest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, Quad, box_of, union
from visualproof_server.model.report import Action, FieldResult, Report, Status

DEFAULT_SIDE = 2000
_MAX_TAG = 60


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded image of a page, or of one value's surroundings."""

    page: int
    path: str
    media: str
    width: int
    height: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Mark:
    """One value on one page, in pixels of the picture."""

    quads: tuple[Quad, ...]
    action: Action
    tag: str

    @property
    def boxes(self) -> list[Box]:
        return [box_of(quad) for quad in self.quads]


def pictures(
    document: Document,
    report: Report,
    request: DrawRequest,
    image_of: Callable[[int], NDArray[Any]],
) -> Iterator[Picture]:
    """Pages in order, or crops in the report's order; error PAGE_OUT_OF_RANGE."""
    if request.crops:
        yield from _crops(document, report, request, image_of)
        return
    numbers = request.pages or tuple(sorted({e.page for r in report.results for e in shown(r)}))
    for number in numbers:
        page = document.page(number)
        if page is None:
            raise VisualProofError("PAGE_OUT_OF_RANGE", f"The document has no page {number}.")
        if page.failure is not None:
            continue
        picture, scale = _scaled(image_of(number), request.side or DEFAULT_SIDE)
        words = [_times(w.box, scale) for w in page.words]
        marked = _marked(picture, _marks(report, number, scale), words)
        yield _encode(marked, number, "", request.media)


def encode_page(image: NDArray[Any], number: int, side: int, media: str) -> Picture:
    """A page without marks, at most `side` pixels long (0: as it is)."""
    picture, _ = _scaled(image, side or max(image.shape))
    return _encode(picture, number, "", media)


def _marks(report: Report, page: int, scale: float) -> list[_Mark]:
    marks = []
    for result in report.results:
        for evidence in shown(result):
            if evidence.page == page:
                quads = tuple(with_air(_scaled_quad(q, scale)) for q in evidence.quads)
                marks.append(_Mark(quads, result.action, tag_text(result)))
    return marks


def tag_text(result: FieldResult) -> str:
    """The field's name; for what differs, what was extracted and what is printed."""
    name = name_of(result)
    if result.status is Status.MISMATCH:
        text = f"{name}: {result.value_json.strip(chr(34))} ≠ {result.printed_text}"
    elif result.status is Status.VERIFIED:
        text = name
    else:
        text = f"{name}: {result.status.name.replace('_', ' ').lower()}"
    return text if len(text) <= _MAX_TAG else text[: _MAX_TAG - 1] + "…"


def _crops(
    document: Document,
    report: Report,
    request: DrawRequest,
    image_of: Callable[[int], NDArray[Any]],
) -> Iterator[Picture]:
    for result in report.results:
        places = shown(result)
        if (request.path and result.path != request.path) or not places:
            continue
        number = places[0].page
        boxes = [b for e in places if e.page == number for b in e.boxes]
        page = document.page(number)
        if page is None:
            continue
        around = union(boxes)
        height = max(b.height for b in boxes)
        reach = round((request.context_lines or 2) * 1.6 * height) + height // 2
        top, bottom = max(0, around.top - reach), min(page.height, around.bottom + reach)
        strip = image_of(number)[top:bottom]
        picture, scale = _scaled(strip, request.side or DEFAULT_SIDE)
        canvas = picture.copy()
        for evidence in places:
            for quad in evidence.quads if evidence.page == number else ():
                moved = _scaled_quad(quad, scale, -top)
                draw_frame(canvas, with_air(moved), result.action)
        yield _encode(canvas, number, result.path, request.media)


def _marked(picture: NDArray[Any], marks: list[_Mark], words: list[Box]) -> NDArray[Any]:
    canvas = picture.copy()
    for mark in marks:
        for quad in mark.quads:
            draw_frame(canvas, quad, mark.action)
    size = max(12, round(max(canvas.shape[:2]) / 110))
    taken = words + [b for m in marks for b in m.boxes]
    placed: list[tuple[Box, _Mark]] = []
    overflow: list[_Mark] = []
    for mark in marks:
        spot = _free_spot(mark, _tag_size(mark.tag, size), canvas.shape, taken)
        if spot is None:
            overflow.append(mark)
        else:
            taken.append(spot)
            placed.append((spot, mark))
    if overflow:
        canvas, more = _with_margin(canvas, overflow, size, words)
        placed += more
    return _write_tags(canvas, placed, size)


def _free_spot(
    mark: _Mark, size: tuple[int, int], shape: tuple[int, ...], taken: list[Box]
) -> Box | None:
    """A place beside the first frame that covers neither words, frames nor tags."""
    width, height = size
    box, last, gap = mark.boxes[0], mark.boxes[-1], 6
    spots = (
        (box.left, box.top - gap - height),
        (box.right + gap, box.middle - height / 2),
        (last.left, last.bottom + gap),
        (box.left - gap - width, box.middle - height / 2),
        (box.right - width, box.top - gap - height),
        (last.right - width, last.bottom + gap),
        (box.right + 6 * gap, box.top - height),
        (box.right + 6 * gap, box.bottom),
    )
    for left, top in spots:
        spot = Box(round(left), round(top), round(left) + width, round(top) + height)
        inside = spot.left >= 0 and spot.top >= 0
        inside = inside and spot.right <= shape[1] and spot.bottom <= shape[0]
        if inside and not any(_meets(spot, other) for other in taken):
            return spot
    return None


def _with_margin(
    canvas: NDArray[Any], marks: list[_Mark], size: int, words: list[Box]
) -> tuple[NDArray[Any], list[tuple[Box, _Mark]]]:
    """Widens the page to the right for tags that found no room, each tied to its frame."""
    height, width = canvas.shape[:2]
    sizes = [_tag_size(m.tag, size) for m in marks]
    margin = max(w for w, _ in sizes) + 24
    needed = sum(h + 6 for _, h in sizes) + 6
    wide = np.full((max(height, needed), width + margin, 3), 255, np.uint8)
    wide[:height, :width] = canvas
    placed = []
    at = 6
    for mark, (w, h) in sorted(zip(marks, sizes, strict=True), key=lambda p: p[0].boxes[0].top):
        box = mark.boxes[0]
        top = max(at, min(round(box.middle - h / 2), wide.shape[0] - h - 6))
        spot = Box(width + 16, top, width + 16 + w, top + h)
        red, green, blue = COLOURS[mark.action]
        row = _free_row(box, words)
        if row is not None:
            path = [(box.right + 2, row), (width + 4, row), (spot.left, round(spot.middle))]
            line = np.array(path, np.int32)
            cv2.polylines(wide, [line], False, (blue, green, red), 1, cv2.LINE_AA)
        placed.append((spot, mark))
        at = top + h + 6
    return wide, placed


def _free_row(box: Box, words: list[Box]) -> int | None:
    """A row of pixels from a frame to the right edge that crosses no word, the middle first."""
    right_of = [w for w in words if w.right > box.right + 2]
    for away in range(box.height // 2 + 8):
        for row in (round(box.middle) + away, round(box.middle) - away):
            if not any(w.top - 1 <= row <= w.bottom for w in right_of):
                return row
    return None


def _write_tags(canvas: NDArray[Any], placed: list[tuple[Box, _Mark]], size: int) -> NDArray[Any]:
    """White text on the action's colour, in any script."""
    image = Image.fromarray(cv2.cvtColor(canvas, cv2.COLOR_BGR2RGB))
    pen = ImageDraw.Draw(image)
    for spot, mark in placed:
        pen.rounded_rectangle(
            (spot.left, spot.top, spot.right, spot.bottom), size // 4, fill=COLOURS[mark.action]
        )
        fonts.write(pen, spot.left + size // 3, spot.middle, mark.tag, (255, 255, 255), size)
    return cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2BGR)


def _tag_size(text: str, size: int) -> tuple[int, int]:
    return round(fonts.width(text, size)) + 2 * (size // 3), round(size * 1.4)


def _scaled(image: NDArray[Any], side: int) -> tuple[NDArray[Any], float]:
    """A colour copy whose longest side is at most `side`, and the factor."""
    scale = min(1.0, side / max(image.shape[:2]))
    if scale < 1.0:
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), scale


def _encode(image: NDArray[Any], page: int, path: str, media: str) -> Picture:
    if media == "image/webp":
        # Pillow's fast method takes a third of the time of OpenCV's only one.
        out = io.BytesIO()
        Image.fromarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB)).save(
            out, "WEBP", quality=80, method=1
        )
        return Picture(page, path, media, image.shape[1], image.shape[0], out.getvalue())
    suffix, quality = {
        "image/jpeg": (".jpg", [cv2.IMWRITE_JPEG_QUALITY, 85]),
        "image/png": (".png", [cv2.IMWRITE_PNG_COMPRESSION, 3]),
    }[media]
    done, data = cv2.imencode(suffix, image, quality)
    if not done:
        raise VisualProofError("INTERNAL", "An image could not be encoded.")
    return Picture(page, path, media, image.shape[1], image.shape[0], data.tobytes())


def _times(box: Box, scale: float) -> Box:
    return Box(
        round(box.left * scale),
        round(box.top * scale),
        round(box.right * scale),
        round(box.bottom * scale),
    )


def _scaled_quad(quad: Quad, scale: float, down: int = 0) -> Quad:
    a, b, c, d = ((round(x * scale), round((y + down) * scale)) for x, y in quad)
    return a, b, c, d


def _meets(a: Box, b: Box) -> bool:
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom
