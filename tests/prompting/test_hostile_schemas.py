"""Schemas and fields made to hurt: each ends at once with a code, or with a schema of bounded size."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import FieldSpec
from visualproof_server.prompting import schema


def leaf(**members: Any) -> str:
    return json.dumps({"type": "object", "properties": {"x": {"type": "string", **members}}})


def fan(levels: int, each: int, last: dict[str, Any]) -> str:
    """Objects whose properties all refer to the next object: each to the levels leaves."""
    defs: dict[str, Any] = {
        f"d{n}": {
            "type": "object",
            "properties": {f"p{k}": {"$ref": f"#/$defs/d{n + 1}"} for k in range(each)},
        }
        for n in range(levels)
    }
    defs[f"d{levels}"] = last
    return json.dumps({"type": "object", "properties": defs["d0"]["properties"], "$defs": defs})


HOSTILE: dict[str, Callable[[], str]] = {
    "fan of 30 to the 4": lambda: fan(4, 30, {"type": "string"}),
    "fan of 4,000 to the 2": lambda: fan(2, 4000, {"type": "string"}),
    "fan over itself": lambda: fan(3, 40, {"$ref": "#/$defs/d0"}),
    "fan over nothing": lambda: fan(4, 60, {"$ref": "#/$defs/none"}),
    "a long description said often": lambda: fan(
        1, 300, {"type": "string", "description": "x" * 400_000}
    ),
    "a long enum said often": lambda: fan(1, 300, {"enum": ["y"] * 90_000}),
    "numbers said often": lambda: fan(1, 300, {"enum": [1] * 90_000}),
    "a long reference": lambda: fan(1, 300, {"$ref": "#/" + "a/" * 100_000}),
    "a long name": lambda: json.dumps({"type": "object", "properties": {"n" * 200_000: {}}}),
    "references in a ring": lambda: json.dumps(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}},
        }
    ),
    "brackets": lambda: "[" * 400_000,
    "nested objects": lambda: '{"type":"object","properties":{"a":' * 5000 + "1" + "}}" * 5000,
    "nested lists": lambda: (
        '{"type":"object","properties":{"a":' + '{"type":"array","items":' * 300 + "{}" + "}" * 302
    ),
    "a deep constant": lambda: (
        '{"type":"object","properties":{"x":{"const":' + "[" * 900 + "]" * 900 + "}}}"
    ),
    "a long number": lambda: '{"type":"object","properties":{"x":{"const":' + "9" * 5000 + "}}}",
    "infinity": lambda: '{"type":"object","properties":{"x":{"const":1e999}}}',
    "not a number": lambda: '{"type":"object","properties":{"x":{"enum":[NaN]}}}',
    "half a pair in a description": lambda: leaf(description="\ud800"),
    "half a pair in a name": lambda: '{"type":"object","properties":{"\\udfff":{}}}',
    "an enum that is none": lambda: leaf(enum=5),
    "a description that is none": lambda: leaf(description={"a": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_before_it_grows(name: str) -> None:
    text = HOSTILE[name]()
    tracemalloc.start()
    try:
        with pytest.raises(VisualProofError) as caught:
            schema.from_schema(text)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(text) + 20_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.code == "SCHEMA_INVALID"


def test_types_said_often_are_said_once() -> None:
    made = json.loads(schema.from_schema(leaf(type=["string", "null", {}, []] * 10_000)))
    assert made["properties"]["x"]["properties"]["value"] == {"type": ["string", "null"]}


@pytest.mark.parametrize(
    "paths",
    [
        ["/a" * 500],
        ["/" * 1000],
        [f"/{n}" for n in range(5000)],
        [f"/{n}/*/a" for n in range(5000)],
    ],
)
def test_fields_beyond_strict_modes_are_refused(paths: list[str]) -> None:
    with pytest.raises(VisualProofError) as caught:
        schema.from_fields([FieldSpec(p) for p in paths])
    assert caught.value.code == "SCHEMA_INVALID"
