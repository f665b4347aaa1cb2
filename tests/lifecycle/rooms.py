"""A store that stalls, its workers, and what tests of a document's life ask of them."""

import asyncio
import hashlib
import io
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import WORKER_OPTIONS
from lifecycle.stalling import Gate, StallingStore
from PIL import Image
from proving.pages import OPTIONS
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits, Upload
from visualproof_server.model.document import DocumentState
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pages import LocalPages
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

_numbers = itertools.count(1)


def blank() -> bytes:
    """A small page of its own."""
    image = Image.new("L", (64, 64), 255)
    image.putpixel((0, 0), next(_numbers) % 256)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Room:
    """One store and its workers; each test has a lifecycle of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = StallingStore(folder / "documents")
        settings = WorkerSettings(
            str(folder / "views"), str(folder / "scratch"), 4096, 500, WORKER_OPTIONS
        )
        self.pool = WorkerPool(1, settings, self.store)
        self.limits = LifecycleLimits(8, 8, 100, 3600.0)

    def file(self, content: bytes) -> Path:
        made = self.folder / f"upload-{next(_numbers)}"
        made.write_bytes(content)
        return made

    def left(self) -> list[Path]:
        """Uploads that nobody took."""
        return list(self.folder.glob("upload-*"))

    def run(self, test: Callable[[DocumentLifecycle], Awaitable[None]]) -> None:
        async def go() -> None:
            store = AsyncStore(self.store)
            made = DocumentLifecycle(
                store, self.pool, LocalPages(self.pool, store, 60.0), "test", self.limits
            )
            try:
                await asyncio.wait_for(test(made), 60)
            finally:
                await made.close()
                await asyncio.to_thread(store.close)

        asyncio.run(go())

    async def add(
        self, made: DocumentLifecycle, content: bytes, password: str = ""
    ) -> DocumentState:
        sha256 = hashlib.sha256(content).hexdigest()
        return await made.add(
            Upload(
                file=self.file(content),
                sha256=sha256,
                file_name="a.png",
                options=replace(OPTIONS, password=password),
                tenant="",
            )
        )

    async def ready(self, made: DocumentLifecycle, content: bytes) -> DocumentState:
        return await last(made, (await self.add(made, content)).document_id)


async def last(made: DocumentLifecycle, name: str) -> DocumentState:
    *_, state = [state async for state in made.watch(name)]
    return state


async def reached(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.wait, 30)


async def code_of(call: Awaitable[Any]) -> str:
    with pytest.raises(VisualProofError) as caught:
        await call
    return caught.value.code


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.02)
