"""Pages read by a Dask cluster, for documents that one machine is too small for.

Needs the package distributed, the extra `dask`. Only references travel: workers take the bytes from
the shared store and put pages there, so that a lost scheduler costs no page that was done.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

from distributed import Client
from distributed import Future as Far

from visualproof_server.metrics import SLOTS
from visualproof_server.model.document import DocumentState
from visualproof_server.model.errors import VisualProofError
from visualproof_server.workers.fair_queue import FairQueue
from visualproof_server.workers.pages import PageExecutor

log = logging.getLogger("visualproof.dask")
_CONNECT_S = 5.0
# How often the cluster is looked at, and tried again when it was not there.
_LOOK_S, _AGAIN_S = 5.0, 15.0


class Lost(Exception):
    """The cluster does not answer, or has no workers."""


class DaskPages:
    """Implements PageExecutor over the scheduler at `address` (tcp:// or tls://).

    task(document id, page number, settings) reads on a worker and answers {"steps": ...},
    {"error": ...} or {"lost": ...}; it must be importable there. Where the cluster fails, pages are
    read locally.
    """

    def __init__(
        self,
        address: str,
        task: Callable[[str, int, str], dict[str, Any]],
        settings: str,
        local: PageExecutor,
    ) -> None:
        # Its lines are not of the form that this server's are; what matters is said by `log`.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._address = address
        self._task = task
        self._settings = settings
        self._local = local
        self._turns = FairQueue()
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._threads = 0
        SLOTS.labels("dask").set_function(lambda: self._threads)
        self._looked = self._failed = -_AGAIN_S

    @property
    def size(self) -> int:
        return self._threads or self._local.size

    async def submit(self, state: DocumentState, number: int) -> dict[str, float]:
        try:
            outcome = await self._read_far(state, number)
        except Lost as error:
            log.warning("no cluster", extra={"document": state.document_id, "code": str(error)})
            return await self._local.submit(state, number)
        if "error" in outcome:
            raise VisualProofError(**outcome["error"])
        steps: dict[str, float] = outcome["steps"]
        return steps

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close(timeout=_CONNECT_S)

    async def _read_far(self, state: DocumentState, number: int) -> dict[str, Any]:
        client = await self._connected()
        tag = self._turns.take(state.tenant)
        try:
            # A key of its own: a page that is read again, after its document was deleted and came
            # back, is other work.
            far = client.submit(
                self._task, state.document_id, number, self._settings, pure=False, priority=-tag
            )
        except Exception as error:
            raise Lost(type(error).__name__) from None
        try:
            return await self._outcome(far)
        finally:
            self._turns.serve(tag)
            if not far.done():
                with contextlib.suppress(Exception):
                    await far.cancel(reason="given up")

    async def _outcome(self, far: Far) -> dict[str, Any]:
        waiting = asyncio.ensure_future(far.result())
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=_LOOK_S)
                if not waiting.done():
                    # Workers may be gone for good; then nothing would ever come.
                    await self._connected()
        finally:
            waiting.cancel()
        try:
            outcome: dict[str, Any] = waiting.result()
        except asyncio.CancelledError:
            raise Lost("scheduler") from None
        except Exception as error:
            # The task answers with its errors; what is raised is Dask's, such as KilledWorker.
            raise Lost(type(error).__name__) from None
        if "lost" in outcome:
            raise Lost(outcome["lost"])
        return outcome

    async def _connected(self) -> Client:
        """The client, of a cluster that has workers; Lost otherwise."""
        async with self._connecting:
            now = time.monotonic()
            if now - self._failed < _AGAIN_S:
                raise Lost("waiting")
            try:
                if self._client is None or self._client.status == "closed":
                    self._client = await Client(
                        self._address, asynchronous=True, timeout=_CONNECT_S, set_as_default=False
                    )
                if now - self._looked >= _LOOK_S:
                    self._looked = now
                    cores = await asyncio.wait_for(self._client.scheduler.ncores(), _CONNECT_S)
                    self._threads = sum(cores.values())
                if not self._threads or self._client.status != "running":
                    raise Lost("no workers" if self._client.status == "running" else "connecting")
            except (TimeoutError, OSError, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) and _cancelled():
                    raise
                self._failed, self._threads = now, 0
                raise Lost(type(error).__name__) from None
            return self._client


def _cancelled() -> bool:
    """Whether the current task is being cancelled, rather than something it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
