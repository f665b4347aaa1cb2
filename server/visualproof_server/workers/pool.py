"""Worker processes that can be killed: one task each, in a session of their own.

Written rather than taken from a library because a task's grandchildren (tesseract, pdftoppm)
must die with it. Pebble 5.2 and concurrent.futures kill the worker alone; here the worker leads
a process group, and the group is killed. A worker whose parent died reads the end of its
lifeline and kills its own group.
"""

import itertools
import queue
import threading
from concurrent.futures import Future
from dataclasses import fields
from typing import Any, TypeVar

from visualproof_server.metrics import SLOTS, SLOTS_BUSY, TASKS_WAITING
from visualproof_server.model.tasks import Task
from visualproof_server.storing.store import DocumentStore
from visualproof_server.workers.fair_queue import FairQueue
from visualproof_server.workers.isolated import IsolatedSlot
from visualproof_server.workers.slot import Crashed, Slot, Work, WorkerSettings

__all__ = ["WorkerPool", "WorkerSettings"]
R = TypeVar("R")
# Bytes of a request that count as one more task.
_COST_BYTES = 10_000


class WorkerPool:
    """`size` slots, each a thread that feeds one worker process."""

    def __init__(
        self, size: int, settings: WorkerSettings, store: DocumentStore, name: str = "readers"
    ) -> None:
        self._settings = settings
        self.name = name
        self._busy = 0
        self.store = store
        self._waiting: queue.PriorityQueue[Work] = queue.PriorityQueue()
        self._turns = FairQueue()
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._slots = [self._slot(index) for index in range(size)]
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in self._slots
        ]
        SLOTS.labels(name).set(size)
        SLOTS_BUSY.labels(name).set_function(lambda: self.busy)
        TASKS_WAITING.labels(name).set_function(lambda: self.waiting)
        for thread in self._threads:
            thread.start()

    def _slot(self, index: int) -> Slot | IsolatedSlot:
        made = Slot(self._settings, self.store, self.name, index, self._closing)
        if self._settings.isolate == "none":
            return made
        spare = Slot(self._settings, self.store, self.name, index, self._closing)
        return IsolatedSlot(made, spare)

    @property
    def size(self) -> int:
        return len(self._slots)

    @property
    def busy(self) -> int:
        """Slots that run a task."""
        return self._busy

    @property
    def waiting(self) -> int:
        """Tasks that wait for a slot."""
        return self._waiting.qsize()

    def submit(
        self, task: Task[R], *, tenant: str = "", timeout_s: float | None = None
    ) -> "Future[R]":
        """Runs a task on its terms, or within another time. Cancelling the future kills the task.

        The worker sees the blobs that the task names, and nothing else of the store. Tenants take
        turns. The future's errors are VisualProofError: the task's own, those of its terms, the
        store's.
        """
        future: Future[R] = Future()
        self._waiting.put(
            Work(
                order=(self._turns.take(tenant, _cost(task)), next(self._order)),
                task=task,
                timeout_s=task.terms.timeout_s if timeout_s is None else timeout_s,
                future=future,
            )
        )
        return future

    def close(self) -> None:
        """Kills all workers; waiting tasks are cancelled."""
        self._closing.set()
        for slot in self._slots:
            slot.kill()
        for thread in self._threads:
            thread.join(timeout=10)
        while True:
            try:
                self._waiting.get_nowait().future.cancel()
            except queue.Empty:
                break
        for slot in self._slots:
            slot.remove()

    def _serve(self, slot: Slot | IsolatedSlot) -> None:
        while not self._closing.is_set():
            try:
                work = self._waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            # A future in state RUNNING cannot be cancelled, so it stays PENDING while it runs:
            # cancel() then marks it, and the slot sees that and kills.
            if work.future.cancelled():
                continue
            self._turns.serve(work.order[0])
            with self._lock:
                self._busy += 1
            result = self._tried(slot, work)
            with self._lock:
                self._busy -= 1
            if not work.future.set_running_or_notify_cancel():
                continue
            if isinstance(result, Exception):
                work.future.set_exception(result)
            else:
                work.future.set_result(result)

    def _tried(self, slot: Slot | IsolatedSlot, work: Work) -> Any:
        """A task's result or error; one whose worker or program died is tried once more, since that
        may have been another's doing: killed for memory, or by hand."""
        try:
            return slot.run(work)
        except Crashed as error:
            if work.future.cancelled():
                return error.seen_as(work.task)
        except Exception as error:
            return error
        try:
            return slot.run(work)
        except Crashed as error:
            return error.seen_as(work.task)
        except Exception as error:
            return error


def _cost(task: Task[Any]) -> float:
    """What a task takes of its tenant's share: large answers take longer than small ones."""
    values = (getattr(task, f.name) for f in fields(task))  # type: ignore[arg-type]
    size = sum(len(value) for value in values if isinstance(value, bytes))
    return 1.0 + size / _COST_BYTES
