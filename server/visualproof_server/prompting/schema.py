"""The answer's JSON Schema: every leaf doubled into value and proof.

Kept to what strict structured-output modes accept: every object closed, all properties required,
nullable instead of optional, no keywords beyond type, enum, items, properties, required,
additionalProperties, anyOf, description.
"""

import json
from collections.abc import Iterable
from typing import Any

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import FieldSpec

# Limits of strict modes (OpenAI structured outputs: 10 levels, 5,000 properties, 120,000 characters of
# names and values).
MAX_LEVELS = 10
MAX_PROPERTIES = 5_000
MAX_TEXT = 120_000
_MAX_REFERENCE = 1_000
_NUMBER_KINDS = {"number", "money", "percent", "quantity"}


def _nullable(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _form(name: str, **members: dict[str, Any]) -> dict[str, Any]:
    return _closed({"type": {"type": "string", "enum": [name]}, **members})


PROOF: dict[str, Any] = {
    "type": "array",
    "items": {
        "anyOf": [
            _form("WORD", line={"type": "integer"}, value={"type": "string"}),
            _form("LINE", id={"type": "integer"}),
            _form("TABLE", id={"type": "integer"}),
            _form(
                "CELL",
                table={"type": "integer"},
                row={"type": "integer"},
                column={"type": "integer"},
                value=_nullable("string"),
            ),
        ]
    },
}


def doubled(leaf: dict[str, Any]) -> dict[str, Any]:
    """A field: value and proof."""
    return _closed({"value": leaf, "proof": PROOF})


def from_fields(fields: Iterable[FieldSpec]) -> str:
    """The schema for the paths of fields, as JSON; empty text for no fields.

    Errors FIELDS_INVALID, SCHEMA_INVALID.
    """
    tree: dict[str, Any] = {}
    empty = True
    for field in fields:
        empty = False
        _place(tree, field)
    if empty:
        return ""
    return _checked(_node(tree, "the answer"))


def _place(tree: dict[str, Any], field: FieldSpec) -> None:
    if not field.path.startswith("/"):
        raise VisualProofError(
            "FIELDS_INVALID",
            "A field's path is a JSON Pointer such as /total.",
            field_path="fields",
        )
    parts = [p.replace("~1", "/").replace("~0", "~") for p in field.path[1:].split("/")]
    if len(parts) > MAX_LEVELS:
        raise _invalid(f"A field is deeper than {MAX_LEVELS} levels, which strict modes take.")
    node = tree
    for part in parts[:-1]:
        node = node.setdefault(part, {})
        if isinstance(node, FieldSpec):
            raise _clash(field)
    if isinstance(node.setdefault(parts[-1], field), dict):
        raise _clash(field)


def _clash(field: FieldSpec) -> VisualProofError:
    return VisualProofError(
        "FIELDS_INVALID",
        "One field's path goes through another field; a field is a leaf.",
        field_path="fields",
    )


def _node(node: Any, name: str) -> dict[str, Any]:
    if isinstance(node, FieldSpec):
        leaf = _nullable("boolean" if node.kind == "boolean" else "string")
        if node.kind in _NUMBER_KINDS:
            leaf = {"type": ["number", "string", "null"]}
        hints = [f"kind {node.kind}"] if node.kind else []
        if node.labels:
            hints.append("printed at " + " or ".join(node.labels[:5]))
        if node.kind == "date":
            hints.append("as YYYY-MM-DD")
        if hints:
            leaf["description"] = "; ".join(hints)
        return doubled(leaf)
    if set(node) == {"*"} or any(key == "*" for key in node):
        if set(node) != {"*"}:
            raise VisualProofError(
                "FIELDS_INVALID", f"{name} is both a list and an object.", field_path="fields"
            )
        return {"type": "array", "items": _node(node["*"], name)}
    return _closed({key: _node(child, key) for key, child in node.items()})


def from_schema(text: str) -> str:
    """A caller's JSON Schema with its leaves doubled, as JSON; error SCHEMA_INVALID."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid("The schema is not JSON.") from None
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _invalid("The schema's root must have type object.")
    return _checked(_Doubling(schema).of(schema, 0))


class _Doubling:
    """Doubles a schema's leaves. References may fan out: what it makes is counted as it is made."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._nodes = 0
        self._text = 0

    def of(self, node: Any, depth: int) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > MAX_PROPERTIES:
            raise _invalid(
                f"The schema says more than the {MAX_PROPERTIES} properties of strict modes."
            )
        if depth > MAX_LEVELS or not isinstance(node, dict):
            raise _invalid(
                f"The schema is deeper than {MAX_LEVELS} levels, or not made of objects."
            )
        if "$ref" in node:
            return self.of(_resolved(node["$ref"], self._root), depth + 1)
        kind = node.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if "object" in kinds:
            properties = node.get("properties")
            if not isinstance(properties, dict) or not properties:
                raise _invalid("Every object of the schema must name its properties.")
            self._count(*properties)
            return _closed({k: self.of(v, depth + 1) for k, v in properties.items()})
        if "array" in kinds:
            return {"type": "array", "items": self.of(node.get("items"), depth + 1)}
        return doubled(self._leaf(node, kinds))

    def _leaf(self, node: dict[str, Any], kinds: list[Any]) -> dict[str, Any]:
        known = [k for k in ("string", "number", "integer", "boolean") if k in kinds]
        leaf: dict[str, Any] = {"type": [*(known or ["string"]), "null"]}
        if "description" in node:
            leaf["description"] = node["description"]
        values = [node["const"]] if "const" in node else node.get("enum")
        if values is not None:
            if not isinstance(values, list):
                raise _invalid("An enum is a list of values.")
            leaf["enum"] = values if None in values else [*values, None]
        self._count(leaf.get("description", ""), *leaf.get("enum", ()))
        return leaf

    def _count(self, *said: Any) -> None:
        """Names, values and descriptions, which a reference says again each time."""
        for one in said:
            if not isinstance(one, str | int | float | None):
                raise _invalid("Descriptions are texts, and values are texts, numbers or truths.")
            # A value that is no text is short, but it is one more.
            self._text += 1 + len(one) if isinstance(one, str) else 20
            if self._text > MAX_TEXT:
                raise _invalid(
                    f"The schema says more than the {MAX_TEXT} characters of strict modes."
                )


def _resolved(reference: Any, root: dict[str, Any]) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise _invalid("Only references inside the schema can be followed.")
    if len(reference) > _MAX_REFERENCE:
        raise _invalid(f"A reference has at most {_MAX_REFERENCE} characters.")
    node: Any = root
    for part in reference[2:].split("/"):
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _checked(schema: dict[str, Any]) -> str:
    levels, properties = _size(schema)
    if levels > MAX_LEVELS or properties > MAX_PROPERTIES:
        raise _invalid(
            f"With proofs the schema has {levels} levels and {properties} properties; strict modes"
            f" take {MAX_LEVELS} and {MAX_PROPERTIES}."
        )
    try:
        made = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        made.encode()
    except ValueError:
        raise _invalid("The schema holds NaN, Infinity, or half of a surrogate pair.") from None
    return made


def _size(node: Any) -> tuple[int, int]:
    if isinstance(node, dict):
        own = 1 if node.get("type") in ("object", "array") else 0
        count = len(node["properties"]) if isinstance(node.get("properties"), dict) else 0
        sizes = [_size(child) for child in node.values()]
        return own + max((s[0] for s in sizes), default=0), count + sum(s[1] for s in sizes)
    if isinstance(node, list):
        sizes = [_size(child) for child in node]
        return max((s[0] for s in sizes), default=0), sum(s[1] for s in sizes)
    return 0, 0


def _invalid(message: str) -> VisualProofError:
    return VisualProofError("SCHEMA_INVALID", message, field_path="json_schema")
