"""Workers that hang, die or are cancelled: nothing is left behind, and the next task works."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from proving.pages import OPTIONS
from visualproof_server.jobs.pool import Files, WorkerPool, WorkerSettings
from visualproof_server.model import codec
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.disk import DiskStore

ID = "cd" * 16
FAKES = {
    "hangs and ignores TERM": "trap '' TERM; sleep 600 & sleep 600",
    "segfaults": "kill -SEGV $$",
    "prints invalid utf-8": "printf '\\377\\376\\n'",
    "exits 0 without output": "exit 0",
    "floods stderr": "head -c 50000000 /dev/zero >&2; exit 1",
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


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = DiskStore(tmp_path / "documents")
    scan = Path(__file__).parents[2] / "examples" / "invoice" / "scan.jpg"
    store.put(ID, "source", scan.read_bytes())
    return tmp_path


def settings(root: Path) -> WorkerSettings:
    options = {"page_pixels": 40_000_000, "page_side": 10_000}
    return WorkerSettings(str(root / "views"), str(root / "scratch"), 4096, 500, options)


@pytest.fixture
def pool(root: Path) -> Iterator[WorkerPool]:
    made = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    yield made
    made.close()
    assert not any((root / "scratch").iterdir())
    assert not any((root / "views").iterdir())


def fake_tesseract(root: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder = root / "bin"
    folder.mkdir()
    body = 'case "$*" in *--version*) echo "tesseract 5.3.0"; exit 0;; *--list-langs*) echo eng; exit 0;; esac'
    (folder / "tesseract").write_text(f"#!/bin/sh\n{body}\n{script}\n")
    (folder / "tesseract").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def read(pool: WorkerPool, timeout_s: float = 60.0) -> list[bytes]:
    options = codec.dumps(OPTIONS)
    return pool.submit(
        "read_page", [ID, 1], [options], timeout_s=timeout_s, files=Files(ID)
    ).result(timeout=90)


def test_reads_a_page(pool: WorkerPool) -> None:
    page, image, steps = read(pool)
    assert b"INV-2026-0417" in page
    assert image.startswith(b"\xff\xd8")
    assert {"draw", "clean", "ocr", "tables"} <= set(json.loads(steps))


@pytest.mark.parametrize("name", FAKES)
def test_a_faulty_engine_costs_only_its_page(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tesseract(root, monkeypatch, FAKES[name])
    pool = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    try:
        if name == "exits 0 without output":
            # Nothing read is not a crash; but it must not be words either.
            try:
                assert b'"lines":[]' in read(pool, 15.0)[0]
            except VisualProofError as error:
                assert error.code == "PAGE_CRASHED"
        else:
            with pytest.raises(VisualProofError) as caught:
                read(pool, 3.0 if "hangs" in name else 30.0)
            assert caught.value.code in ("PAGE_TIMEOUT", "PAGE_CRASHED", "INTERNAL")
        # The next task of the same pool works.
        assert pool.submit("count_pages", [ID, ""], files=Files(ID)).result(timeout=60) == [b"1"]
    finally:
        pool.close()
    assert eventually(lambda: not started_in(root))


def test_cancelling_kills_the_worker_and_what_it_started(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tesseract(root, monkeypatch, FAKES["hangs and ignores TERM"])
    pool = WorkerPool(1, settings(root), DiskStore(root / "documents"))
    try:
        future = pool.submit(
            "read_page", [ID, 1], [codec.dumps(OPTIONS)], timeout_s=600, files=Files(ID)
        )
        assert eventually(lambda: any("sleep" in p.name() for p in started_in(root)), 30)
        assert future.cancel()
        assert eventually(lambda: not any("sleep" in p.name() for p in started_in(root)))
        assert pool.submit("count_pages", [ID, ""], files=Files(ID)).result(timeout=60) == [b"1"]
    finally:
        pool.close()


def test_a_killed_worker_is_replaced(pool: WorkerPool, root: Path) -> None:
    pool.submit("count_pages", [ID, ""], files=Files(ID)).result(timeout=60)
    (worker,) = started_in(root)
    worker.kill()
    worker.wait(timeout=10)
    assert pool.submit("count_pages", [ID, ""], files=Files(ID)).result(timeout=60) == [b"1"]


def test_an_unknown_task_is_an_error_not_a_crash(pool: WorkerPool) -> None:
    with pytest.raises(VisualProofError) as caught:
        pool.submit("no such task", []).result(timeout=60)
    assert caught.value.code == "INTERNAL"


def test_workers_die_with_a_killed_parent(root: Path) -> None:
    script = (
        "import sys; from visualproof_server.jobs.pool import *\n"
        "from pathlib import Path; from visualproof_server.storing.disk import DiskStore\n"
        f"s = WorkerSettings({str(root / 'views')!r}, {str(root / 'scratch')!r}, 4096, 500,"
        " {'page_pixels': 10**7, 'page_side': 10**4})\n"
        f"p = WorkerPool(1, s, DiskStore(Path({str(root / 'documents')!r}))); p.submit('describe', []).result(); print('ready', flush=True)\n"
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
