"""Second readings of words, by the real engines on drawn print."""

from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from visualproof_server.model.geometry import Box
from visualproof_server.model.second_reading import Place
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.second_reading import second_readings
from visualproof_server.reading.tesseract import Tesseract

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
ENGINES: dict[str, OcrEngine] = {"tesseract": Tesseract()}
if find_spec("rapidocr") is not None:
    from visualproof_server.reading.rapid import Rapid

    ENGINES["rapidocr"] = Rapid()
BOTH = pytest.mark.skipif(len(ENGINES) < 2, reason="needs both engines")
BOX = Box(60, 40, 330, 70)


def page(ground: int = 255, ink: int = 0) -> np.ndarray:
    image = Image.new("L", (500, 200), ground)
    ImageDraw.Draw(image).text((60, 34), "Total 16,020.00", ink, ImageFont.truetype(FONT, 32))
    return np.asarray(image)


def read(
    engine: str, attempt: int = 0, languages: tuple[str, ...] = ("eng",), image: np.ndarray | None = None,
    engines: dict[str, OcrEngine] = ENGINES,
) -> list[tuple[str, str]]:  # fmt: skip
    """(engine, text) of each reading of the line."""
    place = Place(1, BOX, engine, attempt)
    found = second_readings(page() if image is None else image, [place], languages, engines)
    return [(r.engine, " ".join(w for w, _ in r.words)) for r in found[place]]


@BOTH
def test_the_best_engine_reads_it_at_two_sizes_and_then_the_other() -> None:
    said = "Total 16,020.00"
    for reader in ("tesseract", "rapidocr", "text_layer", "textract"):
        assert read(reader) == [("rapidocr", said)] * 2
    assert read("tesseract", 1) == [("tesseract", said)] * 2
    for reader in ("rapidocr", "text_layer", "textract"):
        assert read(reader, 1) == [("tesseract", said)]


@BOTH
def test_an_engine_without_the_documents_languages_is_not_asked() -> None:
    assert read("tesseract", 0, ("eng", "osd")) == []
    assert {engine for engine, _ in read("text_layer", 0, ("eng", "osd"))} == set()


def test_tesseract_alone_repeats_itself_only_where_it_was_in_doubt() -> None:
    alone = {"tesseract": ENGINES["tesseract"]}
    assert read("tesseract", engines=alone) == []
    assert len(read("tesseract", 1, engines=alone)) == 2
    assert len(read("text_layer", engines=alone)) == 1
    assert read("text_layer", 1, engines=alone) == []


@BOTH
def test_light_print_on_a_dark_ground_is_read_too() -> None:
    assert read("tesseract", image=page(20, 240)) == [("rapidocr", "Total 16,020.00")] * 2


@BOTH
def test_what_is_read_does_not_depend_on_what_else_is_asked() -> None:
    image = page()
    alone, wide = Place(1, Box(160, 40, 330, 70), "tesseract"), Place(1, BOX, "tesseract")
    one = second_readings(image, [alone], ("eng",), ENGINES)[alone]
    both = second_readings(image, [wide, alone], ("eng",), ENGINES)
    assert both[alone] == one
    assert list(both) == [wide, alone]


def test_a_box_outside_of_the_page_reads_as_nothing() -> None:
    place = Place(1, Box(900, 900, 950, 920), "text_layer")
    assert second_readings(page(), [place], ("eng",), ENGINES) == {place: ()}
