"""One page as a grey image of the planned size."""

import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, Any

import cv2
import numpy as np
import pypdfium2
from numpy.typing import NDArray
from PIL import Image, ImageOps

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.passwords import spellings
from visualproof_server.reading.children import ProgramLimits, within
from visualproof_server.reading.complaints import SAID, Heard, heard
from visualproof_server.reading.damage import complains
from visualproof_server.reading.jpeg import is_broken_jpeg
from visualproof_server.reading.source import PagePlan, decoding, open_pdf

Grey = NDArray[Any]
"""Height x width of uint8, 0 black to 255 white."""
# Side of the picture that is drawn only to hear what the renderer says.
_STAMP = 8
# What libtiff says of an error, "module: what is wrong"; of a warning it says so.
_DECODER_SAYS = re.compile(rb"^[\w./-]+: (?!Warning)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page's pixels; doubtful where its renderer may have left something out."""

    image: Grey
    doubtful: bool


def raster_pdf(path: Path, plan: PagePlan, password: str, limits: ProgramLimits) -> Drawn:
    """Renders a PDF page with poppler, and once with pdfium where poppler fails or is too slow.

    pdftoppm exits 0 on a full disk, out of memory and with a 1 x 1 result, so the image is
    compared with the plan instead.
    """
    head = b"P5\n%d %d\n255\n" % (plan.width, plan.height)
    size = len(head) + plan.width * plan.height
    made, said = _poppler(path, plan.number, (plan.width, plan.height), password, limits, size)
    if made.startswith(head) and len(made) == size:
        pixels = np.frombuffer(made, np.uint8, offset=len(head))
        return Drawn(pixels.reshape(plan.height, plan.width), complains(said))
    # A page that its file turns comes out lying: whole, but of the other size.
    doubtful = len(made) != size or complains(said)
    return Drawn(_raster_pdfium(path, plan, password), doubtful)


def is_doubted_by_poppler(path: Path, number: int, password: str, limits: ProgramLimits) -> bool:
    """Whether poppler complains of a page, or cannot draw it, even as small as a stamp."""
    head = b"P5\n%d %d\n255\n" % (_STAMP, _STAMP)
    size = len(head) + _STAMP * _STAMP
    made, said = _poppler(path, number, (_STAMP, _STAMP), password, limits, size)
    return len(made) != size or complains(said)


def _poppler(
    path: Path, number: int, size: tuple[int, int], password: str, limits: ProgramLimits, most: int
) -> tuple[bytes, bytes]:
    """What pdftoppm writes, at most a byte over `most`, and the first of what it says on stderr."""
    command = ["pdftoppm", "-gray", "-cropbox", "-f", str(number), "-l", str(number)]
    command += ["-scale-to-x", str(size[0]), "-scale-to-y", str(size[1])]
    made, said = b"", b""
    for spelled in spellings(password):
        key = ("-upw", os.fsdecode(spelled)) if spelled else ()
        made, said = _run([*command, *key, str(path)], limits, most)
        if b"Incorrect password" not in said:
            break
    return made, said


def _run(command: list[str], limits: ProgramLimits, most: int) -> tuple[bytes, bytes]:
    said = bytearray()

    def listen(stream: IO[bytes]) -> None:
        # To its end, or the program would wait; a file can make it say gigabytes.
        while part := stream.read1(SAID):  # type: ignore[attr-defined]
            said.extend(part[: SAID - len(said)])

    try:
        with within(limits), Popen(command, stdout=PIPE, stderr=PIPE) as program:
            assert program.stdout is not None
            assert program.stderr is not None
            listener = threading.Thread(target=listen, args=(program.stderr,))
            listener.start()
            made = program.stdout.read(most + 1)
            if len(made) > most:
                program.kill()
            program.stdout.close()
            listener.join()
    except (OSError, ValueError):
        return b"", b""
    return made, bytes(said)


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


def raster_image(path: Path, image: Image.Image, plan: PagePlan) -> Drawn:
    """Decodes the frame of a file that `plan` was made for: EXIF applied, alpha on white, grey."""
    said = Heard()
    broken = f"Page {plan.number} cannot be decoded; save the image again."
    with decoding(broken), heard(said):
        grey = _decoded(image, plan)
    if grey.shape != (plan.height, plan.width):
        raise VisualProofError("RASTER_FAILED", f"Page {plan.number} has not the size it states.")
    if image.format in ("JPEG", "MPO"):
        doubtful = is_broken_jpeg(path.read_bytes())
    else:
        doubtful = _DECODER_SAYS.search(said.text) is not None
    return Drawn(np.ascontiguousarray(grey), doubtful)


def _decoded(image: Image.Image, plan: PagePlan) -> Grey:
    image.seek(plan.number - 1)
    frame = ImageOps.exif_transpose(image)
    if frame.mode in ("RGBA", "LA", "PA") or "transparency" in frame.info:
        rgba = frame.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        frame = Image.alpha_composite(white, rgba)
    if frame.mode.startswith("I;16") or frame.mode == "I":
        return (np.clip(np.asarray(frame, dtype=np.int64), 0, 65535) >> 8).astype(np.uint8)
    return np.asarray(frame.convert("L"))
