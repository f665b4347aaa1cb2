"""Programs that a worker started, and what those started in turn."""

import contextlib
import ctypes
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
# A program is bounded soon after it starts; later looks are for what it starts itself.
_FIRST_LOOK_S, _LOOK_S = 0.005, 0.25
_GRACE_S = 1.0


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind (prctl(2))."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_children(but: Set[int] = frozenset()) -> int:
    """Kills all children and, as they become orphans, theirs; returns how many there were."""
    killed = 0
    while children := _children() - but:
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for child in children:
            # Gone, or reaped by whoever waits for it.
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                continue
        killed += len(children)
    return killed


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What each run of a program gets: wall clock and CPU in seconds, address space in MB."""

    wall_s: int
    cpu_s: int
    memory_mb: int


# The defaults of the settings.
RASTER = ProgramLimits(30, 20, 1024)
OCR = ProgramLimits(60, 60, 1536)


@contextmanager
def within(limits: ProgramLimits) -> Iterator[None]:
    """Bounds the programs that a block starts (setrlimit(2)), and kills them once their time is up,
    until the block ends: a pipe that a grandchild holds would keep its reader for ever."""
    ended = threading.Event()
    others = _children()
    # Callers end a program themselves where they can, and then know why it ended.
    end = time.monotonic() + limits.wall_s + _GRACE_S
    memory = limits.memory_mb * 1024 * 1024

    def watch() -> None:
        bound = set(others)
        pause = _FIRST_LOOK_S
        while not ended.wait(pause):
            pause = min(2 * pause, _LOOK_S)
            if time.monotonic() > end:
                kill_children(but=others)
            for child in _children() - bound:
                bound.add(child)
                # Gone already, or with lower bounds of its own.
                with contextlib.suppress(OSError, ValueError):
                    # A second later it would be SIGKILL, which does not say why.
                    cpu = limits.cpu_s, limits.cpu_s + 1
                    resource.prlimit(child, resource.RLIMIT_CPU, cpu)
                    resource.prlimit(child, resource.RLIMIT_AS, (memory, memory))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _children() -> set[int]:
    """Children of all threads of this process (proc(5)); empty where the kernel does not say."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found |= {int(pid) for pid in (task / "children").read_text().split()}
        except OSError:
            continue
    return found
