"""Pages on a real Dask cluster, over TLS: a scheduler and two workers, each of which can be killed."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from conftest import Bucket, RunningServer, free_ports, start_server
from visualproof import Client

from contract.certificates import authority
from contract.test_replicas import pages

pytestmark = pytest.mark.slow

DASK = str(Path(sys.executable).parent / "dask")


@dataclass
class Cluster:
    """Processes of a cluster on this machine."""

    scheduler: "subprocess.Popen[bytes]"
    workers: list["subprocess.Popen[bytes]"]
    address: str
    folder: Path
    log: Path

    @property
    def processes(self) -> list["subprocess.Popen[bytes]"]:
        return [self.scheduler, *self.workers]


@pytest.fixture
def cluster(s3: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    signer = authority("ca")
    (tmp_path / "ca.pem").write_bytes(signer.pem)
    cert, key = signer.write(tmp_path, "cluster")
    for name, file in (("CA_FILE", tmp_path / "ca.pem"), ("SCHEDULER__CERT", cert), ("SCHEDULER__KEY", key),
                       ("WORKER__CERT", cert), ("WORKER__KEY", key), ("CLIENT__CERT", cert),
                       ("CLIENT__KEY", key)):  # fmt: skip
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(file))
    (port,) = free_ports(1)
    address = f"tls://127.0.0.1:{port}"
    log = tmp_path / "dask.log"
    with log.open("wb") as out:

        def start(*command: str) -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                [DASK, *command, "--no-dashboard"], stdout=out, stderr=out, cwd=tmp_path
            )

        scheduler = start("scheduler", "--host", address, "--port", str(port))
        folder = tmp_path / "local"
        worker = (
            "worker",
            address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--local-directory",
            str(folder),
        )
        made = Cluster(scheduler, [start(*worker), start(*worker)], address, folder, log)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


@pytest.fixture
def server(s3: Bucket, tmp_path: Path, cluster: Cluster) -> Iterator[RunningServer]:
    until(lambda: cluster.log.read_text().count("Registered to") == 2)
    made = start_server(
        tmp_path / "data", "--store-url", s3.url(f"dask-{tmp_path.name}"), "--engine", "tesseract",
        "--page-scheduler", cluster.address, "--workers", "1", log=tmp_path / "server.jsonl",
    )  # fmt: skip
    yield made
    made.stop()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def readers(process: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> list[psutil.Process]:
    """Worker processes of ours that a process started, without what encloses them."""
    return [p for p in psutil.Process(process.pid).children(recursive=True) if _reads(p)]


def _reads(process: psutil.Process) -> bool:
    try:
        return "visualproof_server.worker" in process.cmdline() and process.name() != "bwrap"
    except psutil.NoSuchProcess:
        # It ended between the listing and the look.
        return False


def _has_children(process: psutil.Process) -> bool:
    try:
        return bool(process.children())
    except psutil.NoSuchProcess:
        return False


def test_a_killed_worker_costs_no_page(server: RunningServer, cluster: Cluster) -> None:
    with Client(server.target) as client:
        document = client.upload(pages(8))
        killed: list[psutil.Process] = []
        for state in client.watch(document):
            if state.read_page_count >= 2 and not killed:
                assert all(readers(w) for w in cluster.workers), "both read"
                killed = readers(cluster.workers[0])
                cluster.workers[0].kill()
        assert state.read_page_count == state.page_count == 8
        assert [p.failure.code for p in client.pages(document)] == [""] * 8
        # What it had started died with it.
        until(lambda: not any(p.is_running() for p in killed))
        # The same as read here, block by block.
        far = list(client.blocks(document))
    with_local = start_server(server.data.parent / "alone", "--engine", "tesseract")
    try:
        with Client(with_local.target) as client:
            assert list(client.blocks(client.ingest(pages(8)))) == far
    finally:
        with_local.stop()


def test_a_lost_scheduler_costs_only_the_pages_in_flight(
    server: RunningServer, cluster: Cluster
) -> None:
    with Client(server.target) as client:
        document = client.upload(pages(8))
        for state in client.watch(document):
            if state.read_page_count >= 3 and cluster.scheduler.poll() is None:
                for process in cluster.processes:
                    process.kill()
        assert state.read_page_count == state.page_count == 8
        assert [p.failure.code for p in client.pages(document)] == [""] * 8
    lines = [json.loads(x) for x in (server.data.parent / "server.jsonl").read_text().splitlines()]
    assert any(x["message"] == "no cluster" for x in lines)


def test_a_deleted_document_is_given_up(server: RunningServer, cluster: Cluster) -> None:
    with Client(server.target) as client:
        document = client.upload(pages(8))
        for state in client.watch(document):
            if state.read_page_count >= 1:
                break
        client.delete(document)
        until(lambda: not any(_has_children(p) for w in cluster.workers for p in readers(w)))
        # It can come back, and is read whole.
        assert client.ingest(pages(8)).read_page_count == 8
