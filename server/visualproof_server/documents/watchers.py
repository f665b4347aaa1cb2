"""Who follows a document until it is read."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Watchers:
    """Each watcher has an event of its own, so that none takes what another waits for."""

    def __init__(self) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}

    @contextmanager
    def one(self, name: str) -> Iterator[asyncio.Event]:
        """An event that is set at each change of a document, for as long as it lasts."""
        event = asyncio.Event()
        self._events.setdefault(name, set()).add(event)
        try:
            yield event
        finally:
            others = self._events[name]
            others.discard(event)
            if not others:
                del self._events[name]

    def tell(self, name: str) -> None:
        """Wakes all who follow a document."""
        for event in self._events.get(name, ()):
            event.set()
