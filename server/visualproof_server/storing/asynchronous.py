"""The store as the event loop sees it: every call runs in a thread, and no write outlives a delete."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from visualproof_server.model.document import Document, DocumentState, Page
from visualproof_server.model.summary import DocumentSummary
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentStore

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_THREADS = 16


class AsyncStore:
    """A DocumentStore for coroutines; errors are those of storing.documents and of the store.

    A thread cannot be stopped: what a cancelled caller was writing is written to the end. `delete`
    waits for it, and refuses what comes while it deletes, so that nothing comes back.
    """

    def __init__(self, store: DocumentStore, threads: int = _THREADS) -> None:
        self.blocking = store
        self.shared = store.shared
        # Threads of its own: reading pages and answering must not wait for a slow store.
        self._threads = ThreadPoolExecutor(threads, "store")
        self._writes: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)
        self._deleting: set[str] = set()

    async def documents(self) -> list[str]:
        """Ids of all documents, as DocumentStore."""
        return await self._run(self.blocking.documents)

    async def names(self, document_id: str) -> set[str]:
        """Names of a document's blobs."""
        return await self._run(self.blocking.names, document_id)

    async def state(self, document_id: str) -> DocumentState:
        """Where a document stands; errors DOCUMENT_NOT_FOUND, STATE_UNKNOWN."""
        return await self._run(documents.state_of, self.blocking, document_id)

    async def is_without_state(self, document_id: str) -> bool:
        """Whether it is certain that there is no such document."""
        return await self._run(self.blocking.get, document_id, documents.STATE) is None

    async def put_state(self, state: DocumentState) -> None:
        """Writes where a document stands, whether it is there or not."""
        await self._write(state.document_id, partial(documents.put_state, self.blocking, state))

    async def change_state(self, state: DocumentState) -> None:
        """Writes where a document stands; error DOCUMENT_NOT_FOUND if another server deleted it."""
        await self._write(state.document_id, partial(documents.change_state, self.blocking, state))

    async def adopt(self, document_id: str, name: str, file: Path) -> None:
        """Moves a finished local file into the store."""
        await self._write(document_id, partial(self.blocking.adopt, document_id, name, file))

    async def put_readings(self, document_id: str, data: bytes) -> None:
        """Keeps second readings of a document that is still there."""
        await self._write(
            document_id, partial(documents.put_readings, self.blocking, document_id, data)
        )

    async def put_picture(self, document_id: str, number: int, data: bytes) -> None:
        """Stores a page's picture; error DOCUMENT_NOT_FOUND if the document is gone."""
        await self._write(
            document_id, partial(documents.put_picture, self.blocking, document_id, number, data)
        )

    async def put_page(self, document_id: str, page: bytes, image: bytes, number: int) -> None:
        """Stores a page as documents.put_page."""
        await self._write(
            document_id,
            partial(documents.put_page, self.blocking, document_id, page, image, number),
        )

    async def done_pages(self, document_id: str) -> set[int]:
        """Numbers of the pages that need not be read again."""
        return await self._run(documents.done_pages, self.blocking, document_id)

    async def page(self, document_id: str, number: int) -> Page | None:
        """A page as read, None if it is not there."""
        return await self._run(documents.page_of, self.blocking, document_id, number)

    async def summary(self, state: DocumentState) -> DocumentSummary:
        """Sizes, labels and the like of all pages; errors as documents.check_ready."""
        return await self._run(documents.summary_of_stored, self.blocking, state)

    async def put_summary(self, summary: DocumentSummary) -> None:
        """Stores what `summary` gives."""
        await self._write(
            summary.document_id, partial(documents.put_summary, self.blocking, summary)
        )

    async def put_words(self, document_id: str, pages: Sequence[Page]) -> None:
        """Stores all pages in one blob."""
        await self._write(
            document_id, partial(documents.put_words, self.blocking, document_id, pages)
        )

    async def load(self, state: DocumentState) -> Document:
        """A document that is READY; errors as documents.check_ready."""
        return await self._run(documents.document_of, self.blocking, state)

    async def lease(self, document_id: str) -> tuple[str, float]:
        """Which server reads a document, and until when, as documents.lease_of."""
        return await self._run(documents.lease_of, self.blocking, document_id)

    async def put_lease(self, document_id: str, owner: str, until: float) -> None:
        """Says which server reads a document."""
        await self._write(
            document_id, partial(documents.put_lease, self.blocking, document_id, owner, until)
        )

    async def remove(self, document_id: str, names: Iterable[str]) -> None:
        """Removes some blobs."""
        await self._write(document_id, partial(self.blocking.remove, document_id, names))

    async def delete(self, document_id: str) -> None:
        """Removes a document with all that is still being written of it."""
        # A caller who goes away in the middle changes nothing.
        await asyncio.shield(self._delete(document_id))

    def close(self) -> None:
        """Waits for what is being written."""
        self._threads.shutdown()

    async def _delete(self, document_id: str) -> None:
        self._deleting.add(document_id)
        try:
            while writes := self._writes.get(document_id):
                await asyncio.wait(writes)
            await self._run(self.blocking.delete, document_id)
        finally:
            self._deleting.discard(document_id)

    async def _run(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    async def _write(self, document_id: str, work: Callable[[], None]) -> None:
        if document_id in self._deleting:
            raise documents.not_found()
        # Shielded, so that it counts as being written until its thread is done.
        future = asyncio.ensure_future(self._run(work))
        self._writes[document_id].add(future)
        future.add_done_callback(partial(self._written, document_id))
        await asyncio.shield(future)

    def _written(self, document_id: str, future: "asyncio.Future[None]") -> None:
        writes = self._writes[document_id]
        writes.discard(future)
        if not writes:
            self._writes.pop(document_id, None)
        if not future.cancelled():
            # Its caller may be gone: then nobody asks for the error.
            future.exception()
