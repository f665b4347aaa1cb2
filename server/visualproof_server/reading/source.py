"""What a file is: its type by magic bytes, its pages, and the size each will be rasterised to."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium_c
from pdf2image import pdfinfo_from_path
from pdf2image.exceptions import (
    PDFInfoNotInstalledError,
    PDFPageCountError,
    PDFPopplerTimeoutError,
)
from PIL import Image

# Named, since Pillow would look for them in files that a worker may not open.
from PIL import (  # noqa: F401  isort: skip
    GifImagePlugin, JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin,
)  # fmt: skip

from visualproof_server.model.document import MediaType
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.passwords import spellings
from visualproof_server.reading.children import RASTER, ProgramLimits

# Pillow's own bomb check warns by global state; sizes are checked here before any decoding.
Image.MAX_IMAGE_PIXELS = None

POINTS_PER_INCH = 72.0
MIN_DPI = 72
MIN_SIDE_PX = 16
# A scan that states no resolution: assume A4 across its width, within what scanners make.
ASSUMED_WIDTH_INCHES = 8.27


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Bounds of one page's image: total pixels, pixels a side, and what the program that draws gets."""

    pixels: int = 40_000_000
    side: int = 10_000
    raster: ProgramLimits = RASTER


@dataclass(frozen=True, slots=True)
class PagePlan:
    """Size a page will have as an image, decided before anything is decoded."""

    number: int
    label: str
    width: int
    height: int
    width_pt: float
    height_pt: float
    rotation: int
    dpi: float
    pdf_transform: tuple[float, ...]
    lowered: bool = False
    # The document is an XFA form that only its viewer lays out; the page asks for that viewer.
    xfa: bool = False
    # Its picture may lack what the file holds.
    damaged: bool = False
    # Pages of a PDF.
    of_pages: int = 1


def media_type(head: bytes) -> MediaType | None:
    """The type by the first bytes of a file (at least 1,024), None if it is none we read."""
    if b"%PDF-" in head[:1024]:
        return MediaType.PDF
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return MediaType.PNG
    if head.startswith(b"\xff\xd8\xff"):
        return MediaType.JPEG
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return MediaType.WEBP
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return MediaType.TIFF
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return MediaType.GIF
    return None


@contextmanager
def open_pdf(path: Path, password: str) -> Iterator[pypdfium2.PdfDocument]:
    """Opens a PDF; errors PDF_ENCRYPTED, PDF_PASSWORD_WRONG, FILE_CORRUPT."""
    try:
        pdf = _opened(path, password)
    except pypdfium2.PdfiumError as error:
        if pdfium_c.FPDF_GetLastError() == pdfium_c.FPDF_ERR_PASSWORD or "assword" in str(error):
            if password:
                raise VisualProofError(
                    "PDF_PASSWORD_WRONG", "The password does not open this PDF; send the right one."
                ) from None
            raise VisualProofError(
                "PDF_ENCRYPTED", "This PDF is encrypted; send it with options.password."
            ) from None
        if _has_no_pages(path):
            raise VisualProofError(
                "NO_PAGES", "This file has no pages; send one that has."
            ) from None
        raise VisualProofError(
            "FILE_CORRUPT",
            "This PDF cannot be opened; save it again with the program that made it.",
        ) from None
    try:
        yield pdf
    finally:
        pdf.close()


def _opened(path: Path, password: str) -> pypdfium2.PdfDocument:
    """By the first spelling of the password that opens it; PdfiumError."""
    for spelled in spellings(password):
        # pdfium takes UTF-8, and tries Latin-1 of it: so other bytes come through as they are.
        for text in dict.fromkeys((spelled.decode("utf-8", "ignore"), spelled.decode("latin-1"))):
            try:
                return pypdfium2.PdfDocument(path, password=text or None)
            except pypdfium2.PdfiumError as error:
                if pdfium_c.FPDF_GetLastError() != pdfium_c.FPDF_ERR_PASSWORD:
                    raise
                wrong = error
    raise wrong


def _has_no_pages(path: Path) -> bool:
    """What pdfium calls a format error: poppler tells it from a broken file."""
    try:
        pdfinfo_from_path(str(path), timeout=10)
    except PDFPageCountError as error:
        return "last page (0)" in str(error)
    except (PDFInfoNotInstalledError, PDFPopplerTimeoutError):
        return False
    return False


@contextmanager
def decoding(message: str) -> Iterator[None]:
    """Whatever Pillow raises (its parsers raise almost anything) is error FILE_CORRUPT."""
    try:
        yield
    except VisualProofError:
        raise
    except Exception:
        raise VisualProofError("FILE_CORRUPT", message) from None


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Opens an image without decoding it; error FILE_CORRUPT."""
    with decoding("This image cannot be opened; save it again with the program that made it."):
        image = Image.open(path, formats=("PNG", "JPEG", "WEBP", "TIFF", "GIF", "MPO"))
    try:
        yield image
    finally:
        image.close()


def count_pages(path: Path, media: MediaType, password: str) -> int:
    """Pages of a PDF or frames of an image; errors as the openers', NO_PAGES."""
    if media is MediaType.PDF:
        with open_pdf(path, password) as pdf:
            count = len(pdf)
    else:
        message = "This image's frames cannot be counted; save it again."
        with open_image(path) as image, decoding(message):
            count = int(getattr(image, "n_frames", 1))
    if count < 1:
        raise VisualProofError("NO_PAGES", "This file has no pages; send one that has.")
    return count


def fitted_dpi(width_pt: float, height_pt: float, dpi: float, limits: PageLimits) -> float:
    """The highest resolution up to dpi at which the page is within limits."""
    inches_w, inches_h = width_pt / POINTS_PER_INCH, height_pt / POINTS_PER_INCH
    by_pixels = math.sqrt(limits.pixels / (inches_w * inches_h))
    by_side = limits.side / max(inches_w, inches_h)
    return min(dpi, by_pixels, by_side)


def plan_pdf_page(
    pdf: pypdfium2.PdfDocument, number: int, dpi: int, limits: PageLimits
) -> PagePlan:
    """Size and geometry of a PDF page as displayed: CropBox, /Rotate and UserUnit applied once."""
    try:
        page = pdf[number - 1]
    except pypdfium2.PdfiumError:
        raise VisualProofError("FILE_CORRUPT", f"Page {number} cannot be opened.") from None
    width_pt, height_pt = page.get_size()
    if not (math.isfinite(width_pt) and math.isfinite(height_pt)):
        raise VisualProofError("FILE_CORRUPT", f"Page {number} has no finite size.")
    if width_pt < 1 or height_pt < 1:
        raise VisualProofError(
            "PAGE_TOO_SMALL", f"Page {number} is less than a point wide or high."
        )
    fitted = fitted_dpi(width_pt, height_pt, dpi, limits)
    if fitted < MIN_DPI and fitted < dpi:
        raise VisualProofError(
            "PAGE_TOO_LARGE", f"Page {number} is too large for {MIN_DPI} dpi; send a smaller page."
        )
    width = max(1, round(width_pt * fitted / POINTS_PER_INCH))
    height = max(1, round(height_pt * fitted / POINTS_PER_INCH))
    if min(width, height) < MIN_SIDE_PX:
        raise VisualProofError(
            "PAGE_TOO_SMALL", f"Page {number} is {width} x {height} pixels; that is no page."
        )
    rotation = page.get_rotation()
    label = pdf.get_page_label(number - 1) or str(number)
    return PagePlan(
        number,
        label,
        width,
        height,
        width_pt,
        height_pt,
        rotation,
        fitted,
        page_transform(page.get_bbox(), rotation),
        lowered=fitted < dpi,
        xfa=pdf.get_formtype() == pdfium_c.FORMTYPE_XFA_FULL,
        of_pages=len(pdf),
    )


def page_transform(cropbox: tuple[float, float, float, float], rotation: int) -> tuple[float, ...]:
    """[a, b, c, d, e, f] from fractions of the displayed page to PDF user space.

    x = a*u + c*v + e, y = b*u + d*v + f, with u to the right and v down (PDF 32000-1, 8.3.3).
    The box is the visible one: CropBox within MediaBox, its corners in order.
    """
    left, bottom, right, top = cropbox
    width, height = right - left, top - bottom
    if rotation == 90:
        return (0.0, height, width, 0.0, left, bottom)
    if rotation == 180:
        return (-width, 0.0, 0.0, height, right, bottom)
    if rotation == 270:
        return (0.0, -height, -width, 0.0, right, top)
    return (width, 0.0, 0.0, -height, left, top)


def plan_image(image: Image.Image, number: int, limits: PageLimits) -> PagePlan:
    """Size of an image's frame as displayed (EXIF applied); images keep their pixels."""
    with decoding(f"Frame {number} cannot be opened."):
        image.seek(number - 1)
    width, height = image.size
    if min(width, height) < MIN_SIDE_PX:
        raise VisualProofError(
            "PAGE_TOO_SMALL", f"Page {number} is {width} x {height} pixels; that is no page."
        )
    if width * height > limits.pixels or max(width, height) > limits.side:
        raise VisualProofError(
            "PAGE_TOO_LARGE",
            f"Page {number} is {width} x {height} pixels; at most {limits.side} a side and"
            f" {limits.pixels // 1_000_000} megapixels are read.",
        )
    with decoding(f"Frame {number} cannot be opened."):
        # Only now: for a PNG this decodes the image.
        orientation = int(image.getexif().get(0x0112, 1))
    if orientation in (5, 6, 7, 8):
        width, height = height, width
    dpi = stated_dpi(image) or width / ASSUMED_WIDTH_INCHES
    turn = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}.get(orientation, 0)
    return PagePlan(
        number,
        str(number),
        width,
        height,
        width * POINTS_PER_INCH / dpi,
        height * POINTS_PER_INCH / dpi,
        turn,
        dpi,
        (),
    )


def stated_dpi(image: Image.Image) -> float | None:
    """The resolution an image states, when it is one a scanner makes (100 to 1,200)."""
    try:
        dpi = float(image.info.get("dpi", (0, 0))[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    return dpi if 100 <= dpi <= 1200 else None
