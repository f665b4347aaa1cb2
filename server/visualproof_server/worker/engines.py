"""The OCR engines that are installed: the only file that names them."""

import shutil
from importlib.util import find_spec

from visualproof_server.reading.auto import Auto
from visualproof_server.reading.children import ProgramLimits
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.rapid import Rapid, runtime
from visualproof_server.reading.tesseract import Tesseract


def engines(ocr: ProgramLimits | None = None) -> dict[str, OcrEngine]:
    """Installed engines by name, the best first; ocr bounds the programs that they run."""
    found: dict[str, OcrEngine] = {}
    if shutil.which("tesseract"):
        found["tesseract"] = Tesseract(ocr) if ocr is not None else Tesseract()
    if find_spec("rapidocr") and runtime():
        found["rapidocr"] = Rapid()
    if len(found) == 2:
        found = {"auto": Auto(found["tesseract"], found["rapidocr"]), **found}
    return found
