"""A document whose store does not answer for a while is read later, and does not fail."""

import asyncio
import contextlib
import hashlib
import os
import shutil
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from conftest import EXAMPLE, WORKER_OPTIONS, Bucket
from proving.pages import OPTIONS
from visualproof_server.documents import leases
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits, Upload
from visualproof_server.model.document import State
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.storing.objects import ObjectStore
from visualproof_server.workers.pages import LocalPages
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow


class Gate(socketserver.ThreadingTCPServer):
    """A way to a server that can be shut: who comes then, or is on the way, is cut off."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), Pipe)
        address = urlsplit(target)
        self.target = (address.hostname or "", address.port or 0)
        self.open = True
        self.sockets: set[socket.socket] = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def shut(self) -> None:
        self.open = False
        for end in list(self.sockets):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Pipe(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        gate = self.server
        assert isinstance(gate, Gate)
        if not gate.open:
            return
        with socket.create_connection(gate.target) as far:
            gate.sockets |= {self.request, far}
            back = threading.Thread(target=carry, args=(far, self.request), daemon=True)
            back.start()
            carry(self.request, far)
            back.join()


def carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def gate(s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate(s3.endpoint)
    monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
    yield made
    made.shutdown()
    made.server_close()


def test_a_store_that_is_away_for_a_while_fails_no_document(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_S", 2.0)
    monkeypatch.setattr(leases, "RENEW_S", 0.5)
    bucket = ObjectStore(f"s3://documents/gate-{os.getpid()}", tmp_path / "cache", retry_s=1)
    store = AsyncStore(bucket)
    settings = WorkerSettings(
        str(tmp_path / "views"), str(tmp_path / "scratch"), 4096, 500, WORKER_OPTIONS
    )
    pool = WorkerPool(1, settings, bucket)
    limits = LifecycleLimits(8, 8, 100, 3600.0)
    pages = LocalPages(pool, store, 60.0)
    scan = EXAMPLE / "scan.jpg"
    file = Path(shutil.copy(scan, tmp_path / "scan.jpg"))

    async def run() -> None:
        queue = DocumentLifecycle(store, pool, pages, "test", limits)
        await queue.start()
        sha256 = hashlib.sha256(scan.read_bytes()).hexdigest()
        state = await queue.add(
            Upload(file=file, sha256=sha256, file_name="scan.jpg", options=OPTIONS, tenant="")
        )
        while not pool.busy:
            await asyncio.sleep(0.01)
        gate.shut()
        while queue.waiting:
            await asyncio.sleep(0.05)
        gate.open = True
        waits = documents.state_of(bucket, state.document_id).state
        assert waits in (State.QUEUED, State.READING)
        async for now in queue.watch(state.document_id):
            last = now
        assert (last.state, last.read_page_count) == (State.READY, 1)
        await queue.close()

    try:
        asyncio.run(asyncio.wait_for(run(), 60))
    finally:
        pool.close()
