"""Worker processes that can be killed: one task each, in a session of their own.

Written rather than taken from a library because a task's grandchildren (tesseract, pdftoppm)
must die with it. Pebble 5.2 and concurrent.futures kill the worker alone; here the worker leads
a process group, and the group is killed. A worker whose parent died reads the end of its
lifeline and kills its own group.
"""

import itertools
import json
import math
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from visualproof_server.jobs.sandbox import enclosed
from visualproof_server.jobs.turns import Turns
from visualproof_server.metrics import (
    SLOTS,
    SLOTS_BUSY,
    TASK_SECONDS,
    TASKS_WAITING,
    WORKER_KILLS,
    WORKER_STARTS,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.store import DocumentStore

START_TIMEOUT_S = 60.0
_CANCEL_POLL_S = 0.05
_CANCEL_GRACE_S = 1.0
# What workers get of the server's environment: it may hold keys of the store.
_PASSED_ON = frozenset(
    ["HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "TESSDATA_PREFIX",
     "VIRTUAL_ENV", "VISUALPROOF_WORKER_STDERR"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker is started with; all of it travels as JSON.

    views is where documents are laid for a task, on the store's disk; scratch is for the rest.
    sandbox is auto, strict or off.
    """

    views: str
    scratch: str
    memory_mb: int
    max_tasks: int
    options: dict[str, Any]
    sandbox: str = "auto"
    rss_mb: int = 1500


@dataclass(frozen=True, slots=True)
class Files:
    """The blobs of a document that a task may see; names None means all."""

    document_id: str
    names: tuple[str, ...] | None = None


@dataclass(order=True)
class _Task:
    order: tuple[float, int]
    name: str = field(compare=False)
    args: list[Any] = field(compare=False)
    blobs: list[bytes] = field(compare=False)
    timeout_s: float = field(compare=False)
    timeout_code: str = field(compare=False)
    files: Files | None = field(compare=False)
    future: "Future[list[bytes]]" = field(compare=False)


class WorkerPool:
    """`size` slots, each a thread that feeds one worker process."""

    def __init__(
        self, size: int, settings: WorkerSettings, store: DocumentStore, name: str = "readers"
    ) -> None:
        self._settings = settings
        self.name = name
        self._busy = 0
        self.store = store
        self._tasks: queue.PriorityQueue[_Task] = queue.PriorityQueue()
        self._turns = Turns()
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._slots = [_Slot(self, index, settings) for index in range(size)]
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
    ) -> "Future[list[bytes]]":
        """Runs a task of worker.py; args are JSON values. Cancelling the future kills the task.

        The worker sees the files that are named, and nothing else of the store. Tenants take turns.
        The future's errors are VisualProofError: the task's own, the timeout code, PAGE_CRASHED.
        """
        future: Future[list[bytes]] = Future()
        order = (self._turns.take(), next(self._order))
        self._tasks.put(
            _Task(order, name, args, blobs or [], timeout_s, timeout_code, files, future)
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

    def _serve(self, slot: "_Slot") -> None:
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

    def _tried(self, slot: "_Slot", task: _Task) -> list[bytes] | Exception:
        """A task's outcome; one whose worker or program died is tried once more, since that may
        have been another's doing: killed for memory, or by hand."""
        for last in (False, True):
            try:
                return slot.run(task)
            except VisualProofError as error:
                if last or error.code != "PAGE_CRASHED" or task.future.cancelled():
                    return error
            except Exception as error:
                return error
        raise AssertionError("unreachable")


class _Slot:
    """One place for a worker process; starts it when it is needed."""

    def __init__(self, pool: WorkerPool, index: int, settings: WorkerSettings) -> None:
        self._pool = pool
        self._settings = settings
        name = f"slot-{os.getpid()}-{id(pool):x}-{index}"
        self.scratch = Path(settings.scratch) / name
        self.view = Path(settings.views) / name
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._lifeline: socket.socket | None = None
        self._done = 0
        # Whether what was started is the worker's parent.
        self._enclosed = False

    def run(self, task: _Task) -> list[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.kill()
            self._start()
        connection = self._connection
        assert connection is not None
        started = time.monotonic()
        deadline = started + task.timeout_s
        try:
            if task.files is not None:
                self._pool.store.stage(task.files.document_id, task.files.names, self.view)
            connection.send_bytes(
                json.dumps([task.name, task.args, len(task.blobs)]).encode("utf-8", "surrogatepass")
            )
            for blob in task.blobs:
                connection.send_bytes(blob)
            given_up = math.inf
            while not connection.poll(_CANCEL_POLL_S):
                if self._pool._closing.is_set() or time.monotonic() > given_up:
                    self.kill("cancelled")
                    return []
                if task.future.cancelled():
                    # A short task ends by itself sooner than another worker would start.
                    given_up = min(given_up, time.monotonic() + _CANCEL_GRACE_S)
                if time.monotonic() > deadline:
                    self.kill("timeout")
                    raise VisualProofError(
                        task.timeout_code, f"It took longer than {task.timeout_s:.0f} s."
                    )
            outcome = json.loads(connection.recv_bytes())
            if "error" in outcome:
                raise VisualProofError(**outcome["error"])
            parts = [connection.recv_bytes() for _ in range(outcome["parts"])]
        except (EOFError, OSError, ConnectionError):
            self.kill("crashed")
            raise VisualProofError(
                "PAGE_CRASHED", "A worker process died; the next call gets a new one."
            ) from None
        finally:
            TASK_SECONDS.labels(task.name).observe(time.monotonic() - started)
            if task.files is not None:
                shutil.rmtree(self.view / task.files.document_id, ignore_errors=True)
        self._done += 1
        if self._done >= self._settings.max_tasks or self._rss_mb() > self._settings.rss_mb:
            self.kill("recycled")
        return parts

    def _rss_mb(self) -> int:
        """Memory in use by the worker (proc(5), statm: pages)."""
        assert self._process is not None
        pid = str(self._process.pid)
        try:
            if self._enclosed:
                pid = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
            statm = Path(f"/proc/{pid}/statm").read_text()
        except (OSError, IndexError):
            return 0
        return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") // 10**6

    def _start(self) -> None:
        for folder in (self.scratch, self.view):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        WORKER_STARTS.labels(self._pool.name).inc()
        ours, theirs = socket.socketpair()
        line_ours, line_theirs = socket.socketpair()
        config = {
            "view": str(self.view),
            "scratch": str(self.scratch),
            "sandbox": self._settings.sandbox,
            "memory_mb": self._settings.memory_mb,
            "options": self._settings.options,
        }
        environment = {
            **{k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith("LC_")},
            "TMPDIR": str(self.scratch),
            "OMP_THREAD_LIMIT": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [
            sys.executable,
            # Not the folder it is started in: the sandbox opens all that is imported from.
            "-P",
            "-m",
            "visualproof_server.worker",
            str(theirs.fileno()),
            str(line_theirs.fileno()),
            json.dumps(config),
        ]
        started = command if self._settings.sandbox == "off" else enclosed(command, self.scratch)
        self._enclosed = started != command
        with theirs, line_theirs:
            self._process = subprocess.Popen(
                started,
                pass_fds=(theirs.fileno(), line_theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("VISUALPROOF_WORKER_STDERR") else subprocess.DEVNULL,
                start_new_session=True,
                env=environment,
            )
        self._connection = Connection(ours.detach())
        self._lifeline = line_ours
        self._done = 0
        deadline = time.monotonic() + START_TIMEOUT_S
        try:
            while not self._connection.poll(_CANCEL_POLL_S):
                if self._pool._closing.is_set() or time.monotonic() > deadline:
                    raise EOFError
            self._connection.recv_bytes()
        except (EOFError, OSError):
            self.kill()
            raise VisualProofError("PAGE_CRASHED", "A worker process cannot start.") from None

    def kill(self, why: str = "closed") -> None:
        """Ends the worker, all that it started, and its files."""
        process, self._process = self._process, None
        if process is not None:
            WORKER_KILLS.labels(self._pool.name, why).inc()
            # The group may outlive its leader, so it is killed in any case.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            process.wait()
        for end in (self._connection, self._lifeline):
            if end is not None:
                end.close()
        self._connection = self._lifeline = None
        self.remove()

    def remove(self) -> None:
        """Removes its folders."""
        for folder in (self.scratch, self.view):
            shutil.rmtree(folder, ignore_errors=True)
