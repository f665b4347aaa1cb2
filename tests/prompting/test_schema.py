"""The answer schema, as strict structured-output modes want it."""

import json
from typing import Any

import pytest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import FieldSpec
from visualproof_server.prompting import schema

_KEYWORDS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "description",
}


def assert_strict(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            assert_strict(item)
    elif isinstance(node, dict):
        assert set(node) <= _KEYWORDS
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            for child in node["properties"].values():
                assert_strict(child)
        assert_strict(node.get("items", []))
        assert_strict(node.get("anyOf", []))


def test_fields_become_value_and_proof() -> None:
    made = json.loads(
        schema.from_fields([FieldSpec("/total", "money"), FieldSpec("/items/*/price", "money")])
    )
    assert_strict(made)
    assert made["properties"]["total"]["properties"]["value"]["type"] == [
        "number",
        "string",
        "null",
    ]
    item = made["properties"]["items"]["items"]
    assert list(item["properties"]["price"]["properties"]) == ["value", "proof"]


def test_a_callers_schema_is_doubled_through_references() -> None:
    own = {
        "type": "object",
        "properties": {
            "vendor": {"type": "string", "minLength": 3},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        },
        "$defs": {
            "line": {
                "type": "object",
                "properties": {"qty": {"type": "integer"}, "unit": {"enum": ["kg", "t"]}},
            }
        },
    }
    made = json.loads(schema.from_schema(json.dumps(own)))
    assert_strict(made)
    line = made["properties"]["lines"]["items"]["properties"]
    assert line["qty"]["properties"]["value"] == {"type": ["integer", "null"]}
    assert line["unit"]["properties"]["value"]["enum"] == ["kg", "t", None]


def test_no_fields_no_schema() -> None:
    assert schema.from_fields([]) == ""


@pytest.mark.parametrize(
    "text",
    ["no", "[]", '{"type": "string"}', '{"type": "object"}', '{"type":"object","properties":{"a":{"$ref":"http://x"}}}',
     '{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}'],
)  # fmt: skip
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(VisualProofError) as caught:
        schema.from_schema(text)
    assert caught.value.code == "SCHEMA_INVALID"


@pytest.mark.parametrize("paths", [["total"], ["/a", "/a/b"], ["/a/*", "/a/b"]])
def test_paths_that_clash(paths: list[str]) -> None:
    with pytest.raises(VisualProofError) as caught:
        schema.from_fields([FieldSpec(p) for p in paths])
    assert caught.value.code == "FIELDS_INVALID"
