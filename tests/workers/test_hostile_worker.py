"""Whatever a worker says, or does not say to the end, costs one task and no slot."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.tasks import Pictures, Task, Terms, Verify
from visualproof_server.storing.disk import DiskStore
from visualproof_server.workers.pool import WorkerPool, WorkerSettings
from workers.hostile_worker import ANSWERS, FROZEN

pytestmark = pytest.mark.slow

ID = "cd" * 16
# What ends only when the task's time is over.
SLOW = ("half a frame", "half a blob", "a byte at a time", "needs without end")


@dataclass(frozen=True, slots=True)
class Asked(Task[Pictures]):
    """A task that may ask for more of its document."""

    document_id: str
    terms: ClassVar = Terms(timeout_s=60.0, more=True)
    result: ClassVar = Pictures


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    """Its workers are programs of ours, in the place of the real ones."""
    package = tmp_path / "first" / "visualproof_server"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    source = Path(__file__).with_name("hostile_worker.py").read_text()
    (package / "worker.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"))
    store = DiskStore(tmp_path / "documents")
    store.put(ID, "source", b"x")
    settings = WorkerSettings(
        str(tmp_path / "views"), str(tmp_path / "scratch"), 4096, 500, {}, sandbox="off"
    )
    made = WorkerPool(1, settings, store)
    yield made
    made.close()


@pytest.mark.parametrize("how", [*ANSWERS, "a byte at a time"])
def test_it_costs_one_task(how: str, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_HOSTILE", how)
    limit = 1.0 if how in SLOW else 60.0
    future = pool.submit(Asked(ID), timeout_s=limit)
    with pytest.raises(VisualProofError) as caught:
        future.result(timeout=12 if how in SLOW else 90)
    assert caught.value.code == ("PAGE_TIMEOUT" if how in SLOW else "PAGE_CRASHED")
    assert "document" not in caught.value.message


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize("how", [*FROZEN, "frozen before it listens"])
def test_a_frozen_worker_holds_no_slot(
    how: str, cancelled: bool, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_HOSTILE", how)
    # More than the socket's buffer holds: it cannot be sent to who does not read.
    request = Verify(ID, bytes(4_000_000), ProveRequest(), 1.0)
    future = pool.submit(request, timeout_s=60.0 if cancelled else 1.0)
    if cancelled:
        # Others wait behind it, whoever gave it up.
        end = time.monotonic() + 30
        while not pool.busy:
            assert time.monotonic() < end
        future.cancel()
    else:
        with pytest.raises(VisualProofError) as caught:
            future.result(timeout=30)
        assert caught.value.code == "VERIFY_TIMEOUT"
    monkeypatch.setenv("LC_HOSTILE", "no JSON")
    with pytest.raises(VisualProofError) as after:
        pool.submit(Asked(ID)).result(timeout=30)
    assert after.value.code == "PAGE_CRASHED"


def test_a_crashed_verification_is_no_crashed_page(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_HOSTILE", "no JSON")
    with pytest.raises(VisualProofError) as caught:
        pool.submit(Verify(ID, b"{}", ProveRequest(), 1.0)).result(timeout=30)
    assert caught.value.code == "VERIFY_CRASHED"
