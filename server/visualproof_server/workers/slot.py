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

from visualproof_server.metrics import TASK_SECONDS, WORKER_KILLS, WORKER_STARTS
from visualproof_server.model.crossing import packed, spelled, unpacked
from visualproof_server.model.errors import CODES, VisualProofError
from visualproof_server.model.frames import Frames, Garbled
from visualproof_server.model.tasks import Task
from visualproof_server.storing.store import DocumentStore
from visualproof_server.workers.bubblewrap import enclosed

START_TIMEOUT_S = 60.0
_CANCEL_GRACE_S = 1.0
# What a worker says when it is ready; the most blobs of an answer, and how often a task may ask for one.
_READY_BYTES, _MAX_BLOBS, _MAX_NEEDS = 1024, 20_000, 20_000
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
    sandbox is auto, strict or off; isolate is none, or document for a fresh worker for each.
    """

    views: str
    scratch: str
    memory_mb: int
    max_tasks: int
    options: dict[str, Any]
    sandbox: str = "auto"
    rss_mb: int = 1500
    isolate: str = "none"


@dataclass(order=True, kw_only=True)
class Work:
    """A task that waits for a slot."""

    order: tuple[float, int]
    task: Task[Any] = field(compare=False)
    timeout_s: float = field(compare=False)
    future: "Future[Any]" = field(compare=False)

    @property
    def document_id(self) -> str:
        """The document that the task is about, or empty."""
        return str(getattr(self.task, "document_id", ""))


class Crashed(Exception):
    """The worker, or a program that it ran, died."""

    def seen_as(self, task: Task[Any]) -> VisualProofError:
        """The error that callers see: PAGE_CRASHED is about reading only."""
        return VisualProofError(task.terms.crash_code, str(self))


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

    def run(self, work: Work) -> Any:
        """The result; errors VisualProofError (the task's own, those of its terms, the store's),
        Crashed."""
        if self._process is None or self._process.poll() is not None:
            self.kill()
            self.start()
        started = time.monotonic()
        try:
            result = self._asked(work, self._patience(work, started))
        finally:
            TASK_SECONDS.labels(work.task.name()).observe(time.monotonic() - started)
            if work.document_id:
                shutil.rmtree(self.view / work.document_id, ignore_errors=True)
        self._done += 1
        if self._done >= self._settings.max_tasks or self._rss_mb() > self._settings.rss_mb:
            self.kill("recycled")
        return result

    def _asked(self, work: Work, check: Callable[[], None]) -> Any:
        """Sends a task and takes its answer; whatever goes wrong on the way costs the worker."""
        try:
            self._send(work, check)
            return self._answer(work, check)
        except _GivenUp:
            self.kill("cancelled")
            return None
        except _TooLong:
            self.kill("timeout")
            raise VisualProofError(
                work.task.terms.timeout_code, f"It took longer than {work.timeout_s:.0f} s."
            ) from None
        except Garbled:
            self.kill("garbled")
            raise Crashed("A worker gave no answer that can be used.") from None
        except (EOFError, OSError):
            self.kill("crashed")
            raise Crashed("A worker process died; the next call gets a new one.") from None

    def _patience(self, work: Work, started: float) -> Callable[[], None]:
        """What is called all the while the worker works: raises when that must end."""
        deadline, given_up = started + work.timeout_s, math.inf

        def check() -> None:
            nonlocal given_up
            now = time.monotonic()
            if work.future.cancelled():
                # A short task ends by itself sooner than another worker would start.
                given_up = min(given_up, now + _CANCEL_GRACE_S)
            if self._closing.is_set() or now > given_up:
                raise _GivenUp
            if now > deadline:
                raise _TooLong

        return check

    def _send(self, work: Work, check: Callable[[], None]) -> None:
        assert self._connection is not None
        if work.document_id:
            self._store.stage(work.document_id, work.task.terms.needs, self.view)
        request, blobs = packed(work.task)
        head = {"task": work.task.name(), "request": request, "blobs": len(blobs)}
        self._connection.send(spelled(head), check)
        for blob in blobs:
            self._connection.send(blob, check)

    def _answer(self, work: Work, check: Callable[[], None]) -> Any:
        assert self._connection is not None
        left = work.task.terms.answer_mb * 1024**2
        for _ in range(_MAX_NEEDS):
            head = _parsed(self._connection.receive(left, check))
            if "need" not in head:
                break
            self._lay(work, head["need"])
            self._connection.send(b"{}", check)
        else:
            raise Garbled("it asks for ever")
        if "error" in head:
            raise _error_of(work.task, head["error"])
        count, blobs = head.get("blobs"), []
        if not isinstance(count, int) or not 0 <= count <= _MAX_BLOBS:
            raise Garbled("blobs")
        for _ in range(count):
            blobs.append(self._connection.receive(left, check))
            left -= len(blobs[-1])
        try:
            return unpacked(work.task.result, head.get("result", {}), blobs)
        except ValueError:
            raise Garbled("no result") from None

    def _lay(self, work: Work, wanted: object) -> None:
        """Lays one more blob into the view, of the task's own document only."""
        if not work.document_id or not work.task.terms.more:
            return
        if not isinstance(wanted, list) or wanted[:1] != [work.document_id]:
            raise Garbled("another document")
        try:
            self._store.stage(work.document_id, [str(name) for name in wanted[1:2]], self.view)
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

    def start(self) -> None:
        """Starts the worker; error Crashed."""
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
            self._connection.receive(_READY_BYTES, check)
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


def _error_of(task: Task[Any], said: object) -> Exception:
    """The error that a worker reports; it may be hostile, so that only known codes count."""
    if not isinstance(said, dict) or said.get("code") not in CODES:
        raise Garbled("no error")
    code, message = str(said["code"]), str(said.get("message"))[:_MAX_MESSAGE]
    if code == "PAGE_CRASHED":
        return Crashed(message)
    if code == "PAGE_MEMORY" and task.terms.crash_code != "PAGE_CRASHED":
        # Callers of a verification read no page.
        return VisualProofError(task.terms.crash_code, message)
    metadata = said.get("metadata")
    return VisualProofError(
        code,
        message,
        {str(k): str(v)[:_MAX_MESSAGE] for k, v in list(metadata.items())[:_MAX_METADATA]}
        if isinstance(metadata, dict)
        else {},
        field_path=str(said.get("field_path", ""))[:_MAX_MESSAGE],
    )
