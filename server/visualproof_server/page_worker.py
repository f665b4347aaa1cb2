"""What a Dask worker runs: the composition root on other machines. Takes references only.

The store's credentials are that machine's own environment; the scheduler never sees them, nor any
password or text: options are in the document's state, errors are values, since Dask logs what is
raised and with which arguments.
"""

import asyncio
import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from distributed import get_worker

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.tasks import Describe
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.storing.objects import ObjectStore
from visualproof_server.workers.pages import LocalPages
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

# How often a page that is being read looks whether its document is still wanted.
_LOOK_S = 2.0
_lock = threading.Lock()
_readers: dict[str, "_Reader"] = {}


class _Reader:
    """Worker processes of this machine for one server's settings, in the Dask worker's folder."""

    def __init__(self, settings: dict[str, Any]) -> None:
        worker = get_worker()
        root = Path(worker.local_directory) / f"pages-{len(_readers)}"
        store = ObjectStore(settings["store_url"], root / "cache")
        self.store = AsyncStore(store)
        made = WorkerSettings(str(root / "views"), str(root / "scratch"), **settings["worker"])
        pool = WorkerPool(worker.state.nthreads, made, store, "dask")
        self.version = pool.submit(Describe()).result().reader_version
        self.pages = LocalPages(pool, self.store, settings["page_timeout_s"])


def read_page(document_id: str, number: int, settings: str) -> dict[str, Any]:
    """Reads a page of the shared store into it: {"steps": seconds of each}, {"error": ...}, or
    {"lost": why} if this machine cannot."""
    try:
        with _lock:
            if settings not in _readers:
                _readers[settings] = _Reader(json.loads(settings))
        return asyncio.run(_read(_readers[settings], document_id, number))
    except VisualProofError as error:
        if error.code == "DISK_FULL":
            # Of this machine: others have room.
            return {"lost": error.code}
        return {"error": asdict(error)}
    except Exception as error:
        # The type only: a message may hold document text.
        return {"lost": type(error).__name__}


async def _read(reader: _Reader, document_id: str, number: int) -> dict[str, Any]:
    state = await reader.store.state(document_id)
    if state.reader_version != reader.version:
        return {"lost": "another reader version"}
    reading = asyncio.ensure_future(reader.pages.submit(state, number))
    try:
        while not (await asyncio.wait({reading}, timeout=_LOOK_S))[0]:
            await reader.store.state(document_id)
    finally:
        reading.cancel()
    return {"steps": reading.result()}
