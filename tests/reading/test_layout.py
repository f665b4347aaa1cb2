"""Lines, columns, noise."""

import numpy as np
from visualproof_server.reading.cleanup import Cleaned
from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.layout import drop_noise, to_lines

LEVEL = Cleaned(np.zeros((10, 10), np.uint8), np.array([[1.0, 0, 0], [0, 1.0, 0]]))


def words(*lines: tuple[int, int, str], confidence: float = 0.9) -> list[EngineWord]:
    """Each (left, top, text) is an engine's line; 10 pixels a character, 20 high."""
    out = []
    for number, (left, top, text) in enumerate(lines):
        at = left
        for word in text.split(" "):
            out.append(
                EngineWord(word, at, top, at + 10 * len(word), top + 20, confidence, 0, number)
            )
            at += 10 * (len(word) + 1)
    return out


def texts(found: list[EngineWord]) -> list[str]:
    return [line.text for line in to_lines(found, LEVEL, "test")[0]]


def test_pieces_of_one_row_are_one_line() -> None:
    assert texts(words((400, 102, "33.90"), (10, 100, "Total"), (10, 140, "Cash"))) == [
        "Total 33.90",
        "Cash",
    ]


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    rows = [(10, 40 + 30 * n, f"left column line {'abcdef'[n]}") for n in range(6)]
    rows += [(500, 46 + 30 * n, f"right column line {'abcdef'[n]}") for n in range(6)]
    found = texts(
        words((10, 0, "A heading that goes across both of the columns of the page"), *rows)
    )
    assert found[1:] == [f"{side} column line {c}" for side in ("left", "right") for c in "abcdef"]


def test_a_table_row_is_not_torn_into_columns() -> None:
    rows = [(10, 40 + 30 * n, "Some long item description here") for n in range(6)]
    rows += [(500, 40 + 30 * n, f"{n}.00") for n in range(6)]
    assert texts(words(*rows))[0] == "Some long item description here 0.00"


def test_rules_and_specks_are_no_words() -> None:
    good = words((10, 10, "Total due today"))
    noise = [
        EngineWord("|", 0, 0, 4, 900, 0.9, 0, 9),
        EngineWord("—", 0, 50, 900, 54, 0.9, 0, 9),
        EngineWord(".", 400, 50, 402, 52, 0.2, 0, 9),
        EngineWord("x", 0, 0, 990, 990, 0.9, 0, 9),
        EngineWord("a", 5, 5, 5, 5, 0.9, 0, 9),
    ]
    assert drop_noise([*good, *noise], 1000, 1000) == good


def test_a_dash_between_words_stays() -> None:
    dash = EngineWord("-", 100, 18, 108, 21, 0.95, 0, 0)
    assert dash in drop_noise([*words((10, 10, "Total due")), dash], 1000, 1000)
