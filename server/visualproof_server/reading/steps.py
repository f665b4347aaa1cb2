"""How long each step of a page took, for operators; never a part of what is read."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_seconds: dict[str, float] = {}


@contextmanager
def step(name: str) -> Iterator[None]:
    """Adds the time of a block to a step; a worker reads one page at a time."""
    started = time.perf_counter()
    try:
        yield
    finally:
        _seconds[name] = _seconds.get(name, 0.0) + time.perf_counter() - started


def taken() -> dict[str, float]:
    """Seconds by step since the last call."""
    out = {name: round(seconds, 4) for name, seconds in _seconds.items()}
    _seconds.clear()
    return out
