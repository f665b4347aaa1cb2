"""Fields, relations and locale from a small JSON or YAML file.

fields:
  - {path: /total, kind: money, labels: [Total due]}
relations: ["/subtotal + /tax = /total"]
locale: en-GB        # for every field that states none
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visualproof.v1.report_pb2 import FieldSpec, Relation

_MEMBERS = {f.name for f in FieldSpec.DESCRIPTOR.fields}


class FieldsError(Exception):
    """The file does not say what it should; the text says where."""


@dataclass(frozen=True)
class Fields:
    """What a file asks for."""

    fields: list[FieldSpec]
    relations: list[Relation]


def load(path: str | None, locale: str = "") -> Fields:
    """Reads a file by its suffix (.json, .yaml, .yml); no path gives no fields."""
    if path is None:
        return Fields([], [])
    text = Path(path).read_text(encoding="utf-8")
    if path.endswith((".yaml", ".yml")):
        import yaml

        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise FieldsError(f"{path} is not YAML: {error}") from None
    else:
        try:
            data = json.loads(text)
        except ValueError as error:
            raise FieldsError(f"{path} is not JSON: {error}") from None
    if isinstance(data, list):
        data = {"fields": data}
    if not isinstance(data, dict):
        raise FieldsError(f"{path} must hold a list of fields, or an object with fields")
    default = locale or str(data.get("locale", ""))
    fields = [_field(item, default, path) for item in data.get("fields", [])]
    return Fields(fields, [_relation(item, path) for item in data.get("relations", [])])


def _field(item: Any, locale: str, path: str) -> FieldSpec:
    if isinstance(item, str):
        item = {"path": item}
    if not isinstance(item, dict) or set(item) - _MEMBERS or not item.get("path"):
        raise FieldsError(f"{path}: a field has a path and of {', '.join(sorted(_MEMBERS))}")
    try:
        return FieldSpec(**{"locale": locale, **item})
    except (TypeError, ValueError) as error:
        raise FieldsError(f"{path}: field {item['path']}: {error}") from None


def _relation(item: Any, path: str) -> Relation:
    if isinstance(item, str):
        return Relation(expression=item)
    if isinstance(item, dict) and set(item) <= {"expression", "tolerance"}:
        return Relation(
            expression=str(item.get("expression", "")), tolerance=str(item.get("tolerance", ""))
        )
    raise FieldsError(f"{path}: a relation is a text, or has expression and tolerance")
