"""A server for a bench, on a free port and in a temporary folder; a Dask cluster and its store."""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import LocalCluster


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


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, str]]:
    """(store URL, scheduler's address) of Dask workers with one thread each, and SeaweedFS."""
    port = random.randrange(20_000, 40_000)
    ports = {
        name: port + n
        for n, name in enumerate(("master.port", "volume.port", "filer.port", "s3.port"))
    }
    endpoint = f"http://127.0.0.1:{ports['s3.port']}"
    with tempfile.TemporaryDirectory() as folder:
        weed = subprocess.Popen(
            [str(Path(sys.executable).parent / "weed"), "server", f"-dir={folder}", "-ip=127.0.0.1",
             "-filer", "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0",
             *(f"-{name}={number}" for name, number in ports.items())],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            for _ in range(600):
                try:
                    request = urllib.request.Request(f"{endpoint}/documents", method="PUT")
                    urllib.request.urlopen(request).close()
                    break
                except OSError:
                    time.sleep(0.1)
            os.environ |= {
                "AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
            }  # fmt: skip
            with LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None,
                local_directory=folder,
            ) as made:  # fmt: skip
                yield "s3://documents/bench", made.scheduler_address
        finally:
            weed.kill()
            weed.wait()
