"""Workers that hang, die or are cancelled: nothing is left behind, and the next task works."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import psutil
import pytest
from conftest import WORKER_OPTIONS
from proving.pages import OPTIONS
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.tasks import (
    CountPages,
    Describe,
    Done,
    PageRead,
    ReadPage,
    Task,
    Terms,
)
from visualproof_server.storing.disk import DiskStore
from visualproof_server.workers.isolated import IsolatedSlot
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow

ID = "cd" * 16
INVOICE = Path(__file__).parents[2] / "examples" / "invoice"
SHA256 = hashlib.sha256((INVOICE / "scan.jpg").read_bytes()).hexdigest()
FAKES = {
    "hangs and ignores TERM": "trap '' TERM; sleep 600 & sleep 600",
    "segfaults": "kill -SEGV $$",
    "prints invalid utf-8": "printf '\\377\\376\\n'",
    "exits 0 without output": "exit 0",
    "floods stderr": "head -c 1000000000 /dev/zero >&2; exit 1",
    "forks and leaves": "(trap '' TERM HUP; sleep 600) & (setsid sleep 600) & exit 1",
    "eats memory": "exec tail </dev/zero",
    "ends in the middle": "printf 'level\tpage_num\n5\t1\t1' > $2.tsv; exit 0",
    "writes without end": "cat /dev/zero > $2.tsv; exit 1",
}
# Those that end only when they are killed.
ENDLESS = ("hangs and ignores TERM", "forks and leaves")
# The same for pdftoppm: after it, pdfium draws the page.
DRAWERS = {
    "hangs and ignores TERM": "trap '' TERM; sleep 600 & sleep 600",
    "exits 0 without output": "exit 0",
    "exits 0 with half a page": "printf 'P5\n1654 2339\n255\n0000' ; exit 0",
    "prints a page of 1 x 1": "printf 'P5\n1 1\n255\n0'; exit 0",
    "segfaults": "kill -SEGV $$",
    "floods stderr": "head -c 300000000 /dev/zero >&2; exit 1",
}


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def started_in(root: Path) -> list[psutil.Process]:
    """Living processes whose scratch lies under root: workers and all that they started."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get("TMPDIR", "").startswith(str(root))
            if mine and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def names_in(root: Path) -> set[str]:
    """Their programs' names; some may end while we look."""
    names = set()
    for process in started_in(root):
        try:
            names.add(process.name())
        except psutil.Error:
            continue
    return names


def worker_in(root: Path) -> psutil.Process:
    """The one worker, without what encloses it."""
    (worker,) = (p for p in started_in(root) if "python" in p.name())
    return worker


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = DiskStore(tmp_path / "documents")
    store.put(ID, "source", (INVOICE / "scan.jpg").read_bytes())
    return tmp_path


def settings(root: Path) -> WorkerSettings:
    return WorkerSettings(
        str(root / "views"), str(root / "scratch"), 4096, 500, dict(WORKER_OPTIONS)
    )


@pytest.fixture
def pool(root: Path) -> Iterator[WorkerPool]:
    made = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    yield made
    made.close()
    assert not any((root / "scratch").iterdir())
    assert not any((root / "views").iterdir())


def fake_tesseract(root: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    body = 'case "$*" in *--version*) echo "tesseract 5.3.0"; exit 0;; *--list-langs*) echo eng; exit 0;; esac'
    fake(root, monkeypatch, "tesseract", f"{body}\n{script}")


def fake(root: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    folder = root / "bin"
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def read(pool: WorkerPool, timeout_s: float = 60.0, sha256: str = SHA256) -> PageRead:
    return pool.submit(ReadPage(ID, sha256, 1, OPTIONS), timeout_s=timeout_s).result(timeout=90)


def test_reads_a_page(pool: WorkerPool) -> None:
    made = read(pool)
    assert b"INV-2026-0417" in made.page
    assert made.image.startswith(b"\xff\xd8")
    assert {"draw", "clean", "ocr", "tables"} <= set(dict(made.seconds))


@pytest.mark.parametrize("name", FAKES)
def test_a_faulty_engine_costs_only_its_page(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tesseract(root, monkeypatch, FAKES[name])
    pool = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    try:
        if name in ("exits 0 without output", "ends in the middle"):
            # Nothing read is not a crash; but it must not be words either.
            try:
                assert b'"lines":[]' in read(pool, 15.0).page
            except VisualProofError as error:
                assert error.code == "PAGE_CRASHED"
        else:
            with pytest.raises(VisualProofError) as caught:
                read(pool, 3.0 if name in ENDLESS else 40.0)
            assert caught.value.code in ("PAGE_TIMEOUT", "PAGE_CRASHED", "PAGE_MEMORY")
        # The next task of the same pool works.
        assert pool.submit(CountPages(ID, SHA256, "")).result(timeout=60).pages == 1
    finally:
        pool.close()
    assert eventually(lambda: not started_in(root))


def test_cancelling_kills_the_worker_and_what_it_started(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tesseract(root, monkeypatch, FAKES["hangs and ignores TERM"])
    pool = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    try:
        future = pool.submit(ReadPage(ID, SHA256, 1, OPTIONS), timeout_s=600)
        assert eventually(lambda: "sleep" in names_in(root), 30)
        assert future.cancel()
        assert eventually(lambda: "sleep" not in names_in(root))
        assert pool.submit(CountPages(ID, SHA256, "")).result(timeout=60).pages == 1
    finally:
        pool.close()


def test_a_killed_worker_is_replaced(pool: WorkerPool, root: Path) -> None:
    pool.submit(CountPages(ID, SHA256, "")).result(timeout=60)
    worker = worker_in(root)
    worker.kill()
    worker.wait(timeout=10)
    assert pool.submit(CountPages(ID, SHA256, "")).result(timeout=60).pages == 1


def test_a_task_whose_worker_is_killed_is_done_again(pool: WorkerPool, root: Path) -> None:
    pool.submit(CountPages(ID, SHA256, "")).result(timeout=60)
    worker = worker_in(root)
    future = pool.submit(ReadPage(ID, SHA256, 1, OPTIONS), timeout_s=60.0)
    assert eventually(lambda: bool(worker.children()) or future.done())
    worker.kill()
    assert b"INV-2026-0417" in future.result(timeout=60).page


def test_no_worker_serves_a_second_document(root: Path) -> None:
    """Each has a worker of its own, from a spare that is there already; nothing is left of any."""
    store = DiskStore(root / "documents")
    other = "ef" * 16
    store.put(other, "source", (INVOICE / "scan.jpg").read_bytes())
    pool = WorkerPool(1, replace(settings(root), isolate="document"), store)
    seen: dict[str, set[int]] = {}
    try:
        for name in (ID, ID, other, ID, other, other):
            assert pool.submit(CountPages(name, SHA256, "")).result(timeout=60).pages == 1
            # The one whose answer this was, and at most one that waits.
            workers = {p.pid for p in started_in(root) if "python" in p.name()}
            assert len(workers) <= 2
            seen.setdefault(name, set()).update(_working(pool))
        assert pool.submit(Describe()).result(timeout=60).engines
        assert seen[ID] & seen[other] == set()
        assert len(seen[ID]) == len(seen[other]) == 2
        started_in_turn = pool.submit(CountPages(ID, SHA256, ""))
        assert started_in_turn.result(timeout=60).pages == 1
    finally:
        pool.close()
    assert eventually(lambda: not started_in(root))
    assert not any((root / "scratch").iterdir())
    assert not any((root / "views").iterdir())


def _working(pool: WorkerPool) -> set[int]:
    """The process that has the last document."""
    (pair,) = pool._slots
    assert isinstance(pair, IsolatedSlot)
    process = pair._slots[0]._process
    assert process is not None
    return {process.pid}


@dataclass(frozen=True, slots=True)
class Unknown(Task[Done]):
    """A task that no worker knows: the server and its workers are of one version."""

    terms: ClassVar = Terms(timeout_s=60.0)
    result: ClassVar = Done


def test_an_unknown_task_costs_itself_only(pool: WorkerPool) -> None:
    with pytest.raises(VisualProofError) as caught:
        pool.submit(Unknown()).result(timeout=60)
    assert caught.value.code == "PAGE_CRASHED"


def test_workers_die_with_a_killed_parent(root: Path) -> None:
    script = (
        "import sys; from visualproof_server.workers.pool import *; from visualproof_server.model.tasks import Describe, Describe\n"
        "from pathlib import Path; from visualproof_server.storing.disk import DiskStore\n"
        f"s = WorkerSettings({str(root / 'views')!r}, {str(root / 'scratch')!r}, 4096, 500,"
        f" {WORKER_OPTIONS})\n"
        f"p = WorkerPool(1, s, DiskStore(Path({str(root / 'documents')!r}))); p.submit(Describe()).result(); print('ready', flush=True)\n"
        "import time; time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    workers = psutil.Process(parent.pid).children(recursive=True)
    assert workers
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: not any(w.is_running() and w.status() != "zombie" for w in workers))


@pytest.mark.parametrize("name", DRAWERS)
def test_a_faulty_renderer_is_replaced_by_the_other(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(root, monkeypatch, "pdftoppm", DRAWERS[name])
    invoice = (INVOICE / "invoice.pdf").read_bytes()
    store = DiskStore(root / "documents")
    store.put(ID, "source", invoice)
    made = settings(root)
    made.options["raster"] = (2, 20, 1024)
    pool = WorkerPool(1, made, store)
    try:
        assert b"INV-2026-0417" in read(pool, sha256=hashlib.sha256(invoice).hexdigest()).page
    finally:
        pool.close()
    assert eventually(lambda: not started_in(root))


@pytest.mark.parametrize(
    ("script", "limits", "code"),
    [
        ("while :; do :; done", (60, 1, 1536), "PAGE_TIMEOUT"),
        (
            f"exec {sys.executable} -c 'import time; time.sleep(1); bytes(600_000_000); time.sleep(60)'",
            (20, 20, 512),
            "PAGE_CRASHED",
        ),
    ],
    ids=["cpu", "memory"],
)
def test_programs_have_bounds_of_their_own(
    script: str,
    limits: tuple[int, int, int],
    code: str,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake_tesseract(root, monkeypatch, script)
    made = settings(root)
    made.options["ocr"] = limits
    pool = WorkerPool(1, made, DiskStore(root / "documents"))
    try:
        with pytest.raises(VisualProofError) as caught:
            read(pool)
        assert caught.value.code == code
    finally:
        pool.close()


def small_disk(folder: Path) -> None:
    """A file system of 3 MB, where this machine lets us have one."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("no file system can be mounted here")


@pytest.mark.parametrize("where", ["scratch", "documents"])
def test_a_full_disk_is_a_typed_error_and_leaves_nothing(where: str, tmp_path: Path) -> None:
    small_disk(tmp_path / where)
    try:
        (tmp_path / where / "filler").write_bytes(b"0" * 2_900_000)
        if where == "documents":
            with pytest.raises(VisualProofError) as caught:
                DiskStore(tmp_path / where).put(ID, "source", b"1" * 500_000)
            assert caught.value.code == "DISK_FULL"
            assert [p.name for p in (tmp_path / where).rglob("*") if p.is_file()] == ["filler"]
            return
        store = DiskStore(tmp_path / "documents")
        store.put(ID, "source", (INVOICE / "scan.jpg").read_bytes())
        pool = WorkerPool(1, settings(tmp_path), store)
        try:
            with pytest.raises(VisualProofError) as failed:
                read(pool)
            assert failed.value.code in ("PAGE_CRASHED", "DISK_FULL")
            (tmp_path / where / "filler").unlink()
        finally:
            pool.close()
    finally:
        subprocess.run(["umount", "-l", str(tmp_path / where)], check=False)
