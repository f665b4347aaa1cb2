"""Published vectors of the folding, and its laws."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visualproof_server.proving.text.folding import (
    agree,
    compact,
    fold,
    fold_text,
    plain,
    tokens,
    unconfused,
)

VECTORS = [
    ("The ﬁnal oﬃce", "the final office"),
    ("œuvre Æsop Straße", "oeuvre aesop strasse"),
    ("2019–2020 −5", "2019-2020 -5"),
    ("“It’s”", '"it\'s"'),
    ("a\u00adb\u00a0c…", "ab c..."),
    ("٣٤٥ １２", "345 12"),
    ("नमस्ते", "नमस्ते"),
    ("10² 3½", "10² 3 1/2"),
    ("-1,200.00 20 % €5", "-1,200.00 20 % €5"),
]


@pytest.mark.parametrize(("text", "folded"), VECTORS)
def test_folds_as_published(text: str, folded: str) -> None:
    assert fold_text(text) == folded


@given(st.text(max_size=60))
def test_map_leads_back_into_the_source(text: str) -> None:
    folded = fold(text)
    assert len(folded.origin) == len(folded.text)
    assert all(0 <= i < len(text) for i in folded.origin)
    assert list(folded.origin) == sorted(folded.origin)


@given(st.text(alphabet="0123456789+-.,%€$£", max_size=40))
def test_folding_drops_no_sign_mark_percent_or_currency(text: str) -> None:
    assert fold_text(text) == text


@given(st.text(max_size=40))
def test_plain_keeps_length(text: str) -> None:
    assert len(plain(text)) == len(text)


@given(st.text(max_size=40))
def test_letters_and_digits_never_fold_to_nothing(text: str) -> None:
    if any(unicodedata.category(c)[0] in "LN" for c in text):
        assert tokens(text)


def test_tokens_keep_what_must_be_equal() -> None:
    assert [t.text for t in tokens("Net (52) -1,200.00 $12.4M, 20 %")] == [
        "net", "(", "52", ")", "-", "1,200.00", "$", "12.4", "m", "20", "%",
    ]  # fmt: skip


def test_spaces_do_not_matter_between_letters_and_matter_between_numbers() -> None:
    assert compact(tokens("now here")) == compact(tokens("nowhere"))
    assert compact(tokens("12 34")) != compact(tokens("1234"))


def test_a_comma_that_cannot_group_parts_two_numbers() -> None:
    assert compact(tokens("7/4,81200")) == compact(tokens("7/4, 81200"))
    assert compact(tokens("1,234")) != compact(tokens("1 234"))


def test_nothing_folds_to_nothing() -> None:
    assert tokens("\u00ad") == []


def test_printed_markers_match_their_defused_form() -> None:
    assert compact(tokens("<LINE 7>x")) == compact(tokens("\u2039LINE 7>x"))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (["total", "60.30"], ["total", "60.30"], True),
        (["totai", "60.30"], ["total", "60.30"], True),
        (["60.30"], ["160.30"], False),
        (["60.30"], ["60.305"], False),
        (["60.30"], ["60.80"], False),
        (["60.30"], [], False),
    ],
)
def test_two_readings_agree_only_on_the_whole_token(
    first: list[str], second: list[str], same: bool
) -> None:
    assert agree(first, second, {len(first) - 1}) is same


def test_look_alikes_are_digits_only_beside_digits() -> None:
    assert unconfused("January l1, 2O28") == "January 11, 2028"
