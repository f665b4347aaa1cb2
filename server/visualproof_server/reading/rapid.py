"""RapidOCR: PP-OCR models inside its wheel, run by OpenVINO where it is installed, else by
onnxruntime: the same text, at half the CPU and twice the memory. An extra."""

import importlib.metadata
from importlib.util import find_spec
from typing import Any

import cv2
import numpy as np

from visualproof_server.reading.engine import EngineWord, OcrEngine, trust_from
from visualproof_server.reading.raster import Grey

# The model set of the wheel reads these without further files.
_LANGUAGES = ("chi_sim", "chi_tra", "deu", "eng", "fra", "ita", "jpn", "nld", "por", "spa")
_NETS = ("Det", "Cls", "Rec")
# Confidence from which few words are misread (docs/design.md).
SURE_FROM = 0.8


class Rapid:
    """PP-OCRv6 small, one thread. The model is the same for all its languages."""

    name = "rapidocr"

    def __init__(self) -> None:
        self._engine: Any = None

    @property
    def version(self) -> str:
        return f"{importlib.metadata.version('rapidocr')} on {runtime()}"

    @property
    def scout(self) -> OcrEngine:
        return self

    def languages(self) -> tuple[str, ...]:
        return _LANGUAGES

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        result = self._loaded()(
            cv2.cvtColor(image, cv2.COLOR_GRAY2BGR),
            use_det=True,
            use_cls=False,
            use_rec=True,
            return_word_box=True,
        )
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
                        text.strip(),
                        min(xs),
                        min(ys),
                        max(xs),
                        max(ys),
                        float(score),
                        0,
                        index,
                        trust=trust_from(float(score), SURE_FROM),
                    )
                )
        return words

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        if not images:
            return []
        from rapidocr.ch_ppocr_rec import TextRecInput

        colour = [cv2.cvtColor(image, cv2.COLOR_GRAY2BGR) for image in images]
        read = self._recogniser()(TextRecInput(img=colour, return_word_box=True))
        return [
            _line_words(image, info) if text.strip() else []
            for image, text, info in zip(images, read.txts, read.word_results, strict=True)
        ]

    def _recogniser(self) -> Any:
        """The recognition step alone; the engine loads it at its first use."""
        engine = self._loaded()
        if engine.text_rec is None:
            engine(np.full((48, 48, 3), 255, np.uint8), use_det=False, use_cls=False, use_rec=True)
        return engine.text_rec

    def _loaded(self) -> Any:
        if self._engine is None:
            from rapidocr import EngineType, RapidOCR

            params: dict[str, Any] = {
                "Global.log_level": "error",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "EngineConfig.openvino.inference_num_threads": 1,
                "EngineConfig.openvino.num_streams": 1,
            }
            if runtime() == "openvino":
                params |= {f"{net}.engine_type": EngineType.OPENVINO for net in _NETS}
            self._engine = RapidOCR(params=params)
        return self._engine


def runtime() -> str:
    """What is installed to run the models, the best of it; "" for nothing."""
    return next((name for name in ("openvino", "onnxruntime") if find_spec(name)), "")


def _line_words(image: Grey, info: Any) -> list[EngineWord]:
    """Words of a recognised line, placed by the columns of its characters.

    A word is as sure as the mean of its characters and the least sure of them.
    """
    height, width = image.shape
    words = []
    at = 0
    for characters, columns in zip(info.words, info.word_cols, strict=True):
        sure = info.confs[at : at + len(characters)]
        confidence = (min(sure) + sum(sure) / len(sure)) / 2 if sure else 0.0
        at += len(characters)
        left = max(0.0, (columns[0] - 0.5) / info.line_txt_len * width)
        right = min(float(width), (columns[-1] + 1.5) / info.line_txt_len * width)
        text = "".join(characters).strip()
        if text:
            trust = trust_from(float(confidence), SURE_FROM)
            words.append(
                EngineWord(text, left, 0, right, height, float(confidence), 0, 0, trust=trust)
            )
    return words
