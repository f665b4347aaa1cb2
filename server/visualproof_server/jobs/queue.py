"""Documents on their way: counted, read page by page, resumed after a crash, deleted in time."""

import asyncio
import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from visualproof_server.jobs.floors import Floors
from visualproof_server.jobs.leases import Leases
from visualproof_server.jobs.pages import TO_READ, PageExecutor
from visualproof_server.jobs.pool import Files, WorkerPool
from visualproof_server.jobs.tenant import CURRENT
from visualproof_server.metrics import PAGE_SECONDS, PAGES
from visualproof_server.model import codec
from visualproof_server.model.document import (
    DocumentState,
    Failure,
    Page,
    ReadOptions,
    Source,
    State,
    Warning,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.identity import document_id
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentStore

log = logging.getLogger("visualproof.queue")
_MAX_WARNINGS = 100
_COUNT_TIMEOUT_S = 30.0
_EXPIRY_PERIOD_S = 60.0
# How often a watcher looks after a document that another server reads; how often progress is told.
_LOOK_S, _TELL_S = 0.5, 0.2
_LATER = "STORE_UNREACHABLE"  # Nothing is wrong with the document.


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """waiting: documents not yet done, of all and of one tenant; pages: of one document."""

    waiting: int
    tenant_waiting: int
    pages: int
    page_timeout_s: float
    retention_s: float


class Queue:
    """One job a document. All methods run in the server's event loop."""

    def __init__(
        self,
        store: DocumentStore,
        pool: WorkerPool,
        pages: PageExecutor,
        reader_version: str,
        limits: QueueLimits,
        on_ready: Callable[[str], None] = lambda _: None,
        tenant_key: bytes = b"",
        floors: Floors | None = None,
    ) -> None:
        self._floors = floors
        self._leases = Leases(store) if store.shared else None
        self._lessor: asyncio.Task[None] | None = None
        self._tenant_key = tenant_key
        self._store = store
        self._pool = pool
        self._pages = pages
        self._limits = limits
        self.reader_version = reader_version
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._keeper: asyncio.Task[None] | None = None
        self._on_ready = on_ready
        self._adding = asyncio.Lock()
        # Documents of each tenant that may be read at once, and how many that is so far.
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))
        self._given: defaultdict[str, int] = defaultdict(int)
        self._tenants: dict[str, str] = {}

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    async def start(self) -> None:
        """Takes up what a crash left behind, and begins to watch retention."""
        for name in await asyncio.to_thread(self._store.documents):
            try:
                state = documents.state_of(self._store, name)
            except (VisualProofError, ValueError, KeyError):
                # An upload that never got its state is no document; another server's may get it.
                if not self._store.shared:
                    await asyncio.to_thread(self._store.delete, name)
                continue
            if state.state in (State.QUEUED, State.READING) and not self._store.shared:
                self._begin(state)
        self._keeper = asyncio.create_task(self._expire())
        if self._leases is not None:
            keep = self._leases.keep(lambda: list(self._jobs), self._begin)
            self._lessor = asyncio.create_task(keep)

    async def close(self) -> None:
        """Stops all jobs; what was read stays, and the next start resumes."""
        tasks = [*self._jobs.values(), *(t for t in (self._keeper, self._lessor) if t is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def known(self, name: str) -> DocumentState | None:
        """A document's state, None if there is none or it failed (so that it may be sent again)."""
        try:
            state = documents.state_of(self._store, name)
        except VisualProofError:
            return None
        return None if state.state is State.FAILED else state

    def id_of(self, sha256: str, options: ReadOptions) -> str:
        """The id that bytes and options have for the current tenant."""
        return document_id(sha256, options, self.reader_version, CURRENT.get(), self._tenant_key)

    def check_room(self) -> None:
        """Errors QUEUE_FULL when no more documents are taken, of all or of the current tenant, and
        those of Floors."""
        if self._floors is not None:
            self._floors.check()
        mine = sum(tenant == CURRENT.get() for tenant in self._tenants.values())
        if CURRENT.get() and mine >= self._limits.tenant_waiting:
            raise VisualProofError(
                "QUEUE_FULL",
                f"{mine} of your documents are waiting; try again shortly.",
                {"waiting": str(mine)},
                retry_after_s=2.0 + mine,
            )
        if len(self._jobs) >= self._limits.waiting:
            raise VisualProofError(
                "QUEUE_FULL",
                f"{len(self._jobs)} documents are waiting; try again shortly.",
                {"waiting": str(len(self._jobs))},
                retry_after_s=2.0 + len(self._jobs),
            )

    async def add(
        self,
        file: Path,
        sha256: str,
        file_name: str,
        options: ReadOptions,
        reading: Path | None = None,
    ) -> DocumentState:
        """Takes finished files over and queues the reading; the same document is read once.

        reading is another reader's output, which the words are taken from.
        """
        name = self.id_of(sha256, options)
        # Two uploads of the same bytes may end together; one of them makes the document.
        async with self._adding:
            existing = self.known(name)
            if existing is not None:
                for left_over in (file, reading):
                    if left_over is not None:
                        left_over.unlink(missing_ok=True)
                return existing
            self.check_room()
            if self._store.names(name):
                await asyncio.to_thread(self._store.delete, name)
            state = DocumentState(
                name,
                sha256,
                file_name,
                options,
                self.reader_version,
                State.QUEUED,
                0,
                0,
                time.time() + self._limits.retention_s,
                tenant=CURRENT.get(),
            )
            if reading is not None:
                await asyncio.to_thread(self._store.adopt, name, documents.READING, reading)
            await asyncio.to_thread(self._store.adopt, name, documents.SOURCE, file)
            if self._leases is not None:
                await self._leases.take(name)
            await asyncio.to_thread(documents.put_state, self._store, state)
            self._begin(state)
        return state

    async def delete(self, name: str) -> None:
        """Stops a document's job and removes it; error DOCUMENT_NOT_FOUND."""
        documents.state_of(self._store, name)
        job = self._jobs.pop(name, None)
        self._tenants.pop(name, None)
        if job is not None:
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
        await asyncio.to_thread(self._store.delete, name)
        self._notify(name)

    async def watch(self, name: str) -> AsyncIterator[DocumentState]:
        """The state at once, then each change; ends after READY or FAILED."""
        last: DocumentState | None = None
        while True:
            changed = self._changed.setdefault(name, asyncio.Event())
            state = documents.state_of(self._store, name)
            if state != last:
                last = state
                yield state
            if state.state in (State.READY, State.FAILED):
                self._changed.pop(name, None)
                return
            if name in self._jobs or not self._store.shared:
                await changed.wait()
            else:
                # Another server reads it.
                await asyncio.sleep(_LOOK_S)

    def _begin(self, state: DocumentState) -> None:
        name = state.document_id
        self._tenants[name] = state.tenant
        self._jobs[name] = asyncio.create_task(self._job(state))

    async def _job(self, state: DocumentState) -> None:
        started = time.monotonic()
        CURRENT.set(state.tenant)
        # Enough to keep all readers busy, which may become more; they are shared out fairly.
        while self._given[state.tenant] < self._pages.size + 2:
            self._given[state.tenant] += 1
            self._slots[state.tenant].release()
        try:
            async with self._slots[state.tenant]:
                state = await self._opened(state)
        except VisualProofError as error:
            if error.code == _LATER:
                # Taken up again by whoever sees that its lease has run out.
                log.warning("left", extra={"document": state.document_id, "code": error.code})
                return
            await self._failed(state, Failure(error.code, error.message))
            log.info("document failed", extra={"document": state.document_id, "code": error.code})
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("job failed", extra={"document": state.document_id})
            await self._failed(state, Failure("INTERNAL", "Reading failed; upload it again."))
        else:
            self._on_ready(state.document_id)
            seconds = round(time.monotonic() - started, 2)
            log.info(
                "document ready",
                extra={"document": state.document_id, "pages": state.page_count, "s": seconds},
            )
        finally:
            if self._jobs.get(state.document_id) is asyncio.current_task():
                del self._jobs[state.document_id]
                self._tenants.pop(state.document_id, None)
                self._notify(state.document_id)

    async def _failed(self, state: DocumentState, failure: Failure) -> None:
        options = replace(state.options, password="")
        with contextlib.suppress(VisualProofError):
            await self._put(replace(state, state=State.FAILED, failure=failure, options=options))

    async def _opened(self, state: DocumentState) -> DocumentState:
        """Counts and reads. The first page does not wait for the count: most documents have one."""
        first = state.options.first_page
        early: set[asyncio.Task[None]] = set()
        if first not in await asyncio.to_thread(
            documents.done_pages, self._store, state.document_id
        ):
            early.add(asyncio.create_task(self._page(state, first)))
        try:
            state = await self._counted(state)
        except BaseException:
            for task in early:
                task.cancel()
            await asyncio.gather(*early, return_exceptions=True)
            raise
        return await self._read(state, early)

    async def _counted(self, state: DocumentState) -> DocumentState:
        options = state.options
        future = self._pool.submit(
            "count_pages",
            [state.document_id, options.password],
            timeout_s=_COUNT_TIMEOUT_S,
            files=Files(state.document_id, TO_READ),
        )
        total = int((await asyncio.wrap_future(future))[0])
        last = options.last_page or total
        if options.first_page > total or last > total:
            raise VisualProofError(
                "PAGE_OUT_OF_RANGE", f"The file has {total} pages; ask for pages it has."
            )
        count = last - options.first_page + 1
        if count > self._limits.pages:
            raise VisualProofError(
                "TOO_MANY_PAGES",
                f"{count} pages were asked for; at most {self._limits.pages} are read.",
            )
        return await self._put(replace(state, state=State.READING, page_count=count))

    async def _read(self, state: DocumentState, running: set[asyncio.Task[None]]) -> DocumentState:
        """Reads what is not done; running is the first page's reading, if it is under way."""
        first = state.options.first_page
        numbers = range(first, first + state.page_count)
        done = await asyncio.to_thread(documents.done_pages, self._store, state.document_id)
        todo = [n for n in numbers if n not in done and not (running and n == first)]
        state = await self._put(
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
                    state, told = await self._put(state), time.monotonic()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return await self._finish(state, list(numbers))

    async def _page(self, state: DocumentState, number: int) -> None:
        """Reads and stores one page; what cannot be read costs only this page."""
        try:
            steps = await self._pages.submit(state, number)
        except VisualProofError as error:
            if error.code in (_LATER, "DOCUMENT_NOT_FOUND"):
                raise
            PAGES.labels(error.code).inc()
            failure = Failure(error.code, error.message)
            blank = Page(number, str(number), 0, 0, 0, 0, 0, 0, Source.OCR, failure=failure)
            page = codec.dumps(blank)
            await asyncio.to_thread(
                documents.put_page, self._store, state.document_id, page, b"", number
            )
        else:
            PAGES.labels("OK").inc()
            for step, seconds in steps.items():
                PAGE_SECONDS.labels(step).inc(seconds)

    async def _finish(self, state: DocumentState, numbers: list[int]) -> DocumentState:
        """READY, unless every page failed: then the document failed as its first page did."""
        warnings: list[Warning] = []
        failures: list[Failure] = []
        for number in numbers:
            data = await asyncio.to_thread(
                self._store.get, state.document_id, documents.page_name(number)
            )
            page = codec.loads(Page, data or b"{}")
            warnings += page.warnings
            if page.failure is not None:
                failures.append(page.failure)
        if failures and len(failures) == len(numbers):
            raise VisualProofError(failures[0].code, failures[0].message)
        if failures:
            text = f"{len(failures)} of {len(numbers)} pages could not be read."
            warnings.insert(0, Warning("PAGES_FAILED", text))
        return await self._put(
            replace(
                state,
                state=State.READY,
                warnings=tuple(warnings[:_MAX_WARNINGS]),
                options=replace(state.options, password=""),
            )
        )

    async def _put(self, state: DocumentState) -> DocumentState:
        await asyncio.to_thread(documents.check_there, self._store, state.document_id)
        await asyncio.to_thread(documents.put_state, self._store, state)
        self._notify(state.document_id)
        return state

    def _notify(self, name: str) -> None:
        event = self._changed.pop(name, None)
        if event is not None:
            event.set()

    async def _expire(self) -> None:
        while True:
            # A store that does not answer now may do so the next time.
            with contextlib.suppress(VisualProofError):
                for name in await asyncio.to_thread(self._store.documents):
                    await self._expire_one(name)
            await asyncio.sleep(_EXPIRY_PERIOD_S)

    async def _expire_one(self, name: str) -> None:
        with contextlib.suppress(VisualProofError):
            if documents.state_of(self._store, name).expire_time < time.time():
                await self.delete(name)
