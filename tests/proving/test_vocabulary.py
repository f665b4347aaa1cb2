"""The data files of words: their shape, and what CLDR knows is taken from it."""

import json
import runpy
import tomllib
from pathlib import Path

import pytest
from visualproof_server.proving.vocabulary.words import (
    PACKAGE,
    Vocabulary,
    caption_words,
    files,
    vocabulary,
)

LANGUAGES = [f for f in files() if f.name.endswith(".toml") and len(f.name) <= 8]
ENGLISH = tomllib.loads(next(f for f in LANGUAGES if f.name == "en.toml").read_text("utf-8"))
# What every language has to say for invoices to be told apart.
NEEDED = ("total", "subtotal", "tax", "date", "due_date", "invoice_number")


@pytest.mark.parametrize("file", LANGUAGES, ids=lambda f: f.name)
def test_a_language_has_the_lists_that_are_known_and_the_roles_that_count(file: object) -> None:
    data = tomllib.loads(file.read_text("utf-8"))  # type: ignore[attr-defined]
    assert set(data) <= set(ENGLISH) | {"months"}
    for group in ("captions", "bounds", "bounds_after"):
        assert set(data.get(group, {})) <= {*ENGLISH[group], "<", ">"}, group
    assert [role for role in NEEDED if not data["captions"].get(role)] == []


def test_no_caption_of_a_language_is_two_decisive_roles() -> None:
    decisive = ("total", "subtotal", "tax", "discount", "tendered", "change")
    for file in LANGUAGES:
        captions = tomllib.loads(file.read_text("utf-8"))["captions"]
        seen: dict[tuple[str, ...], str] = {}
        for role in decisive:
            for phrase in captions.get(role, ()):
                assert seen.setdefault(caption_words(phrase), role) == role, (file.name, phrase)


@pytest.mark.parametrize(
    ("list_", "word", "means"),
    [
        ("scales", "million", (6,)), ("scales", "milliarden", (9,)), ("scales", "億", (8,)),
        ("units", "kWh", "kWh"), ("units", "Watts".casefold(), "W"), ("units", "MW", "MW"),
        ("currency_signs", "r$", frozenset({"BRL"})), ("months", "aout", frozenset({8})),
    ],
)  # fmt: skip
def test_words_mean(list_: str, word: str, means: object) -> None:
    assert getattr(vocabulary(), list_)[word] == means


def test_units_that_differ_by_case_are_not_folded() -> None:
    assert "mw" not in vocabulary().units
    assert vocabulary().units["kg"] == vocabulary().units["kgs"] == "kg"


def test_what_cldr_knows_is_up_to_date() -> None:
    maker = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "make_cldr.py"))
    kept = json.loads(maker["FILE"].read_text("utf-8"))
    assert kept["months"] == maker["months"]()
    assert kept["scales"] == maker["scales"]()


def test_the_vocabulary_is_part_of_the_rules_version() -> None:
    assert isinstance(vocabulary(), Vocabulary)
    assert PACKAGE.endswith("proving.vocabulary")
