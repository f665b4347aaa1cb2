"""One page as a grey image of the planned size."""

import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
from numpy.typing import NDArray
from pdf2image import convert_from_path
from pdf2image.exceptions import PDFPageCountError, PDFPopplerTimeoutError, PDFSyntaxError
from PIL import Image, ImageOps

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.passwords import spellings
from visualproof_server.reading.children import ProgramLimits, within
from visualproof_server.reading.source import PagePlan, decoding, open_pdf

Grey = NDArray[Any]
"""Height x width of uint8, 0 black to 255 white."""


def raster_pdf(path: Path, plan: PagePlan, password: str, limits: ProgramLimits) -> Grey:
    """Renders a PDF page with poppler, and once with pdfium where poppler fails or is too slow.

    pdftoppm exits 0 on a full disk, out of memory and with a 1 x 1 result, so the image is
    compared with the plan instead.
    """
    for spelled in spellings(password):
        try:
            with within(limits):
                images = convert_from_path(
                    path,
                    first_page=plan.number,
                    last_page=plan.number,
                    size=(plan.width, plan.height),
                    grayscale=True,
                    use_cropbox=True,
                    userpw=os.fsdecode(spelled) or None,  # type: ignore[arg-type]
                    timeout=limits.wall_s,
                )
            if len(images) == 1 and images[0].size == (plan.width, plan.height):
                return np.asarray(images[0].convert("L"))
        except PDFPageCountError:
            # It does not open it: the next spelling of the password may.
            continue
        except (PDFSyntaxError, PDFPopplerTimeoutError, OSError, ValueError):
            pass
        break
    return _raster_pdfium(path, plan, password)


def _raster_pdfium(path: Path, plan: PagePlan, password: str) -> Grey:
    with open_pdf(path, password) as pdf:
        try:
            pdf.init_forms()
            return drawn(pdf[plan.number - 1], plan)
        except (pypdfium2.PdfiumError, MemoryError, ValueError):
            raise VisualProofError(
                "RASTER_FAILED", f"Page {plan.number} cannot be drawn by either renderer."
            ) from None


def drawn(page: pypdfium2.PdfPage, plan: PagePlan) -> Grey:
    """A page as pdfium draws it, in the planned size; pdfium may be a pixel off that."""
    bitmap = page.render(scale=plan.dpi / 72.0, grayscale=True)
    image = bitmap.to_numpy().reshape(bitmap.height, -1)[:, : bitmap.width]
    if image.shape != (plan.height, plan.width):
        image = cv2.resize(image, (plan.width, plan.height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(image)


def raster_image(image: Image.Image, plan: PagePlan) -> Grey:
    """Decodes the frame that `plan` was made for: EXIF applied, alpha on white, grey."""
    with decoding(f"Page {plan.number} cannot be decoded; save the image again."):
        image.seek(plan.number - 1)
        frame = ImageOps.exif_transpose(image)
        if frame.mode in ("RGBA", "LA", "PA") or "transparency" in frame.info:
            rgba = frame.convert("RGBA")
            white = Image.new("RGBA", rgba.size, "white")
            frame = Image.alpha_composite(white, rgba)
        if frame.mode.startswith("I;16") or frame.mode == "I":
            grey = (np.clip(np.asarray(frame, dtype=np.int64), 0, 65535) >> 8).astype(np.uint8)
        else:
            grey = np.asarray(frame.convert("L"))
    if grey.shape != (plan.height, plan.width):
        raise VisualProofError("RASTER_FAILED", f"Page {plan.number} has not the size it states.")
    return np.ascontiguousarray(grey)
