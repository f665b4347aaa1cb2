"""One place for a worker process: started when it is needed, fed one task at a time, killed."""

import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from visualproof_server.jobs.frames import Frames, Garbled
from visualproof_server.jobs.sandbox import enclosed
from visualproof_server.metrics import TASK_SECONDS, WORKER_KILLS, WORKER_STARTS
from visualproof_server.model.errors import CODES, VisualProofError
from visualproof_server.storing.store import DocumentStore

START_TIMEOUT_S = 60.0
_CANCEL_GRACE_S = 1.0
# The largest head of an answer, the most parts of one, and how often a task may ask for a blob.
_HEAD_BYTES, _MAX_PARTS, _MAX_NEEDS = 1024**2, 20_000, 20_000
# Of an error that a worker reports: characters of a text, and pairs of metadata.
_MAX_MESSAGE, _MAX_METADATA = 500, 8
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
    """The blobs of a document that lie there when a task begins; names None means all.

    more: the task may ask for others of the same document when it needs them.
    """

    document_id: str
    names: tuple[str, ...] | None = None
    more: bool = False


@dataclass(order=True, kw_only=True)
class Task:
    """What a slot runs; answer_bytes bounds all that comes back."""

    order: tuple[float, int]
    name: str = field(compare=False)
    args: list[Any] = field(compare=False)
    blobs: list[bytes] = field(compare=False)
    timeout_s: float = field(compare=False)
    timeout_code: str = field(compare=False)
    crash_code: str = field(compare=False)
    answer_bytes: int = field(compare=False)
    files: Files | None = field(compare=False)
    future: "Future[list[bytes]]" = field(compare=False)


class Crashed(Exception):
    """The worker, or a program that it ran, died."""

    def seen_as(self, task: Task) -> VisualProofError:
        """The error that callers see: PAGE_CRASHED is about reading only."""
        return VisualProofError(task.crash_code, str(self))


class _GivenUp(Exception):
    """Nobody waits for the task any more."""


class _TooLong(Exception):
    """The task's time is over."""


class Slot:
    """Keeps one worker process and its folders; closing is set when the server ends."""

    def __init__(
        self,
        settings: WorkerSettings,
        store: DocumentStore,
        pool: str,
        index: int,
        closing: threading.Event,
    ) -> None:
        self._settings = settings
        self._store = store
        self._pool = pool
        self._closing = closing
        name = f"slot-{os.getpid()}-{id(self):x}-{index}"
        self.scratch = Path(settings.scratch) / name
        self.view = Path(settings.views) / name
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Frames | None = None
        self._lifeline: socket.socket | None = None
        self._done = 0
        # Whether what was started is the worker's parent.
        self._enclosed = False

    def run(self, task: Task) -> list[bytes]:
        """The parts of the answer; errors VisualProofError (the task's own, its timeout code, the
        store's), Crashed."""
        if self._process is None or self._process.poll() is not None:
            self.kill()
            self._start()
        started = time.monotonic()
        try:
            parts = self._asked(task, self._patience(task, started))
        finally:
            TASK_SECONDS.labels(task.name).observe(time.monotonic() - started)
            if task.files is not None:
                shutil.rmtree(self.view / task.files.document_id, ignore_errors=True)
        self._done += 1
        if self._done >= self._settings.max_tasks or self._rss_mb() > self._settings.rss_mb:
            self.kill("recycled")
        return parts

    def _asked(self, task: Task, check: Callable[[], None]) -> list[bytes]:
        """Sends a task and takes its answer; whatever goes wrong on the way costs the worker."""
        try:
            self._send(task, check)
            return self._answer(task, check)
        except _GivenUp:
            self.kill("cancelled")
            return []
        except _TooLong:
            self.kill("timeout")
            raise VisualProofError(
                task.timeout_code, f"It took longer than {task.timeout_s:.0f} s."
            ) from None
        except Garbled:
            self.kill("garbled")
            raise Crashed("A worker gave no answer that can be used.") from None
        except (EOFError, OSError):
            self.kill("crashed")
            raise Crashed("A worker process died; the next call gets a new one.") from None

    def _patience(self, task: Task, started: float) -> Callable[[], None]:
        """What is called all the while the worker works: raises when that must end."""
        deadline, given_up = started + task.timeout_s, math.inf

        def check() -> None:
            nonlocal given_up
            now = time.monotonic()
            if task.future.cancelled():
                # A short task ends by itself sooner than another worker would start.
                given_up = min(given_up, now + _CANCEL_GRACE_S)
            if self._closing.is_set() or now > given_up:
                raise _GivenUp
            if now > deadline:
                raise _TooLong

        return check

    def _send(self, task: Task, check: Callable[[], None]) -> None:
        assert self._connection is not None
        if task.files is not None:
            self._store.stage(task.files.document_id, task.files.names, self.view)
        head = json.dumps([task.name, task.args, len(task.blobs)])
        self._connection.send(head.encode("utf-8", "surrogatepass"), check)
        for blob in task.blobs:
            self._connection.send(blob, check)

    def _answer(self, task: Task, check: Callable[[], None]) -> list[bytes]:
        assert self._connection is not None
        for _ in range(_MAX_NEEDS):
            head = _parsed(self._connection.receive(_HEAD_BYTES, check))
            if "need" not in head:
                break
            self._lay(task, head["need"])
            self._connection.send(b"{}", check)
        else:
            raise Garbled("it asks for ever")
        if "error" in head:
            raise _error_of(task, head["error"])
        count, left = head.get("parts"), task.answer_bytes
        if not isinstance(count, int) or not 0 <= count <= _MAX_PARTS:
            raise Garbled("parts")
        parts = []
        for _ in range(count):
            parts.append(self._connection.receive(left, check))
            left -= len(parts[-1])
        return parts

    def _lay(self, task: Task, wanted: object) -> None:
        """Lays one more blob into the view, of the task's own document only."""
        if task.files is None or not task.files.more:
            return
        if not isinstance(wanted, list) or wanted[:1] != [task.files.document_id]:
            raise Garbled("another document")
        try:
            self._store.stage(
                task.files.document_id, [str(name) for name in wanted[1:2]], self.view
            )
        except ValueError:
            raise Garbled("no blob's name") from None
        except VisualProofError:
            # The store is away: the worker waits for an answer that does not come.
            self.kill("store")
            raise

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
        WORKER_STARTS.labels(self._pool).inc()
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
        self._connection = Frames(ours)
        self._lifeline = line_ours
        self._done = 0
        deadline = time.monotonic() + START_TIMEOUT_S

        def check() -> None:
            if self._closing.is_set() or time.monotonic() > deadline:
                raise EOFError

        try:
            self._connection.receive(_HEAD_BYTES, check)
        except (EOFError, OSError, Garbled):
            self.kill()
            raise Crashed("A worker process cannot start.") from None

    def kill(self, why: str = "closed") -> None:
        """Ends the worker, all that it started, and its files."""
        process, self._process = self._process, None
        if process is not None:
            WORKER_KILLS.labels(self._pool, why).inc()
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


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        head = json.loads(data)
    except (ValueError, RecursionError):
        raise Garbled("no JSON") from None
    if not isinstance(head, dict):
        raise Garbled("no head")
    return head


def _error_of(task: Task, said: object) -> Exception:
    """The error that a worker reports; it may be hostile, so that only known codes count."""
    if not isinstance(said, dict) or said.get("code") not in CODES:
        raise Garbled("no error")
    code, message = str(said["code"]), str(said.get("message"))[:_MAX_MESSAGE]
    if code == "PAGE_CRASHED":
        return Crashed(message)
    if code == "PAGE_MEMORY" and task.crash_code != "PAGE_CRASHED":
        # Callers of a verification read no page.
        return VisualProofError(task.crash_code, message)
    metadata = said.get("metadata")
    return VisualProofError(
        code,
        message,
        {str(k): str(v)[:_MAX_MESSAGE] for k, v in list(metadata.items())[:_MAX_METADATA]}
        if isinstance(metadata, dict)
        else {},
        field_path=str(said.get("field_path", ""))[:_MAX_MESSAGE],
    )
