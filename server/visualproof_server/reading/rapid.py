"""RapidOCR: PP-OCR models inside its wheel, run by onnxruntime. An extra."""

import importlib.metadata
from typing import Any

import cv2

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.raster import Grey

# The model set of the wheel reads these without further files.
_LANGUAGES = ("chi_sim", "chi_tra", "deu", "eng", "fra", "ita", "jpn", "nld", "por", "spa")


class Rapid:
    """PP-OCRv6 small, one thread. The model is the same for all its languages."""

    name = "rapidocr"

    def __init__(self) -> None:
        self._engine: Any = None

    @property
    def version(self) -> str:
        return importlib.metadata.version("rapidocr")

    def languages(self) -> tuple[str, ...]:
        return _LANGUAGES

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        return self._run(image, use_det=True)

    def read_line(self, image: Grey, languages: tuple[str, ...]) -> list[EngineWord]:
        return self._run(image, use_det=False)

    def _run(self, image: Grey, use_det: bool) -> list[EngineWord]:
        result = self._loaded()(
            cv2.cvtColor(image, cv2.COLOR_GRAY2BGR),
            use_det=use_det,
            use_cls=False,
            use_rec=True,
            return_word_box=use_det,
        )
        if not use_det:
            height, width = image.shape
            return [
                EngineWord(text.strip(), 0, 0, width, height, float(score), 0, index)
                for index, (text, score) in enumerate(
                    zip(result.txts or (), result.scores or (), strict=True)
                )
                if text.strip()
            ]
        words = []
        # An empty page has no boxes, and one malformed entry of words.
        for index, line in enumerate(result.word_results if result.boxes is not None else ()):
            for text, score, corners in line:
                if not text or not text.strip() or corners is None:
                    continue
                xs = [float(x) for x, _ in corners]
                ys = [float(y) for _, y in corners]
                words.append(
                    EngineWord(
                        text.strip(), min(xs), min(ys), max(xs), max(ys), float(score), 0, index
                    )
                )
        return words

    def _loaded(self) -> Any:
        if self._engine is None:
            from rapidocr import RapidOCR

            self._engine = RapidOCR(
                params={
                    "Global.log_level": "error",
                    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        return self._engine
