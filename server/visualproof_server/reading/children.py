"""Programs that a worker started, and what those started in turn."""

import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind (prctl(2))."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_children() -> int:
    """Kills all children and, as they become orphans, theirs; returns how many there were."""
    killed = 0
    while children := _children():
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


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Kills what a block starts once it takes longer, until it ends: a pipe that a grandchild holds
    would keep its reader for ever."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            kill_children()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def _children() -> list[int]:
    """Children of all threads of this process (proc(5)); empty where the kernel does not say."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += [int(pid) for pid in (task / "children").read_text().split()]
        except OSError:
            continue
    return found
