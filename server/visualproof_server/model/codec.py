"""Model values as JSON and back: how they are stored and how they cross to workers.

Any frozen dataclass of the model can be written; a word is an array, since a document has
hundreds of thousands: [text, left, top, right, bottom, confidence, engine, corners or null, trust].
"""

import json
import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

from visualproof_server.model.document import Trust, Word
from visualproof_server.model.geometry import Box, quad_of

T = TypeVar("T")

# For words stored before they had a trust of their own: readers that saw no pixels, and the
# confidence from which few words of any engine are misread.
_UNSEEN_BEFORE = ("text_layer", "ethos", "textract", "hocr")
_SURE_BEFORE = 0.9
# What JSON may say for a plain type.
_PLAIN: dict[Any, Any] = {str: str, bool: bool, int: int, float: (int, float)}


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
            value.trust.value,
        ]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value


def _word(data: list[Any]) -> Word:
    text, left, top, right, bottom, confidence, engine, c = data[:8]
    box = Box(left, top, right, bottom)
    quad = quad_of(box) if c is None else ((c[0], c[1]), (c[2], c[3]), (c[4], c[5]), (c[6], c[7]))
    trust = Trust(data[8]) if len(data) > 8 else _trust_before(confidence, engine)
    return Word(text, box, quad, confidence, engine, trust)


def _trust_before(confidence: float | None, engine: str) -> Trust:
    """The trust of a word from a document stored before words had one."""
    if engine in _UNSEEN_BEFORE:
        return Trust.UNSEEN
    return Trust.SURE if confidence is not None and confidence >= _SURE_BEFORE else Trust.DOUBTFUL


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
    if kind in _PLAIN and not isinstance(data, _PLAIN[kind]):
        raise ValueError("a value of another type")
    return data
