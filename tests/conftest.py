"""A real server for the tests that matter: workers, Tesseract, poppler, gRPC over a socket."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from visualproof import Client, Document

EXAMPLE = Path(__file__).parent.parent / "examples" / "invoice"
SHARED = Path(__file__).parent.parent.parent / "shared"


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
        env=os.environ | {"VISUALPROOF_WORKER_STDERR": os.environ.get("VPW", "")},
    )
    if log is not None:
        stderr.close()  # type: ignore[union-attr]
    assert process.stdout is not None
    match = re.search(r"port (\d+)", process.stdout.readline())
    assert match is not None, "the server did not start"
    return RunningServer(process, f"127.0.0.1:{match[1]}", data)


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
