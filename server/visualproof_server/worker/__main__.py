"""The worker process: `python -m visualproof_server.worker`, started by workers.slot.

Composition root of a worker. Never imports grpc.
"""

import errno
import json
import os
import resource
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2

from visualproof_server.model.crossing import packed, spelled, unpacked
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.frames import Frames
from visualproof_server.model.tasks import KINDS, Task
from visualproof_server.reading.children import ProgramLimits, adopt_orphans, kill_children
from visualproof_server.reading.source import PageLimits
from visualproof_server.storing.staged import StagedDocument
from visualproof_server.worker.confinement import confine
from visualproof_server.worker.engines import engines
from visualproof_server.worker.tasks import Tasks

# Largest file that a worker or what it starts may write, in bytes.
_MAX_FILE = 2 * 1024**3
# What comes from the server is not bounded here, but where it has gone out of step.
_MAX_MESSAGE = 1024**3
_KINDS = {kind.name(): kind for kind in KINDS}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def die_with_parent(lifeline: int) -> None:
    """Kills this worker's group when the other end of the lifeline is gone."""

    def watch() -> None:
        with socket.socket(fileno=lifeline) as line:
            line.recv(1)
        kill_children()
        os.killpg(0, signal.SIGKILL)
        # The first process of a namespace is not killed from within.
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def fetcher(connection: Frames) -> Callable[[str, str], None]:
    """Asks the server for one more blob of the task's document, and waits until it is there."""

    def fetch(document_id: str, name: str) -> None:
        connection.send(json.dumps({"need": [document_id, name]}).encode())
        connection.receive(_MAX_MESSAGE)

    return fetch


def serve(connection: Frames, tasks: Tasks, scratch: Path) -> None:
    """Answers one task after the other until the connection ends."""
    while True:
        try:
            task = _received(connection)
        except EOFError:
            return
        try:
            head, blobs = packed(tasks.table[type(task)](task))
            connection.send(spelled({"result": head, "blobs": len(blobs)}))
            for blob in blobs:
                connection.send(blob)
        except VisualProofError as error:
            _send_error(connection, error)
        except MemoryError:
            _send_error(connection, VisualProofError("PAGE_MEMORY", "It needs too much memory."))
        except Exception as error:
            # The type only: a message may hold document text.
            if os.environ.get("VISUALPROOF_WORKER_STDERR"):
                sys.excepthook(type(error), error, error.__traceback__)
            kind = type(error).__name__
            number = error.errno if isinstance(error, OSError) else None
            code = "DISK_FULL" if number in _NO_ROOM else "INTERNAL"
            # A file over the bound is the page's own doing.
            code = "PAGE_MEMORY" if number == errno.EFBIG else code
            _send_error(
                connection, VisualProofError(code, f"A task failed ({kind}).", {"type": kind})
            )
        # A program that failed may have left others.
        kill_children()
        for left_over in scratch.iterdir():
            if left_over.is_dir():
                shutil.rmtree(left_over, ignore_errors=True)
            else:
                left_over.unlink(missing_ok=True)


def _received(connection: Frames) -> Task[Any]:
    """The next request; EOFError when there is none."""
    said = json.loads(connection.receive(_MAX_MESSAGE))
    blobs = [connection.receive(_MAX_MESSAGE) for _ in range(said["blobs"])]
    task: Task[Any] = unpacked(_KINDS[said["task"]], said["request"], blobs)
    return task


def _send_error(connection: Frames, error: VisualProofError) -> None:
    connection.send(spelled({"error": asdict(error)}))


def main() -> None:
    connection_fd, lifeline_fd, config_json = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    config: dict[str, Any] = json.loads(config_json)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    die_with_parent(lifeline_fd)
    cv2.setNumThreads(1)
    memory = config["memory_mb"] * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A renderer that never ends writing fills no disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE, _MAX_FILE))
    options = config["options"]
    limits = PageLimits(
        options["page_pixels"], options["page_side"], ProgramLimits(*options["raster"])
    )
    installed = engines(ProgramLimits(*options["ocr"]))
    for engine in installed.values():
        # Asked before the doors close: engines look in places that they need only once.
        engine.languages()
    connection = Frames(socket.socket(fileno=connection_fd))
    layers: list[str] = []
    if config["sandbox"] != "off":
        layers = confine(Path(config["scratch"]), Path(config["view"]))
        if os.getpid() == 1:
            layers.insert(0, "bubblewrap")
    if config["sandbox"] == "strict" and not {"landlock", "seccomp"} <= set(layers):
        sys.exit("--sandbox strict: this kernel has no landlock or seccomp")
    tasks = Tasks(
        StagedDocument(Path(config["view"]), fetcher(connection)), installed, limits, layers
    )
    connection.send(b"ready")
    serve(connection, tasks, Path(config["scratch"]))


if __name__ == "__main__":
    main()
