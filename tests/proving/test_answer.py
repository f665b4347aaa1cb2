"""The answer parser: strict, bounded, decimals."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visualproof_server.model.answer import Proof
from visualproof_server.model.errors import VisualProofError
from visualproof_server.proving.answer import MAX_FIELDS, parse_answer


def code_of(text: str | bytes) -> str:
    with pytest.raises(VisualProofError) as caught:
        parse_answer(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return caught.value.code


def test_fields_nested_and_plain() -> None:
    claims = parse_answer(
        b'{"a": {"value": 4.0, "proof": [{"type": "WORD", "line": 2, "value": "4"}]},'
        b' "items": [{"n": 1}, {"n": null}], "x/y": "z"}'
    )
    assert [(c.path, c.value, c.value_json) for c in claims] == [
        ("/a", Decimal("4.0"), "4.0"),
        ("/items/0/n", Decimal(1), "1"),
        ("/items/1/n", None, "null"),
        ("/x~1y", "z", '"z"'),
    ]
    assert claims[0].proofs == (Proof("WORD", id=2, text="4"),)


def test_an_object_with_more_than_field_keys_nests() -> None:
    assert [c.path for c in parse_answer(b'{"value": 1, "unit": "kg"}')] == ["/value", "/unit"]


def test_one_proof_object_counts_as_a_list() -> None:
    (claim,) = parse_answer(b'{"a": {"value": 1, "proof": {"type": "LINE", "id": 3}}}')
    assert claim.proofs == (Proof("LINE", id=3),)


@pytest.mark.parametrize(
    "proof",
    ['"L3"', '{"type": "LINE"}', '{"type": "NOPE", "id": 1}', '{"type": "LINE", "id": -1}',
     '{"type": "QUOTE", "text": " "}', '{"type": "REGION", "page": 1, "box": [0, 0, 2, 1]}',
     '{"type": "CELL", "table": 1}', '{"type": "WORD", "line": 1.5, "value": "x"}'],
)  # fmt: skip
def test_a_malformed_proof_is_counted_not_raised(proof: str) -> None:
    (claim,) = parse_answer(f'{{"a": {{"value": 1, "proof": [{proof}]}}}}'.encode())
    assert (claim.proofs, claim.malformed) == ((), 1)


@pytest.mark.parametrize(
    "text",
    ["", "no", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": Infinity}', '{"a": "\\ud800"}', "[1,]",
     '{"a": 1} x'],
)  # fmt: skip
def test_what_is_not_json(text: str) -> None:
    assert code_of(text) == "ANSWER_NOT_JSON"


def test_not_utf8() -> None:
    assert code_of(b"\xff\xfe") == "ANSWER_NOT_JSON"


@pytest.mark.parametrize(
    "text",
    ["[" * 40 + "]" * 40, '{"a": 1E+999999}', '{"a": 1e31}', '{"a": ' + "9" * 65 + "}",
     json.dumps(list(range(MAX_FIELDS + 1))), json.dumps("x" * 20_001), " " * (4 * 1024 * 1024 + 1)],
)  # fmt: skip
def test_bounds(text: str) -> None:
    assert code_of(text) == "ANSWER_TOO_LARGE"


@given(st.binary(max_size=200))
def test_any_bytes_are_claims_or_a_coded_error(data: bytes) -> None:
    try:
        parse_answer(data)
    except VisualProofError as error:
        assert error.code in ("ANSWER_NOT_JSON", "ANSWER_TOO_LARGE")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_claims(value: object) -> None:
    for claim in parse_answer(json.dumps(value).encode("utf-8")):
        assert claim.path == "" or claim.path.startswith("/")
