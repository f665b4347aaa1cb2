"""A server for a bench, on a free port and in a temporary folder."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(*flags: str) -> Iterator[tuple[str, int]]:
    """(target, process id) of a running server."""
    with tempfile.TemporaryDirectory() as data:
        process = subprocess.Popen(
            [sys.executable, "-m", "visualproof_server", "--listen", "127.0.0.1:0", "--data-dir", data,
             "--log-level", "error", *flags],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            match = re.search(r"port (\d+)", process.stdout.readline())
            if match is None:
                sys.exit("the server did not start")
            yield f"127.0.0.1:{match[1]}", process.pid
        finally:
            process.terminate()
            process.wait()
