"""One at a time: who adds or deletes a document does so alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Alone:
    """A lock for each document that somebody has a hand on, and for no other."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def with_document(self, document_id: str) -> AsyncIterator[None]:
        """Waits until nobody else has the document."""
        lock, users = self._locks.get(document_id, (asyncio.Lock(), 0))
        self._locks[document_id] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(document_id)
            if users > 1:
                self._locks[document_id] = (lock, users - 1)
