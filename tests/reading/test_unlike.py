"""A sign read as a digit is unlike the other digits of its page."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from visualproof_server.reading.unlike import Glyph, glyph, unlike_words

FONT = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 40)
PLAIN = ["2823.55", "1582.03", "2301.85", "58.32"]


def drawn(printed: str, read: str, word: int, noise: int = 0) -> list[Glyph]:
    """The characters of a word that was read as another may have been printed."""
    made = []
    rng = np.random.default_rng(word)
    for shown, character in zip(printed, read, strict=True):
        if not character.isalnum():
            continue
        image = Image.new("L", (60, 60), 255)
        ImageDraw.Draw(image).text((10, 5), shown, fill=0, font=FONT)
        ink = np.asarray(image) < 128
        rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
        cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        if noise:
            cut = cut ^ (rng.random(cut.shape) < noise / 100)
        made.append(glyph(character, word, cut))
    return made


def page(first: str, noise: int = 0) -> list[Glyph]:
    """A page of amounts, the first printed as given and read as its like of PLAIN."""
    words = [first, *PLAIN[1:]]
    return [
        g
        for number, (printed, read) in enumerate(zip(words, PLAIN, strict=True))
        for g in drawn(printed, read, number, noise)
    ]


def test_digits_that_are_what_was_read_are_like_each_other() -> None:
    assert unlike_words(page("2823.55")) == set()


@pytest.mark.parametrize("printed", ["₴823.55", "Z823.55", "28Z3.55"])
def test_a_sign_or_letter_that_was_read_as_a_digit_is_told(printed: str) -> None:
    assert unlike_words(page(printed)) == {0}


def test_print_that_varies_tells_nothing() -> None:
    assert unlike_words(page("₴823.55", noise=12)) == set()
