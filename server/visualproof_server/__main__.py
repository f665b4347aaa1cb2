"""`visualproof-server`: settings, serve, drain on SIGTERM."""

import asyncio
import contextlib
import ctypes
import json
import logging
import os
import resource
import signal
import sys
import time

from visualproof_server.app import App
from visualproof_server.settings import Settings, parse

# The only fields a log line may carry: none of them can hold document text.
ALLOWED_FIELDS = ("rpc", "code", "ms", "document", "pages", "s", "port", "workers", "task",
                  "count")  # fmt: skip


# mallopt(3).
_M_MMAP_THRESHOLD, _LARGE_BLOCK = -3, 128 * 1024
_M_ARENA_MAX, _HEAPS = -8, 2


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {k: getattr(record, k) for k in ALLOWED_FIELDS if hasattr(record, k)}
        if record.exc_info and record.exc_info[0] is not None:
            # The type and place only: a message may hold document text.
            line["error"] = record.exc_info[0].__name__
            trace = record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is not None:
                line["at"] = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        return json.dumps(line)


async def serve(settings: Settings) -> None:
    """Runs until SIGTERM or SIGINT."""
    app = App(settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        await app.start()
        print(f"visualproof-server listens on port {app.port}", flush=True)
        await stop.wait()
    finally:
        await app.stop()


def _give_memory_back() -> None:
    """Has glibc give back each large block as it is freed, and keep two heaps: left alone each thread
    keeps what large requests once took."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        library.mallopt(_M_ARENA_MAX, _HEAPS)


def main() -> None:
    _give_memory_back()
    settings = parse(sys.argv[1:], os.environ)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger("visualproof")
    root.addHandler(handler)
    root.setLevel(settings.log_level.upper())
    root.propagate = False
    # Connections and uploads are files: all that this user may have open.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(serve(settings))


if __name__ == "__main__":
    main()
