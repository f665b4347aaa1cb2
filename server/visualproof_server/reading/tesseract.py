"""Tesseract, by pytesseract and the system's package."""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np
import pytesseract

from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading.children import OCR, ProgramLimits, within
from visualproof_server.reading.engine import EngineWord, OcrEngine, trust_from
from visualproof_server.reading.raster import Grey

# Small images whose letters are lower than this (median height in pixels) gain words when they
# are enlarged towards ENLARGE_TO_PX, at most twice; larger ones lose some (docs/design.md).
ENLARGE_UNDER_PX = 18.0
ENLARGE_TO_PX = 24.0
ENLARGE_MAX_PIXELS = 2_500_000
# Pages with so few words are read once more as if scanned at the usual resolution.
FEW_WORDS, USUAL_DPI = 10, 300
# Crops that one process reads.
LINES_A_RUN = 64
# Confidence from which few words are misread (docs/design.md).
SURE_FROM = 0.9
_WORD_LEVEL = "5"


class Tesseract:
    """`--oem 1 --psm 3`, one thread."""

    name = "tesseract"

    def __init__(self, limits: ProgramLimits = OCR) -> None:
        """limits bound each run of the program."""
        self._limits = limits
        # Without it one page takes six times as long; read by Tesseract's OpenMP at its start.
        os.environ["OMP_THREAD_LIMIT"] = "1"
        self._version = ""
        self._languages: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        if not self._version:
            self._version = str(pytesseract.get_tesseract_version())
        return self._version

    @property
    def scout(self) -> OcrEngine:
        return self

    def languages(self) -> tuple[str, ...]:
        if not self._languages:
            found = pytesseract.get_languages()
            self._languages = tuple(sorted(code for code in found if code != "osd"))
        return self._languages

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        scaled, scale = (image, 1.0) if dpi else enlarged(image)
        config = "--oem 1 --psm 3" + (f" --dpi {dpi}" if dpi else "")
        (words,) = self._run([scaled], languages, config, scale)
        if dpi is None and len(words) < FEW_WORDS:
            # A resolution guessed wrong costs the words of ruled boxes.
            (again,) = self._run([scaled], languages, f"{config} --dpi {USUAL_DPI}", scale)
            words = max(words, again, key=lambda read: sum(w.confidence for w in read))
        return words

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        out: list[list[EngineWord]] = []
        for at in range(0, len(images), LINES_A_RUN):
            out += self._run(images[at : at + LINES_A_RUN], languages, "--oem 1 --psm 7", 1.0)
        return out

    def _run(
        self, images: list[Grey], languages: tuple[str, ...], config: str, scale: float
    ) -> list[list[EngineWord]]:
        """The words of each image, by one process: its start costs more than a line."""
        # Files of our own: pytesseract would write a PNG, at ten times the cost of this PGM.
        with tempfile.TemporaryDirectory(prefix="ocr-") as folder:
            paths = [Path(folder) / f"{number}.pgm" for number in range(len(images))]
            for path, image in zip(paths, images, strict=True):
                _write_pgm(path, image)
            source = Path(folder) / "images.txt"
            source.write_text("".join(f"{path}\n" for path in paths))
            wall_s = self._limits.wall_s
            too_long = VisualProofError(
                "PAGE_TIMEOUT", f"Tesseract took longer than {wall_s} s on a page."
            )
            try:
                with within(self._limits):
                    tsv = pytesseract.image_to_data(
                        str(source), lang="+".join(languages), config=config, timeout=wall_s
                    )
            except pytesseract.TesseractError as error:
                if error.status == -signal.SIGXCPU:
                    raise too_long from None
                raise VisualProofError("PAGE_CRASHED", "Tesseract failed on a page.") from None
            except (subprocess.SubprocessError, OSError, UnicodeDecodeError):
                raise VisualProofError("PAGE_CRASHED", "Tesseract failed on a page.") from None
            except RuntimeError:
                raise too_long from None
        return parse_tsv(tsv, scale, len(images))


def parse_tsv(tsv: str, scale: float, images: int = 1) -> list[list[EngineWord]]:
    """Words of each image in Tesseract's TSV output; rows of other shapes are left out.

    Columns: level page block par line word left top width height conf text (tesseract(1), tsv).
    """
    words: list[list[EngineWord]] = [[] for _ in range(images)]
    for row in tsv.split("\n"):
        cells = row.split("\t")
        if len(cells) != 12 or cells[0] != _WORD_LEVEL or not cells[11].strip():
            continue
        try:
            page, block, par, line = (int(c) for c in cells[1:5])
            left, top, width, height = (int(c) / scale for c in cells[6:10])
            confidence = min(max(float(cells[10]) / 100.0, 0.0), 1.0)
        except ValueError:
            continue
        if not 1 <= page <= images:
            continue
        words[page - 1].append(
            EngineWord(
                re.sub(r"\s+", "", cells[11]),
                left,
                top,
                left + width,
                top + height,
                confidence,
                block * 1000 + par,
                (block * 1000 + par) * 1000 + line,
                trust=trust_from(confidence, SURE_FROM),
            )
        )
    return words


def enlarged(image: Grey) -> tuple[Grey, float]:
    """The image, larger if it is small and its print too, and the factor."""
    height = text_height(image) if image.size <= ENLARGE_MAX_PIXELS else 0.0
    if not 0 < height < ENLARGE_UNDER_PX:
        return image, 1.0
    scale = min(2.0, ENLARGE_TO_PX / height)
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), scale


def text_height(image: Grey) -> float:
    """Median height in pixels of what looks like letters mid-page, 0 when there are too few."""
    height, width = image.shape
    top, left = max(0, (height - 1000) // 2), max(0, (width - 1000) // 2)
    image = np.ascontiguousarray(image[top : top + 1000, left : left + 1000])
    ink = cv2.adaptiveThreshold(image, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 20)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    heights = stats[1:, cv2.CC_STAT_HEIGHT]
    widths = stats[1:, cv2.CC_STAT_WIDTH]
    letters = heights[(heights >= 5) & (heights < 120) & (widths >= 2) & (widths < 3 * heights)]
    return float(np.median(letters)) if len(letters) >= 20 else 0.0


def _write_pgm(path: Path, image: Grey) -> None:
    height, width = image.shape
    with path.open("wb") as file:
        file.write(b"P5 %d %d 255\n" % (width, height))
        file.write(image.tobytes())
