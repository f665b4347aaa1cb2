"""Pages drawn for tests, with the words that a perfect engine reads on them."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from visualproof_server.reading.cleanup import clean
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.tables.find import find_tables
from visualproof_server.reading.tables.grid import Grid

FONT = ImageFont.truetype(next(Path("/usr/share/fonts").rglob("DejaVuSans.ttf")).as_posix(), 20)


class NoEngine:
    """An engine that sees nothing in a second reading."""

    name, version = "none", "1"

    @property
    def scout(self) -> OcrEngine:
        return self

    def languages(self) -> tuple[str, ...]:
        return ("eng",)

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        return []

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        return [[] for _ in images]


class Sheet:
    """A white page of 1240 x 1754 pixels."""

    def __init__(self, ground: int = 255) -> None:
        self._image = Image.new("L", (1240, 1754), ground)
        self._draw = ImageDraw.Draw(self._image)
        self.words: list[EngineWord] = []

    @property
    def image(self) -> Grey:
        return np.asarray(self._image)

    def text(self, x: float, y: float, text: str, known: bool = True, grey: int = 0) -> "Sheet":
        """Prints a line; known: the engine read it."""
        line = len({w.line for w in self.words})
        for word in text.split():
            box = self._draw.textbbox((x, y), word, FONT)
            self._draw.text((x, y), word, grey, FONT)
            if known:
                self.words.append(EngineWord(word, *box, 0.95, 0, line))
            x += self._draw.textlength(word + " ", FONT)
        return self

    def rows(self, xs: list[float], y: float, rows: list[list[str]], pitch: float = 40) -> "Sheet":
        """Prints cells at xs, row under row."""
        for number, row in enumerate(rows):
            for x, text in zip(xs, row, strict=True):
                if text:
                    self.text(x, y + pitch * number, text)
        return self

    def rule(self, x0: float, y0: float, x1: float, y1: float, width: int = 2) -> "Sheet":
        self._draw.line((x0, y0, x1, y1), 0, width)
        return self

    def grid(self, xs: list[float], ys: list[float]) -> "Sheet":
        """Rules along all edges."""
        for x in xs:
            self.rule(x, ys[0], x, ys[-1])
        for y in ys:
            self.rule(xs[0], y, xs[-1], y)
        return self

    def shade(self, x0: float, y0: float, x1: float, y1: float, grey: int) -> "Sheet":
        self._draw.rectangle((x0, y0, x1, y1), grey)
        return self

    def found(self) -> tuple[list[Grid], list[EngineWord]]:
        """Tables, and words that stand in none, of the cleaned page."""
        return find_tables(clean(self.image).image, self.words, NoEngine(), ("eng",))

    def tables(self) -> list[Grid]:
        return self.found()[0]

    def loose(self) -> list[str]:
        return [w.text for w in self.found()[1]]


def texts(grid: Grid) -> list[list[str]]:
    """Rows of texts; places that a merged cell covers repeat it."""
    out = [["" for _ in range(grid.columns)] for _ in range(grid.rows)]
    for cell in grid.cells:
        for row in range(cell.row, cell.row_end):
            for column in range(cell.column, cell.column_end):
                out[row][column] = cell.text
    return out
