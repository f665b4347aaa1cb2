"""A short run of each fuzz target; bench/fuzzing.py runs them for as long as one likes."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz.targets import TARGETS, answers

PIECES = [
    "<LINE 7>", "</TABLE 1>", "< page 2 >", "<L12>", "\u200b", "\u2028", "1.250", "12.", "1e999",
    "٣٤٥", "२५", "½", "²", "(52)", "-", "−", "$", "€", "%", "31.12.2026", "03/04/26", "29 février",
    "2026-W09", "12:30", "5\t1\t1\t1\t1\t1\t10\t10\t20\t20\t96\tword", "\n", "..", "/", "\x00",
    "ab" * 16, "null", "NaN", '{"value":', '"proof":[', "]}", "0" * 70, "9" * 400,
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join)


@pytest.mark.parametrize("name", TARGETS)
def test_target(name: str) -> None:
    @given(TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=200))
    @settings(max_examples=300, deadline=None)
    @example(b"")
    @example(b"\xff\xfe\x00")
    def run(data: bytes) -> None:
        TARGETS[name](data)

    run()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["value", "proof", "derivation", "type", "line", "id", "page", "a", "b/c"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@pytest.mark.slow
@given(JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_is_an_answer_or_refused(value: object) -> None:
    answers(json.dumps(value).encode())
