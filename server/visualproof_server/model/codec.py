"""Model values as JSON and back: how they are stored and how they cross to workers.

Any frozen dataclass of the model can be written; a word is an array, since a document has
hundreds of thousands: [text, left, top, right, bottom, confidence, engine, corners or null].
"""

import json
import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

from visualproof_server.model.document import Word
from visualproof_server.model.geometry import Box, quad_of

T = TypeVar("T")


def dumps(value: object) -> bytes:
    """Compact UTF-8 JSON of a model value; the same value gives the same bytes."""
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def loads(cls: type[T], data: bytes) -> T:
    """The value that `dumps` wrote; ValueError or KeyError if it is no such value."""
    result: T = _build(cls, json.loads(data))
    return result


def built(kind: Any, data: Any) -> Any:
    """The value of a type that `plain` made data of; errors as of `loads`."""
    return _build(kind, data)


def plain(value: object) -> object:
    """The value as what JSON can say."""
    if isinstance(value, Word):
        b = value.box
        corners = None if value.quad == quad_of(b) else [v for point in value.quad for v in point]
        return [
            value.text,
            b.left,
            b.top,
            b.right,
            b.bottom,
            value.confidence,
            value.engine,
            corners,
        ]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value


def _word(data: list[Any]) -> Word:
    text, left, top, right, bottom, confidence, engine, c = data
    box = Box(left, top, right, bottom)
    quad = quad_of(box) if c is None else ((c[0], c[1]), (c[2], c[3]), (c[4], c[5]), (c[6], c[7]))
    return Word(text, box, quad, confidence, engine)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _build(kind: Any, data: Any) -> Any:
    if kind is Word:
        return _word(data)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        return _build(next(a for a in get_args(kind) if a is not type(None)), data)
    if origin is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_build(inner[0], item) for item in data)
        return tuple(_build(k, item) for k, item in zip(inner, data, strict=True))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        make = typing.cast(Callable[..., Any], kind)
        return make(**{name: _build(hints[name], data[name]) for name in data})
    return data
