"""One contract for every engine, with the real ones."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from visualproof_server.model.document import Trust
from visualproof_server.reading.auto import merged
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.tesseract import Tesseract, parse_tsv

pytestmark = pytest.mark.slow

ENGINES: list[OcrEngine] = [Tesseract()]
if find_spec("rapidocr") is not None:
    from visualproof_server.reading.auto import Auto
    from visualproof_server.reading.rapid import Rapid

    ENGINES += [Rapid(), Auto(Tesseract(), Rapid())]

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
LINES = ["Invoice INV-2026-0417", "Total due 16,020.00"]


def page() -> np.ndarray:
    image = Image.new("L", (900, 300), 255)
    pen = ImageDraw.Draw(image)
    for row, text in enumerate(LINES):
        pen.text((60, 60 + row * 110), text, fill=0, font=ImageFont.truetype(FONT, 40))
    return np.asarray(image)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
class TestEngine:
    def test_reads_words_with_their_places(self, engine: OcrEngine) -> None:
        words = engine.read(page(), ("eng",), None)
        assert "".join(w.text for w in words) == "".join(LINES).replace(" ", "")
        number = next(w for w in words if "0417" in w.text)
        assert 200 < number.left < number.right < 640
        assert 40 < number.top < number.bottom < 130
        assert all(0.0 <= w.confidence <= 1.0 for w in words)
        assert len({w.line for w in words}) == 2

    def test_reads_one_line(self, engine: OcrEngine) -> None:
        crop = np.ascontiguousarray(page()[150:260])
        blank = np.full((60, 300), 255, np.uint8)
        none, words = engine.read_lines([blank, crop], ("eng",))
        assert all(w.confidence < 0.5 for w in none)
        assert " ".join(w.text for w in words) == LINES[1]
        assert 40 < words[0].left < words[-1].right < 640

    def test_keeps_nothing_between_calls(self, engine: OcrEngine) -> None:
        first = engine.read(page(), ("eng",), None)
        engine.read_lines([np.full((60, 300), 255, np.uint8)], ("eng",))
        assert engine.read(page(), ("eng",), None) == first

    def test_an_empty_page_has_no_words(self, engine: OcrEngine) -> None:
        assert engine.read(np.full((400, 400), 255, np.uint8), ("eng",), None) == []

    def test_names_itself(self, engine: OcrEngine) -> None:
        assert engine.version
        assert "eng" in engine.languages()
        assert list(engine.languages()) == sorted(engine.languages())


def _word(text: str, left: float, right: float, trust: Trust = Trust.SURE) -> EngineWord:
    return EngineWord(text, left, 10, right, 30, 0.95, 0, 0, trust=trust)


def test_words_that_two_readings_say_are_agreed_with_the_closer_boxes_and_spaces() -> None:
    read = [_word("TotalDue:", 5, 110), _word("16,020.00", 200, 300)]
    other = [_word("Total", 10, 50), _word("Due:", 60, 100), _word("16,020.00", 205, 295)]
    made = merged(read, other)
    assert [(w.text, w.left, w.trust) for w in made] == [
        ("Total", 10, Trust.AGREED), ("Due:", 60, Trust.AGREED), ("16,020.00", 205, Trust.AGREED),
    ]  # fmt: skip


def test_words_that_two_readings_differ_in_are_doubted_where_the_other_is_sure() -> None:
    read = [_word("Total", 10, 50), _word("16,020.00", 200, 300)]
    sure = merged(read, [_word("Total", 10, 50), _word("18,020.00", 200, 300)])
    assert [(w.text, w.trust) for w in sure] == [
        ("Total", Trust.AGREED), ("16,020.00", Trust.DOUBTFUL),
    ]  # fmt: skip
    unsure = merged(read, [_word("l8,02", 200, 300, Trust.DOUBTFUL)])
    assert [w.trust for w in unsure] == [Trust.SURE, Trust.SURE]


def test_odd_rows_of_tsv_are_left_out() -> None:
    row = "5\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96.5\tword"
    odd = [
        "",
        "5\t1",
        row.replace("96.5", "x"),
        row.replace("word", "  "),
        row.replace("5\t1", "4\t1", 1),
    ]
    ((word,),) = parse_tsv("\n".join([row, *odd]), 2.0)
    assert (word.text, word.left, word.bottom, word.confidence) == ("word", 5, 30, 0.965)


class Unsure(Tesseract):
    """Tesseract on a page that it doubts."""

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        read = super().read(image, languages, dpi)
        return [replace(w, confidence=0.7, trust=Trust.DOUBTFUL) for w in read]


@pytest.mark.skipif(len(ENGINES) < 3, reason="needs both engines")
def test_what_two_engines_say_is_agreed() -> None:
    words = Auto(Unsure(), Rapid()).read(page(), ("eng",), None)
    assert " ".join(w.text for w in words) == " ".join(LINES)
    assert {(w.trust, w.engine) for w in words} == {(Trust.AGREED, "tesseract")}


@pytest.mark.skipif(len(ENGINES) < 3, reason="needs both engines")
def test_what_one_engine_says_is_as_sure_as_its_confidence_is_worth() -> None:
    for engine, sure in zip(ENGINES, (0.9, 0.8), strict=False):
        for word in engine.read(page(), ("eng",), None):
            assert word.trust is (Trust.SURE if word.confidence >= sure else Trust.DOUBTFUL)
    (line,) = ENGINES[2].read_lines([page()[150:260]], ("eng",))
    assert {w.engine for w in line} == {"rapidocr"}
