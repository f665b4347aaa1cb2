"""How words are stored."""

import json

import pytest
from visualproof_server.model import codec
from visualproof_server.model.document import Trust, Word
from visualproof_server.model.geometry import Box, quad_of

BOX = Box(10, 20, 50, 40)


@pytest.mark.parametrize("trust", list(Trust))
def test_a_word_keeps_its_trust(trust: Trust) -> None:
    word = Word("16,020.00", BOX, quad_of(BOX), 0.95, "tesseract", trust)
    assert codec.loads(Word, codec.dumps(word)) == word


@pytest.mark.parametrize(
    ("confidence", "engine", "trust"),
    [
        (0.95, "tesseract", Trust.SURE),
        (0.85, "rapidocr", Trust.DOUBTFUL),
        (None, "tesseract", Trust.DOUBTFUL),
        (1.0, "text_layer", Trust.UNSEEN),
        (0.99, "textract", Trust.UNSEEN),
    ],
)
def test_a_word_that_was_stored_without_trust_gets_what_it_was_worth(
    confidence: float | None, engine: str, trust: Trust
) -> None:
    stored = json.dumps(["90.00", 10, 20, 50, 40, confidence, engine, None]).encode()
    assert codec.loads(Word, stored) == Word("90.00", BOX, quad_of(BOX), confidence, engine, trust)
