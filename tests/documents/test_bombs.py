"""Hostile and broken files: each ends in time with a typed outcome, costs no memory, leaves nothing,
and the next good call works."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from conftest import EXAMPLE, SHARED, RunningServer, start_server
from visualproof import CallError, Client, DocumentFailed, Status
from visualproof_server.model.errors import CODES

from documents.bombs import BOMBS
from documents.broken_images import BROKEN
from documents.hostile_readings import HOSTILE

pytestmark = pytest.mark.slow

# A machine that does other things, too, reads the good page well within it.
PAGE_S = 15
REAL = sorted(
    p
    for name in ("edge_pdfs", "scan_misc")
    for p in (SHARED / "data" / name).glob("*")
    if p.suffix.lower() in (".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif")
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = start_server(
        tmp_path_factory.mktemp("bombs"), "--engine", "tesseract", "--workers", "2",
        "--page-timeout-s", str(PAGE_S), "--raster-timeout-s", "3", "--max-pages", "100",
        "--queue-size", "64",
    )  # fmt: skip
    yield running
    running.stop()


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.target) as connected:
        connected.ingest(EXAMPLE / "invoice.pdf", dpi=100)
        yield connected


def outcome(client: Client, source: bytes | Path, last_page: int = 0) -> str:
    """What became of a file: READY, or a code."""
    try:
        document = client.ingest(source, dpi=72, last_page=last_page, timeout=120)
    except (DocumentFailed, CallError) as error:
        return error.code
    pages = list(client.pages(document))
    client.prompt(document)
    # P4: no page is lost.
    assert len(pages) == document.page_count == document.read_page_count
    failed = [p.failure.code for p in pages if p.failure.code]
    assert all(code in CODES for code in failed)
    client.delete(document)
    return "READY"


def assert_all_is_well(server: RunningServer, client: Client, before_mb: float) -> None:
    process = psutil.Process(server.process.pid)
    assert process.memory_info().rss / 1e6 - before_mb < 100
    # P5: idle workers are all that runs, and they hold nothing.
    names = {c.name() for c in process.children(recursive=True)}
    assert not names & {"tesseract", "pdftoppm", "pdfinfo"}
    folders = [server.data / name for name in ("views", "scratch", "incoming", "deleting")]
    until = time.monotonic() + 20
    # A document that is READY is indexed in the background.
    while left := [n for f in folders for _, _, names in os.walk(f) for n in names]:
        assert time.monotonic() < until, left
        client.info()
    document = client.ingest(EXAMPLE / "scan.jpg", dpi=110)
    report = client.verify(document, {"total": "16,020.00"})
    assert report["/total"].status is Status.VERIFIED
    client.delete(document)


def test_bombs(server: RunningServer, client: Client) -> None:
    before = psutil.Process(server.process.pid).memory_info().rss / 1e6
    started = time.monotonic()

    def burst(bomb: Callable[[], bytes]) -> tuple[str, str, float]:
        began = time.monotonic()
        code = outcome(client, bomb())
        return bomb.__name__, code, time.monotonic() - began

    small = [*HOSTILE.values(), *BROKEN.values()]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(burst, BOMBS))
        others = set(threads.map(lambda made: outcome(client, made()), small))
    assert others - {"READY"} <= set(CODES) - {"INTERNAL", "PAGE_CRASHED"}
    codes = {name: code for name, code, _ in results}
    assert {
        name: code for name, code in codes.items() if code not in CODES and code != "READY"
    } == {}
    assert codes["png_of_billions"] == codes["huge_box"] == "PAGE_TOO_LARGE"
    assert codes["many_pages"] == codes["tiff_of_frames"] == "TOO_MANY_PAGES"
    assert codes["laughing_hocr"] in ("READY", "READING_INVALID")
    # Each waits for the two workers; none keeps one longer than its page may take.
    assert time.monotonic() - started < (len(BOMBS) + len(small)) * (PAGE_S + 4)
    assert_all_is_well(server, client, before)


@pytest.mark.skipif(not REAL, reason="../shared is not there")
def test_every_edge_pdf_and_scan(server: RunningServer, client: Client) -> None:
    before = psutil.Process(server.process.pid).memory_info().rss / 1e6
    with ThreadPoolExecutor(4) as threads:
        codes = list(threads.map(lambda path: outcome(client, path, last_page=1), REAL))
    wrong = {p.name: c for p, c in zip(REAL, codes, strict=True) if c not in CODES and c != "READY"}
    assert wrong == {}
    assert codes.count("READY") > 0.8 * len(codes)
    assert_all_is_well(server, client, before)
