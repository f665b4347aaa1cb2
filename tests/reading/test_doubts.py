"""Numbers whose ink can be meant in two ways, drawn, as engines read them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from proving.pages import printed
from visualproof_server.model.document import Line, Page, Trust, Word
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.reading.doubts import doubted
from visualproof_server.reading.raster import Grey

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
BLANK = printed(["x"]).pages[0]


class Print:
    """A white page; what is drawn is read as it is told."""

    def __init__(self) -> None:
        self._image = Image.new("L", (1000, 300), 255)
        self._pen = ImageDraw.Draw(self._image)
        self._words: list[Word] = []

    @property
    def image(self) -> Grey:
        return np.asarray(self._image)

    def draw(self, x: float, y: float, text: str, size: int = 40) -> Box:
        font = ImageFont.truetype(FONT, size)
        self._pen.text((x, y), text, 0, font)
        return Box(*(round(v) for v in self._pen.textbbox((x, y), text, font)))

    def rule(self, x: int) -> "Print":
        self._pen.line((x, 40, x, 120), 0, 2)
        return self

    def line(self, left: int, y: int, right: int) -> None:
        self._pen.line((left, y, right, y), 0, 3)

    def word(self, text: str, *boxes: Box) -> "Print":
        """A word that an engine reads around some boxes."""
        box = Box(
            min(b.left for b in boxes), min(b.top for b in boxes),
            max(b.right for b in boxes), max(b.bottom for b in boxes),
        )  # fmt: skip
        self._words.append(Word(text, box, quad_of(box), 0.99, "rapidocr", Trust.AGREED))
        return self

    def page(self, image: Grey | None = None) -> Page:
        line = Line(tuple(self._words))
        page = replace(BLANK, width=1000, height=300, lines=(line,))
        return doubted(page, self.image if image is None else image)

    def unclear(self, image: Grey | None = None) -> list[str]:
        return [w.text for w in self.page(image).words if w.trust is Trust.UNCLEAR]


@pytest.mark.parametrize(("base", "raised"), [("£19", "99"), ("7", "50"), ("10", "3")])
def test_raised_digits_that_were_read_as_plain_ones(base: str, raised: str) -> None:
    sheet = Print()
    low = sheet.draw(100, 60, base)
    high = sheet.draw(low.right + 3, 58, raised, 22)
    assert sheet.word(base + raised, low, high).unclear() == [base + raised]


def test_a_raised_digit_that_was_read_as_such_is_clear() -> None:
    sheet = Print()
    low = sheet.draw(100, 60, "86")
    high = sheet.draw(low.right + 3, 58, "2", 22)
    assert sheet.word("86²", low, high).unclear() == []


@pytest.mark.parametrize(
    "text",
    ["1,234.56", "-16.20", "12:45", "INV-2026/0417", "A4", "$1,299.00", "50%", '5"', "gp9y7"],
)
def test_plain_print_is_clear(text: str) -> None:
    sheet = Print()
    assert sheet.word(text, sheet.draw(100, 60, text)).unclear() == []


def test_a_point_that_was_not_read_parts_no_numbers() -> None:
    sheet = Print()
    left = sheet.draw(100, 60, "19")
    point = sheet.draw(left.right + 6, 60, ".")
    right = sheet.draw(point.right + 6, 60, "93")
    assert sheet.word("19", left).word("93", right).unclear() == ["19", "93"]
    apart = Print()
    left, right = apart.draw(100, 60, "19"), apart.draw(180, 60, "93")
    assert apart.word("19", left).word("93", right).unclear() == []


def test_digits_that_were_not_read_make_their_neighbour_unclear() -> None:
    sheet = Print()
    lost = sheet.draw(100, 60, "2")
    point = sheet.draw(lost.right + 5, 60, ".")
    right = sheet.draw(point.right + 5, 60, "98")
    assert sheet.word("98", right).unclear() == ["98"]
    # Also in a shadow.
    dark = (sheet.image * np.linspace(0.95, 0.45, 1000)[None, :]).astype(np.uint8)
    assert sheet.unclear(dark) == ["98"]
    assert sheet.unclear(cv2.GaussianBlur(dark, (3, 3), 0)) == ["98"]


@pytest.mark.parametrize("text", ["5%o", "%0"])
def test_a_per_cent_sign_with_one_more_zero_may_be_per_mille(text: str) -> None:
    sheet = Print()
    number = sheet.draw(100, 60, "12")
    sign = sheet.draw(number.right + 12, 60, text)
    assert sheet.word("12", number).word(text, sign).unclear() == [text]


def test_a_glyph_outside_of_a_box_that_is_too_narrow_was_read() -> None:
    sheet = Print()
    first = sheet.draw(100, 60, "C")
    rest = sheet.draw(first.right + 8, 60, "N-551207")
    (word,) = sheet.word("CN-551207", rest).page().words
    assert word.trust is Trust.AGREED
    assert abs(word.box.left - first.left) <= 3
    assert word.box.right == rest.right


def test_ink_further_off_or_of_another_size_is_no_digit() -> None:
    sheet = Print()
    sheet.draw(100, 60, "2")
    right = sheet.draw(250, 60, "98")
    sheet.rule(235)
    assert sheet.word("98", right).unclear() == []


def test_single_digits_in_a_forms_boxes_may_be_one_number() -> None:
    sheet = Print()
    for number, digit in enumerate("417"):
        sheet.word(digit, sheet.draw(100 + 50 * number, 60, digit)).rule(140 + 50 * number)
    assert sheet.unclear() == ["4", "1", "7"]
    table = Print()
    for number, digits in enumerate(("417", "203")):
        table.word(digits, table.draw(100 + 130 * number, 60, digits)).rule(210 + 130 * number)
    assert table.unclear() == []


@pytest.mark.parametrize("text", ["1,250.00", "days"])
def test_what_is_struck_out_is_unclear_and_what_is_underlined_is_not(text: str) -> None:
    sheet = Print()
    struck, under = sheet.draw(60, 40, text), sheet.draw(400, 40, text)
    middle = round(struck.middle)
    for left, right, y in (
        (56, struck.right + 4, middle),
        (396, under.right + 4, under.bottom + 2),
    ):
        sheet.line(left, y, right)
    assert sheet.word(text, struck).word(text, under).page().words[1].trust is Trust.AGREED
    assert sheet.unclear() == [text]


def test_bars_of_letters_are_no_stroke() -> None:
    sheet = Print()
    assert sheet.word("TEETHE", sheet.draw(60, 40, "TEETHE", 20)).unclear() == []
