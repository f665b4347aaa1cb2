"""Check boxes told from the ink."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from visualproof_server.model.document import Trust
from visualproof_server.reading.boxes import with_boxes
from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.raster import Grey

FONT = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 30)
SIDE = 32


class Sheet:
    """A page of options, each a line, with the words that an engine would read."""

    def __init__(self) -> None:
        self.image = Image.new("L", (900, 700), 255)
        self.pen = ImageDraw.Draw(self.image)
        self.words: list[EngineWord] = []

    def text(self, text: str, left: float, top: float) -> None:
        self.pen.text((left, top), text, fill=0, font=FONT)
        box = self.pen.textbbox((left, top), text, font=FONT)
        self.words.append(EngineWord(text, *box, 0.97, 0, len(self.words), trust=Trust.AGREED))

    def box(self, left: float, top: float, draw: str = "") -> None:
        right, bottom = left + SIDE, top + SIDE
        self.pen.rectangle((left, top, right, bottom), outline=0, width=3)
        if draw == "cross":
            self.pen.line((left + 6, top + 6, right - 6, bottom - 6), fill=0, width=3)
            self.pen.line((left + 6, bottom - 6, right - 6, top + 6), fill=0, width=3)
        elif draw == "tick":
            points = [(left + 6, top + 16), (left + 13, top + 25), (right - 5, top + 5)]
            self.pen.line(points, fill=0, width=4)
        elif draw == "black":
            self.pen.rectangle((left, top, right, bottom), fill=0)

    def option(self, row: int, draw: str, text: str) -> None:
        self.box(60, 60 + 70 * row, draw)
        self.text(text, 110, 58 + 70 * row)

    def marks(self, turn: float = 0.0) -> str:
        image = self.image.rotate(turn, fillcolor=255) if turn else self.image
        pixels: Grey = np.asarray(image)
        made = [w for w in with_boxes(self.words, pixels) if w.text in ("☐", "☒")]
        return "".join(w.text for w in sorted(made, key=lambda w: (w.top, w.left)))


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_box_beside_words_is_empty_or_ticked(turn: float) -> None:
    sheet = Sheet()
    for row, draw in enumerate(["", "cross", "tick", "black", ""]):
        sheet.option(row, draw, f"Option {row}")
    assert sheet.marks(turn) == "☐☒☒☒☐"


def test_what_engines_made_of_a_box_gives_way_to_it() -> None:
    sheet = Sheet()
    sheet.option(0, "cross", "Yes")
    sheet.option(1, "", "No")
    sheet.option(2, "", "Other")
    sheet.words.append(EngineWord("区", 60, 60, 92, 92, 0.6, 0, 90, trust=Trust.DOUBTFUL))
    sheet.words.append(EngineWord("L]", 58, 130, 92, 165, 0.3, 0, 91))
    assert sheet.marks() == "☒☐☐"
    kept = {w.text for w in with_boxes(sheet.words, np.asarray(sheet.image))}
    assert kept == {"☒", "☐", "Yes", "No", "Other"}


def test_a_comb_letters_and_bullets_are_no_check_boxes() -> None:
    sheet = Sheet()
    for place in range(5):
        sheet.box(60 + place * (SIDE + 6), 60)
    sheet.text("Number", 60 + 5 * (SIDE + 6) + 8, 58)
    sheet.box(60, 140)
    sheet.text("7", 68, 138)
    sheet.text("digit", 120, 138)
    for row, text in enumerate(["O D 0 Q B 8", "HOME", "日口回 田"]):
        sheet.text(text, 60, 220 + 60 * row)
    sheet.box(60, 420, "black")
    sheet.text("a bullet", 110, 418)
    assert sheet.marks() == ""
