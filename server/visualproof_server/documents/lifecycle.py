"""A document's life: taken, read, resumed after a crash, watched, deleted in time."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from visualproof_server.documents import leases
from visualproof_server.documents.admission import Admission
from visualproof_server.documents.alone import Alone
from visualproof_server.documents.background import every
from visualproof_server.documents.reading_jobs import NOT_THE_PAGE, ReadingJobs
from visualproof_server.documents.resource_guard import ResourceGuard
from visualproof_server.documents.survey import ASIDE, UNREAD, Survey, states_of
from visualproof_server.documents.tenant_slots import TenantSlots
from visualproof_server.documents.watchers import Watchers
from visualproof_server.model.document import DocumentState, Failure, ReadOptions, State
from visualproof_server.model.errors import VisualProofError, of_system
from visualproof_server.model.identity import document_id
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pages import PageExecutor
from visualproof_server.workers.pool import WorkerPool

log = logging.getLogger("visualproof.documents")
# How often the store of this server alone is looked through for what has expired.
_EXPIRY_PERIOD_S = 60.0
# How often a watcher looks after a document that another server reads.
_LOOK_S = 0.5
# How long a document waits for room on a full disk before it fails.
_DISK_PATIENCE_S = 600.0
# A clock that jumps by more than this between two looks is not believed at once.
_JUMP_S = 30.0


@dataclass(frozen=True, slots=True)
class LifecycleLimits:
    """waiting: documents not yet done, of all and of one tenant; pages: of one document."""

    waiting: int
    tenant_waiting: int
    pages: int
    retention_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Finished files that somebody sent; reading is another reader's output, whose words are taken."""

    file: Path
    sha256: str
    file_name: str
    options: ReadOptions
    tenant: str
    reading: Path | None = None


class DocumentLifecycle:
    """One job a document. All methods run in the server's event loop."""

    def __init__(
        self,
        store: AsyncStore,
        pool: WorkerPool,
        pages: PageExecutor,
        reader_version: str,
        limits: LifecycleLimits,
        on_ready: Callable[[DocumentState], None] = lambda _: None,
        tenant_key: bytes = b"",
        guard: ResourceGuard | None = None,
    ) -> None:
        self._store = store
        self._pages = pages
        self._limits = limits
        self._tenant_key = tenant_key
        self._on_ready = on_ready
        self.reader_version = reader_version
        self._admission = Admission(limits.waiting, limits.tenant_waiting, guard)
        self._reading = ReadingJobs(store, pool, pages, limits.pages, self._put)
        self._leases = leases.Leases(store) if store.shared else None
        self._survey = Survey(store, self._set_aside, limits.retention_s)
        self._background: list[asyncio.Task[None]] = []
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._tenants: dict[str, str] = {}
        self._watchers = Watchers()
        self._alone = Alone()
        # Documents that found no room on the disk, and since when (monotonic seconds); and those
        # that failed where not even that could be written.
        self._without_room: dict[str, float] = {}
        self._doomed: dict[str, Failure] = {}
        self._slots = TenantSlots()
        self._clock_offset = time.time() - time.monotonic()

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    async def start(self) -> None:
        """Takes up what a crash left behind, and begins to watch the store."""
        period = leases.RENEW_S if self._leases is not None else _EXPIRY_PERIOD_S
        if self._leases is None:
            await self._resume()
        else:
            self._background.append(
                asyncio.create_task(every("leases", leases.RENEW_S, self._renew))
            )
        self._background.append(asyncio.create_task(every("survey", period, self._look)))

    async def close(self) -> None:
        """Stops all jobs; what was read stays, and the next start, or another server, resumes."""
        mine = list(self._jobs)
        tasks = [*self._jobs.values(), *self._background]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._leases is not None:
            with contextlib.suppress(VisualProofError):
                await self._leases.give_back(mine)

    async def known(self, name: str) -> DocumentState | None:
        """A document's state, None if there is none, or it failed or is damaged: it may be sent again.

        Errors STORE_UNREACHABLE, STATE_UNKNOWN: who does not answer may well have it.
        """
        try:
            state = await self._store.state(name)
        except VisualProofError as error:
            if error.code in ("DOCUMENT_NOT_FOUND", "DOCUMENT_DAMAGED"):
                return None
            raise
        return None if state.state is State.FAILED else state

    def id_of(self, sha256: str, options: ReadOptions, tenant: str) -> str:
        """The id that bytes and options have for a tenant."""
        return document_id(sha256, options, self.reader_version, tenant, self._tenant_key)

    async def check_room(self, tenant: str) -> None:
        """Errors as Admission's."""
        await self._admission.check(self._tenants, tenant)

    async def add(self, upload: Upload) -> DocumentState:
        """Takes finished files over and queues the reading; the same document is read once.

        Both files are gone afterwards, however it ends. Errors as known's and check_room's,
        DISK_FULL.
        """
        name = self.id_of(upload.sha256, upload.options, upload.tenant)
        try:
            # Two uploads of the same bytes may end together; one of them makes the document.
            async with self._alone.with_document(name):
                existing = await self.known(name)
                if existing is not None:
                    return existing
                await self.check_room(upload.tenant)
                # It counts as waiting from now on: others are adding, too.
                self._tenants[name] = upload.tenant
                try:
                    return await self._added(name, upload)
                except BaseException:
                    self._tenants.pop(name, None)
                    raise
        finally:
            for left_over in (upload.file, upload.reading):
                if left_over is not None:
                    left_over.unlink(missing_ok=True)

    async def _added(self, name: str, upload: Upload) -> DocumentState:
        await self._stop(name)
        self._tenants[name] = upload.tenant
        # Remains of an upload that never got its state, or of a document that failed.
        if await self._store.names(name):
            await self._store.delete(name)
        state = DocumentState(
            name,
            upload.sha256,
            upload.file_name,
            upload.options,
            self.reader_version,
            State.QUEUED,
            0,
            0,
            time.time() + self._limits.retention_s,
            tenant=upload.tenant,
        )
        if upload.reading is not None:
            await self._store.adopt(name, documents.READING, upload.reading)
        await self._store.adopt(name, documents.SOURCE, upload.file)
        if self._leases is not None:
            await self._leases.take(name)
        await self._store.put_state(state)
        self._begin(state)
        return state

    async def delete(self, name: str) -> None:
        """Stops a document's job and removes it; error DOCUMENT_NOT_FOUND.

        Once begun it goes on, whether or not the caller waits.
        """
        await self._store.state(name)
        await asyncio.shield(self._delete(name))

    async def _delete(self, name: str, expired_only: bool = False) -> None:
        async with self._alone.with_document(name):
            state = await self._store.state(name)
            if expired_only and state.expire_time >= time.time():
                return
            stopped = await self._stop(name)
            try:
                await self._store.delete(name)
            except BaseException:
                if stopped:
                    # It is still there, and somebody may follow it.
                    self._begin(state)
                raise
        self._watchers.tell(name)

    async def _stop(self, name: str) -> bool:
        """Ends a document's job, if there is one, and says whether there was."""
        job = self._jobs.pop(name, None)
        self._tenants.pop(name, None)
        self._without_room.pop(name, None)
        self._doomed.pop(name, None)
        if job is not None:
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
        return job is not None

    async def watch(self, name: str) -> AsyncIterator[DocumentState]:
        """The state at once, then each change; ends after READY or FAILED."""
        last: DocumentState | None = None
        with self._watchers.one(name) as changed:
            while True:
                changed.clear()
                state = await self._store.state(name)
                if state != last:
                    last = state
                    yield state
                if state.state in (State.READY, State.FAILED):
                    return
                if name in self._jobs or not self._store.shared:
                    await changed.wait()
                else:
                    # Another server reads it.
                    await asyncio.sleep(_LOOK_S)

    def _begin(self, state: DocumentState) -> None:
        name = state.document_id
        if name not in self._jobs:
            self._tenants[name] = state.tenant
            self._jobs[name] = asyncio.create_task(self._job(state))

    async def _job(self, state: DocumentState) -> None:
        name, started = state.document_id, time.monotonic()
        try:
            if (failure := self._doomed.get(name)) is not None:
                raise VisualProofError(failure.code, failure.message)
            async with self._slots.of(state.tenant, self._pages.size):
                state = await self._reading.read(state)
        except VisualProofError as error:
            await self._ended(state, error)
        except Exception as broken:
            known = of_system(broken) if isinstance(broken, OSError) else None
            if known is None:
                log.exception("job failed", extra={"document": name})
                known = VisualProofError("INTERNAL", "Reading failed; upload it again.")
            await self._ended(state, known)
        else:
            self._without_room.pop(name, None)
            self._on_ready(state)
            seconds = round(time.monotonic() - started, 2)
            log.info(
                "document ready", extra={"document": name, "pages": state.page_count, "s": seconds}
            )
        finally:
            if self._jobs.get(name) is asyncio.current_task():
                del self._jobs[name]
                self._tenants.pop(name, None)
                self._watchers.tell(name)

    async def _ended(self, state: DocumentState, error: VisualProofError) -> None:
        """Leaves a document for later, or says that it failed."""
        name = state.document_id
        patient = error.code == "DISK_FULL" and self._has_patience(name)
        if name not in self._doomed and (patient or error.code in NOT_THE_PAGE):
            # Taken up again by whoever sees that nobody reads it; or it was deleted.
            log.warning("left", extra={"document": name, "code": error.code})
            return
        if error.code == "DISK_FULL" and not self._store.shared:
            # What it has written makes room to say so.
            with contextlib.suppress(VisualProofError):
                written = await self._store.names(name) - {documents.STATE}
                await self._store.remove(name, written)
        await self._failed(state, Failure(error.code, error.message))
        self._without_room.pop(name, None)
        log.info("document failed", extra={"document": name, "code": error.code})

    def _has_patience(self, name: str) -> bool:
        """Whether room may still come for a document."""
        now = time.monotonic()
        return now - self._without_room.setdefault(name, now) < _DISK_PATIENCE_S

    async def _failed(self, state: DocumentState, failure: Failure) -> None:
        options = replace(state.options, password="")
        try:
            await self._put(replace(state, state=State.FAILED, failure=failure, options=options))
        except VisualProofError as error:
            if error.code != "DOCUMENT_NOT_FOUND":
                # To write that is all that is left to do.
                self._doomed[state.document_id] = failure
        else:
            self._doomed.pop(state.document_id, None)

    async def _put(self, state: DocumentState) -> None:
        await self._store.change_state(state)
        self._watchers.tell(state.document_id)

    async def _resume(self) -> None:
        """Begins what a crash of this server broke off; it alone has the store."""
        async for name, state in states_of(self._store, await self._store.documents()):
            if isinstance(state, VisualProofError):
                # What is set aside the survey says.
                if state.code == "DOCUMENT_NOT_FOUND":
                    # An upload that never got its state is no document.
                    log.info("remains removed", extra={"document": name})
                    await self._store.delete(name)
            elif state.state in UNREAD:
                self._begin(state)

    async def _renew(self) -> None:
        assert self._leases is not None
        await self._leases.renew(self._jobs)

    async def _look(self) -> None:
        """Deletes what has expired, and takes up what a silent server left."""
        found = await self._survey.look()
        left = [s.document_id for s in found.unread if s.document_id not in self._jobs]
        if self._leases is not None:
            left = await self._leases.free(left)
        for name in left:
            await self._take_up(name)
        if not self._clock_jumped():
            for name in found.expired:
                await self._expire(name)
        for name in found.remains:
            await self._sweep(name)
        for name in found.forlorn:
            await self._forget(name)

    async def _take_up(self, name: str) -> None:
        """Begins what nobody reads, unless that has changed since it was seen."""
        async with self._alone.with_document(name):
            with contextlib.suppress(VisualProofError):
                state = await self._store.state(name)
                if state.state in UNREAD and name not in self._jobs:
                    if self._leases is not None:
                        await self._leases.take(name)
                    log.info("taken up", extra={"document": name})
                    self._begin(state)

    async def _expire(self, name: str) -> None:
        try:
            # What the survey saw may be old: it may have been sent again.
            await self._delete(name, expired_only=True)
        except VisualProofError as error:
            if error.code != "DOCUMENT_NOT_FOUND":
                log.warning("not deleted", extra={"document": name, "code": error.code})

    async def _sweep(self, name: str) -> None:
        """Removes what an upload left that never got its state, or a deletion that broke off."""
        async with self._alone.with_document(name):
            with contextlib.suppress(VisualProofError):
                if name not in self._jobs and await self._store.is_without_state(name):
                    await self._store.delete(name)

    async def _forget(self, name: str) -> None:
        """Deletes what was set aside for as long as documents are kept."""
        async with self._alone.with_document(name):
            try:
                await self._store.state(name)
            except VisualProofError as error:
                if error.code in ASIDE:
                    log.warning("set aside and expired", extra={"document": name})
                    await self._store.delete(name)

    def _clock_jumped(self) -> bool:
        """Whether the clock moved otherwise than time did, since the last look."""
        before, self._clock_offset = self._clock_offset, time.time() - time.monotonic()
        return abs(self._clock_offset - before) > _JUMP_S

    @staticmethod
    def _set_aside(name: str, code: str) -> None:
        log.warning("set aside", extra={"document": name, "code": code})
