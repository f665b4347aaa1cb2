"""A real server for the tests that matter: workers, Tesseract, poppler, gRPC over a socket."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from visualproof import Client, Document

EXAMPLE = Path(__file__).parent.parent / "examples" / "invoice"
SHARED = Path(__file__).parent.parent.parent / "shared"

# What app.py hands to workers: bounds of a page, and of programs (wall s, CPU s, MB).
WORKER_OPTIONS = {
    "page_pixels": 40_000_000, "page_side": 10_000, "raster": (30, 20, 1024), "ocr": (60, 60, 1536),
}  # fmt: skip


# Who asks for one of these starts a server.
_SLOW = {"server", "client", "invoice", "s3"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs a server as slow: `make test-fast` leaves it out."""
    for item in items:
        if _SLOW & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@dataclass
class RunningServer:
    """A server process and where it listens."""

    process: "subprocess.Popen[str]"
    target: str
    data: Path

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def start_server(data: Path, *flags: str, log: Path | None = None) -> RunningServer:
    command = [sys.executable, "-m", "visualproof_server", "--listen", "127.0.0.1:0"]
    stderr = log.open("w") if log is not None else subprocess.DEVNULL
    process = subprocess.Popen(
        [*command, "--data-dir", str(data), "--log-level", "info", *flags],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=os.environ | {"VISUALPROOF_WORKER_STDERR": ""},
    )
    if log is not None:
        stderr.close()  # type: ignore[union-attr]
    assert process.stdout is not None
    match = re.search(r"port (\d+)", process.stdout.readline())
    assert match is not None, "the server did not start"
    return RunningServer(process, f"127.0.0.1:{match[1]}", data)


@dataclass
class Bucket:
    """A bucket of a real S3 server on this machine."""

    endpoint: str

    def url(self, prefix: str) -> str:
        return f"s3://documents/{prefix}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "us-east-1",
        }


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; low enough for SeaweedFS, which adds 10,000 for its own."""
    found: list[socket.socket] = []
    try:
        while len(found) < count:
            taken = socket.socket()
            found.append(taken)
            taken.bind(("127.0.0.1", random.randrange(20_000, 50_000)))
        return [s.getsockname()[1] for s in found]
    finally:
        for s in found:
            s.close()


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    """SeaweedFS, from its wheel."""
    folder = tmp_path_factory.mktemp("weed")
    master, volume, filer, port = free_ports(4)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "weed"), "server", f"-dir={folder}", "-ip=127.0.0.1",
             "-ip.bind=127.0.0.1", f"-master.port={master}", f"-volume.port={volume}", "-filer",
             f"-filer.port={filer}", "-s3", f"-s3.port={port}", "-volume.max=20",
             "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0",
             "-s3.port.lance=0"],
            stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    bucket = Bucket(f"http://127.0.0.1:{port}")
    before = {name: os.environ.get(name) for name in bucket.environment}
    try:
        end = time.monotonic() + 60
        while True:
            try:
                made = urllib.request.Request(f"{bucket.endpoint}/documents", method="PUT")
                urllib.request.urlopen(made).close()
                break
            except OSError:
                assert time.monotonic() < end, "SeaweedFS did not come up"
                time.sleep(0.1)
        os.environ.update(bucket.environment)
        yield bucket
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def server_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "server.jsonl"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, server_log: Path) -> Iterator[RunningServer]:
    running = start_server(tmp_path_factory.mktemp("data"), log=server_log)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.target) as connected:
        yield connected


@pytest.fixture(scope="session")
def invoice(client: Client) -> Document:
    """The project's own scanned invoice, read by the real service."""
    return client.ingest(EXAMPLE / "scan.jpg")
