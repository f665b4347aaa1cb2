"""Thousands of stored documents behind a slow store: the loop does not stand still, and leases are
renewed in time."""

import asyncio
import itertools
import time
from pathlib import Path

import pytest
from conftest import WORKER_OPTIONS
from lifecycle.stalling import StallingStore
from proving.pages import OPTIONS
from visualproof_server.documents import leases
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits
from visualproof_server.model import codec
from visualproof_server.model.document import DocumentState, State
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pages import LocalPages
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow

COUNT, CALL_S = 2_000, 0.01


class SharedStore(StallingStore):
    """As one that other servers use, too."""

    shared = True


def filled(root: Path) -> SharedStore:
    store = SharedStore(root)
    for number in range(COUNT):
        name = f"{number:032x}"
        state = DocumentState(
            name, "0" * 64, "a.png", OPTIONS, "test", State.READY, 1, 1, time.time() + 3600
        )
        (root / name).mkdir()
        (root / name / "state.json").write_bytes(codec.dumps(state))
    store.delay_s = CALL_S
    return store


async def longest_pause(seconds: float) -> float:
    """How long the loop stood still at worst."""
    worst, end = 0.0, time.monotonic() + seconds
    while (before := time.monotonic()) < end:
        await asyncio.sleep(0.005)
        worst = max(worst, time.monotonic() - before - 0.005)
    return worst


def test_two_thousand_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_S", 0.5)
    root = tmp_path / "documents"
    root.mkdir()
    store = filled(root)
    settings = WorkerSettings(
        str(tmp_path / "views"), str(tmp_path / "scratch"), 4096, 500, WORKER_OPTIONS
    )
    pool = WorkerPool(1, settings, store)

    async def run() -> tuple[float, float, list[float]]:
        asynchronous = AsyncStore(store)
        made = DocumentLifecycle(
            asynchronous, pool, LocalPages(pool, asynchronous, 60.0), "test",
            LifecycleLimits(8, 8, 100, 3600.0),
        )  # fmt: skip
        # A document that is being read here, as far as leases go.
        made._jobs["ff" * 16] = asyncio.create_task(asyncio.sleep(3600))
        renewed: list[float] = []
        take = made._leases.take  # type: ignore[union-attr]

        async def timed(name: str) -> None:
            await take(name)
            renewed.append(time.monotonic())

        monkeypatch.setattr(made._leases, "take", timed)
        started = time.monotonic()
        await made.start()
        took = time.monotonic() - started
        pause = await longest_pause(8.0)
        await made.close()
        return took, pause, renewed

    try:
        took, pause, renewed = asyncio.run(run())
    finally:
        pool.close()
    gaps = [b - a for a, b in itertools.pairwise(renewed)]
    assert took < 3.0
    # 50 ms on a quiet machine; this one may be shared.
    assert pause < 0.5
    assert len(renewed) > 10
    assert max(gaps) < 1.5
    # Each state was read once, not at every look.
    assert store.calls.count("get state.json") <= COUNT + 50
