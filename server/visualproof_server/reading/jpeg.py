"""Whether a JPEG is whole: decoders draw what they can of a broken one, and most say nothing."""

import ctypes
import io
from functools import cache

from PIL import Image

from visualproof_server.reading.complaints import Heard, heard

# Tesseract brings it; its libjpeg says aloud what the other decoders here keep to themselves.
_LEPTONICA = "liblept.so.5"
_EIGHTH = 8
# Leptonica's own messages are left out.
_SILENT = 6


def is_broken_jpeg(data: bytes) -> bool:
    """Whether a JPEG ends early, or holds codes that are none or that do not end where it does; a
    bit that makes another code of one is not seen."""
    library = _leptonica()
    said = Heard()
    if library is not None:
        count = ctypes.c_int(0)
        with heard(said):
            made = ctypes.c_void_p(
                library.pixReadMemJpeg(data, len(data), 0, _EIGHTH, ctypes.byref(count), 0)
            )
        known = bool(made) or bool(count.value)
        library.pixDestroy(ctypes.byref(made))
        if known:
            return bool(count.value or said.text)
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "MPO")) as image:
            image.draft("L", (image.width // _EIGHTH, image.height // _EIGHTH))
            image.load()
    except (OSError, ValueError, SyntaxError, KeyError):
        return True
    return False


@cache
def _leptonica() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(_LEPTONICA)
    except OSError:
        return None
    library.pixReadMemJpeg.restype = ctypes.c_void_p
    library.pixReadMemJpeg.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
        ctypes.POINTER(ctypes.c_int), ctypes.c_int,
    ]  # fmt: skip
    library.pixDestroy.restype = None
    library.pixDestroy.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
    library.setMsgSeverity(_SILENT)
    return library
