"""One document from QUEUED to READY: counted, then read page by page."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from visualproof_server.metrics import PAGE_SECONDS, PAGES
from visualproof_server.model import codec
from visualproof_server.model.document import (
    DocumentState,
    Failure,
    Page,
    Source,
    State,
    Warning,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.summary import summary_of_pages
from visualproof_server.model.tasks import CountPages
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pages import PageExecutor
from visualproof_server.workers.pool import WorkerPool

_MAX_WARNINGS = 100
# How often progress is told.
_TELL_S = 0.2
# Nothing is wrong with the document: the store is away, or it was deleted.
NOT_THE_PAGE = ("STORE_UNREACHABLE", "DOCUMENT_NOT_FOUND", "STATE_UNKNOWN")
# Nor with one page: the disk has no room, or the document's own files are not as they were.
_NOT_ONE_PAGE = (*NOT_THE_PAGE, "DISK_FULL", "DOCUMENT_DAMAGED")


class ReadingJobs:
    """Reads documents; `put` stores each change of state and tells who watches."""

    def __init__(
        self,
        store: AsyncStore,
        pool: WorkerPool,
        pages: PageExecutor,
        max_pages: int,
        put: Callable[[DocumentState], Awaitable[None]],
    ) -> None:
        self._store = store
        self._pool = pool
        self._pages = pages
        self._max_pages = max_pages
        self._put = put

    async def read(self, state: DocumentState) -> DocumentState:
        """Counts and reads; errors as the file's own, STORE_UNREACHABLE, DOCUMENT_NOT_FOUND.

        The first page does not wait for the count: most documents have one.
        """
        first = state.options.first_page
        early: set[asyncio.Task[None]] = set()
        if first not in await self._store.done_pages(state.document_id):
            early.add(asyncio.create_task(self._page(state, first)))
        try:
            state = await self._counted(state)
            return await self._read(state, early)
        finally:
            await _ended(early)

    async def _counted(self, state: DocumentState) -> DocumentState:
        options = state.options
        asked = CountPages(state.document_id, state.source_sha256, options.password)
        future = self._pool.submit(asked, tenant=state.tenant)
        total = (await asyncio.wrap_future(future)).pages
        last = options.last_page or total
        if options.first_page > total or last > total:
            raise VisualProofError(
                "PAGE_OUT_OF_RANGE", f"The file has {total} pages; ask for pages it has."
            )
        count = last - options.first_page + 1
        if count > self._max_pages:
            raise VisualProofError(
                "TOO_MANY_PAGES",
                f"{count} pages were asked for; at most {self._max_pages} are read.",
            )
        return await self._changed(replace(state, state=State.READING, page_count=count))

    async def _read(self, state: DocumentState, early: set[asyncio.Task[None]]) -> DocumentState:
        """Reads what is not done; early is the first page's reading, if it is under way."""
        first = state.options.first_page
        numbers = range(first, first + state.page_count)
        done = await self._store.done_pages(state.document_id)
        todo = [n for n in numbers if n not in done and not (early and n == first)]
        running = set(early)
        state = await self._changed(
            replace(state, read_page_count=len(numbers) - len(todo) - len(running))
        )
        told = time.monotonic()
        try:
            while todo or running:
                # A few pages ahead keep the slots busy, and leave room for other documents.
                while todo and len(running) < self._pages.size + 1:
                    running.add(asyncio.create_task(self._page(state, todo.pop(0))))
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()
                state = replace(state, read_page_count=state.read_page_count + len(finished))
                if time.monotonic() - told > _TELL_S:
                    state, told = await self._changed(state), time.monotonic()
        finally:
            await _ended(running)
        return await self._finish(state, list(numbers))

    async def _page(self, state: DocumentState, number: int) -> None:
        """Reads and stores one page; what cannot be read costs only this page."""
        try:
            steps = await self._pages.submit(state, number)
        except VisualProofError as error:
            if error.code in _NOT_ONE_PAGE:
                raise
            PAGES.labels(error.code).inc()
            failure = Failure(error.code, error.message)
            blank = Page(number, str(number), 0, 0, 0, 0, 0, 0, Source.OCR, failure=failure)
            await self._store.put_page(state.document_id, codec.dumps(blank), b"", number)
        else:
            PAGES.labels("OK").inc()
            for step, seconds in steps.items():
                PAGE_SECONDS.labels(step).inc(seconds)

    async def _finish(self, state: DocumentState, numbers: list[int]) -> DocumentState:
        """READY, unless every page failed: then the document failed as its first page did."""
        pages = [await self._stored(state, number) for number in numbers]
        failures = [page.failure for page in pages if page.failure is not None]
        if failures and len(failures) == len(numbers):
            raise VisualProofError(failures[0].code, failures[0].message)
        warnings = [warning for page in pages for warning in page.warnings]
        # The gravest first: there is no room for all of a long document's.
        warnings.sort(key=lambda warning: warning.code != "PAGE_DAMAGED")
        if failures:
            text = f"{len(failures)} of {len(numbers)} pages could not be read."
            warnings.insert(0, Warning("PAGES_FAILED", text))
        # Before READY, so that whoever sees it finds them.
        await self._store.put_words(state.document_id, pages)
        await self._store.put_summary(summary_of_pages(state.document_id, pages))
        return await self._changed(
            replace(
                state,
                state=State.READY,
                warnings=tuple(warnings[:_MAX_WARNINGS]),
                options=replace(state.options, password=""),
            )
        )

    async def _stored(self, state: DocumentState, number: int) -> Page:
        """A page that was read; read once more if another server's deletion took it, or if it is
        damaged."""
        page = None
        try:
            page = await self._store.page(state.document_id, number)
        except VisualProofError as error:
            if error.code != "DOCUMENT_DAMAGED":
                raise
        if page is None:
            await self._page(state, number)
            page = await self._store.page(state.document_id, number)
        if page is None:
            raise VisualProofError("INTERNAL", f"Page {number} was read and is not stored.")
        return page

    async def _changed(self, state: DocumentState) -> DocumentState:
        await self._put(state)
        return state


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Ends tasks that are not done, and waits for that."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
