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
from typing import Any

from visualproof_server.jobs.slot import Crashed, Files, Slot, Task, WorkerSettings
from visualproof_server.jobs.turns import Turns
from visualproof_server.metrics import SLOTS, SLOTS_BUSY, TASKS_WAITING
from visualproof_server.storing.store import DocumentStore

__all__ = ["Files", "WorkerPool", "WorkerSettings"]
_ANSWER_MB = 256


class WorkerPool:
    """`size` slots, each a thread that feeds one worker process."""

    def __init__(
        self, size: int, settings: WorkerSettings, store: DocumentStore, name: str = "readers"
    ) -> None:
        self._settings = settings
        self.name = name
        self._busy = 0
        self.store = store
        self._tasks: queue.PriorityQueue[Task] = queue.PriorityQueue()
        self._turns = Turns()
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._slots = [Slot(settings, store, name, index, self._closing) for index in range(size)]
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in self._slots
        ]
        SLOTS.labels(name).set(size)
        SLOTS_BUSY.labels(name).set_function(lambda: self.busy)
        TASKS_WAITING.labels(name).set_function(lambda: self.waiting)
        for thread in self._threads:
            thread.start()

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
        return self._tasks.qsize()

    def submit(
        self,
        name: str,
        args: list[Any],
        blobs: list[bytes] | None = None,
        timeout_s: float = 60.0,
        timeout_code: str = "PAGE_TIMEOUT",
        files: Files | None = None,
        crash_code: str = "PAGE_CRASHED",
        answer_mb: int = _ANSWER_MB,
    ) -> "Future[list[bytes]]":
        """Runs a task of worker.py; args are JSON values. Cancelling the future kills the task.

        The worker sees the files that are named, and nothing else of the store. Tenants take turns.
        timeout_s and answer_mb hold to the last byte of the answer. The future's errors are
        VisualProofError: the task's own, the timeout code, the crash code.
        """
        future: Future[list[bytes]] = Future()
        self._tasks.put(
            Task(
                order=(self._turns.take(), next(self._order)),
                name=name,
                args=args,
                blobs=blobs or [],
                timeout_s=timeout_s,
                timeout_code=timeout_code,
                crash_code=crash_code,
                answer_bytes=answer_mb * 1024**2,
                files=files,
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
                self._tasks.get_nowait().future.cancel()
            except queue.Empty:
                break
        for slot in self._slots:
            slot.remove()

    def _serve(self, slot: Slot) -> None:
        while not self._closing.is_set():
            try:
                task = self._tasks.get(timeout=0.2)
            except queue.Empty:
                continue
            # A future in state RUNNING cannot be cancelled, so it stays PENDING while it runs:
            # cancel() then marks it, and the slot sees that and kills.
            if task.future.cancelled():
                continue
            self._turns.serve(task.order[0])
            with self._lock:
                self._busy += 1
            result = self._tried(slot, task)
            with self._lock:
                self._busy -= 1
            if not task.future.set_running_or_notify_cancel():
                continue
            if isinstance(result, Exception):
                task.future.set_exception(result)
            else:
                task.future.set_result(result)

    def _tried(self, slot: Slot, task: Task) -> list[bytes] | Exception:
        """A task's outcome; one whose worker or program died is tried once more, since that may
        have been another's doing: killed for memory, or by hand."""
        try:
            return slot.run(task)
        except Crashed as error:
            if task.future.cancelled():
                return error.seen_as(task)
        except Exception as error:
            return error
        try:
            return slot.run(task)
        except Crashed as error:
            return error.seen_as(task)
        except Exception as error:
            return error
