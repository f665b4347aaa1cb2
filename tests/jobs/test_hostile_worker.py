"""Whatever a worker says, or does not say to the end, costs one task and no slot."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs.hostile_worker import ANSWERS
from visualproof_server.jobs.pool import Files, WorkerPool, WorkerSettings
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.disk import DiskStore

pytestmark = pytest.mark.slow

ID = "cd" * 16
# What ends only when the task's time is over.
SLOW = ("half a frame", "half a part", "a byte at a time", "needs without end")


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
    future = pool.submit("any", [], None, limit, files=Files(ID, (), more=True))
    with pytest.raises(VisualProofError) as caught:
        future.result(timeout=12 if how in SLOW else 90)
    assert caught.value.code == ("PAGE_TIMEOUT" if how in SLOW else "PAGE_CRASHED")
    assert "document" not in caught.value.message


def test_a_crashed_verification_is_no_crashed_page(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_HOSTILE", "no JSON")
    with pytest.raises(VisualProofError) as caught:
        pool.submit("any", [], None, 5.0, crash_code="VERIFY_CRASHED").result(timeout=30)
    assert caught.value.code == "VERIFY_CRASHED"
