"""Values as they cross to a worker: a JSON head, and bytes beside it as they are."""

import json
import typing
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from visualproof_server.model import codec

T = TypeVar("T")


def packed(value: Any) -> tuple[dict[str, Any], list[bytes]]:
    """(head, blobs) of a dataclass; its members of type bytes, or tuples of them, are the blobs."""
    head: dict[str, Any] = {}
    blobs: list[bytes] = []
    for name, hint in _hints(typing.cast(type, type(value))).items():
        member = getattr(value, name)
        if hint is bytes:
            blobs.append(member)
        elif hint == tuple[bytes, ...]:
            head[name] = len(member)
            blobs += member
        else:
            head[name] = codec.plain(member)
    return head, blobs


def unpacked(kind: type[T], head: dict[str, Any], blobs: list[bytes]) -> T:
    """The value that `packed` took apart; ValueError if it is no such value."""
    left = iter(blobs)
    members: dict[str, Any] = {}
    try:
        for name, hint in _hints(typing.cast(type, kind)).items():
            if hint is bytes:
                members[name] = next(left)
            elif hint == tuple[bytes, ...]:
                members[name] = tuple(next(left) for _ in range(head[name]))
            else:
                members[name] = codec.built(hint, head[name])
        made = kind(**members)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError,
            StopIteration) as error:  # fmt: skip
        raise ValueError(f"no {kind.__name__} ({type(error).__name__})") from None
    if next(left, None) is not None:
        raise ValueError(f"more than a {kind.__name__}")
    return made


def spelled(head: dict[str, Any]) -> bytes:
    """A head as bytes; file names and passwords may hold what is no UTF-8."""
    return json.dumps(head).encode("utf-8", "surrogatepass")


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}
