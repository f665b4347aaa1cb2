"""Where pages are read: in this machine's workers, or on others (workers.dask_pages)."""

import asyncio
from typing import Protocol

from visualproof_server.model.document import DocumentState
from visualproof_server.model.tasks import ReadPage
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pool import WorkerPool


class PageExecutor(Protocol):
    """Reads pages of stored documents into the store."""

    @property
    def size(self) -> int:
        """How many pages are read at once."""
        ...

    async def submit(self, state: DocumentState, number: int) -> dict[str, float]:
        """Reads one page and stores it; the seconds of each step.

        Errors are VisualProofError: the page's own, PAGE_TIMEOUT, PAGE_CRASHED, STORE_UNREACHABLE,
        DISK_FULL, DOCUMENT_DAMAGED, DOCUMENT_NOT_FOUND if it was deleted. Cancelling gives the page up.
        """
        ...

    async def close(self) -> None:
        """Lets go of other machines."""
        ...


class LocalPages:
    """Implements PageExecutor over a pool of worker processes; timeout_s bounds each page."""

    def __init__(self, pool: WorkerPool, store: AsyncStore, timeout_s: float) -> None:
        self._pool = pool
        self._store = store
        self._timeout_s = timeout_s

    @property
    def size(self) -> int:
        return self._pool.size

    async def submit(self, state: DocumentState, number: int) -> dict[str, float]:
        name = state.document_id
        future = self._pool.submit(
            ReadPage(name, state.source_sha256, number, state.options),
            tenant=state.tenant,
            timeout_s=self._timeout_s,
        )
        read = await asyncio.wrap_future(future)
        await self._store.put_page(name, read.page, read.image, number)
        return dict(read.seconds)

    async def close(self) -> None:
        """The pool is another's."""
