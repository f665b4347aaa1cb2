"""What callers ask of documents that are READY, run away from the event loop."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from visualproof_server.evidence import bundle
from visualproof_server.evidence.draw import DrawRequest
from visualproof_server.evidence.signing import Signer
from visualproof_server.jobs.exports import Answered
from visualproof_server.jobs.pool import Files, WorkerPool
from visualproof_server.model import codec
from visualproof_server.model.document import Document
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest, Format
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.report import FieldSpec, Report
from visualproof_server.prompting import render, schema
from visualproof_server.proving.request import ProveRequest
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentStore

_CACHED = 4
_DRAW_TIMEOUT_S = 120.0
_EXPORT_TIMEOUT_S = 600.0
_CHUNK = 256 * 1024
# Of the time for a verification, what second readings may take; the rest waits for the next call.
_READING_SHARE = 0.5


class Desk:
    """Prompts in threads, verification and drawing in worker processes that can be killed."""

    def __init__(
        self,
        store: DocumentStore,
        pool: WorkerPool,
        verify_timeout_s: float,
        exports: Path,
        signer: Signer | None = None,
    ) -> None:
        self._store = store
        self._signer = signer
        self._exports = exports
        self._pool = pool
        self._verify_timeout_s = verify_timeout_s
        self._cache: OrderedDict[str, Document] = OrderedDict()

    async def document(self, document_id: str) -> Document:
        """A document that is READY; errors of documents.load."""
        state = await asyncio.to_thread(self._store.get, document_id, documents.STATE)
        if state is None:
            self._cache.pop(document_id, None)
        if document_id not in self._cache:
            loaded = await asyncio.to_thread(documents.load, self._store, document_id)
            self._cache[document_id] = loaded
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        self._cache.move_to_end(document_id)
        return self._cache[document_id]

    def warm(self, document_id: str) -> None:
        """Has a document's index built before it is asked for."""
        self._pool.submit(
            "warm", [document_id], timeout_s=_DRAW_TIMEOUT_S, files=Files(document_id)
        )

    async def prompt(
        self,
        document_id: str,
        first: int,
        last: int,
        max_tokens: int,
        style: render.MarkerStyle,
        fields: tuple[FieldSpec, ...],
        json_schema: str,
    ) -> tuple[render.Prompt, str, str]:
        """(prompt, instructions, answer schema); errors PAGE_OUT_OF_RANGE and schema's."""
        document = await self.document(document_id)
        answer_schema = (
            schema.from_schema(json_schema) if json_schema else schema.from_fields(fields)
        )
        made = await asyncio.to_thread(render.render, document, first, last, max_tokens, style)
        return made, render.instructions(style), answer_schema

    async def verify(
        self, document_id: str, answer: bytes, request: ProveRequest
    ) -> tuple[Report, bytes]:
        """The report, and what was read again for it (SecondReadings as codec writes it).

        Errors ANSWER_NOT_JSON, ANSWER_TOO_LARGE, VERIFY_TIMEOUT, documents.load's.
        """
        report, readings, *kept = await self._run(
            "verify",
            [document_id, self._verify_timeout_s * _READING_SHARE],
            [answer, codec.dumps(request)],
            self._verify_timeout_s,
        )
        await asyncio.to_thread(self._keep_readings, document_id, kept)
        return codec.loads(Report, report), readings

    async def export(
        self, document_id: str, report: Report, request: ExportRequest, answered: Answered
    ) -> AsyncGenerator[tuple[int, bytes], None]:
        """Evidence in chunks, each with the size of the whole; nothing is left on disk."""
        handle, name = tempfile.mkstemp(dir=self._exports)
        os.close(handle)
        target = Path(name)
        try:
            blobs = [codec.dumps(report), codec.dumps(request)]
            blobs += [answered.answer, answered.request, answered.report, answered.second_readings]
            made, *pictures = await self._run("export", [document_id], blobs, _EXPORT_TIMEOUT_S)
            if self._signer is not None and request.format is Format.BUNDLE:
                # Here, since workers open hostile files: they hold no key.
                made = await asyncio.to_thread(bundle.signed, made, self._signer)
            # Callers may be slow, and evidence large: it waits on disk.
            await asyncio.to_thread(target.write_bytes, made)
            size = len(made)
            del made
            await asyncio.to_thread(self._keep, document_id, pictures)
            with target.open("rb") as file:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield size, chunk
        finally:
            target.unlink(missing_ok=True)

    def _keep(self, document_id: str, pictures: list[bytes]) -> None:
        """Stores pictures (number, then data) for the next export, unless the document is gone."""
        if self._store.get(document_id, documents.STATE) is not None:
            for number, picture in zip(pictures[::2], pictures[1::2], strict=True):
                self._store.put(document_id, documents.picture_name(int(number)), picture)

    def _keep_readings(self, document_id: str, kept: list[bytes]) -> None:
        """Stores second readings for the next call; without them it only takes longer."""
        with contextlib.suppress(VisualProofError, OSError):
            if kept and self._store.get(document_id, documents.STATE) is not None:
                self._store.put(document_id, documents.SECOND_READINGS, kept[0])

    async def check_prose(self, text: str, reports: list[Report], rounding: bool) -> ProseReport:
        """Every number of a text, classed; error ANSWER_TOO_LARGE."""
        blobs = [text.encode(), *(codec.dumps(r) for r in reports)]
        parts = await self._run("check_prose", [rounding], blobs, self._verify_timeout_s)
        return codec.loads(ProseReport, parts[0])

    async def pictures(
        self, document_id: str, report: Report, request: DrawRequest
    ) -> list[tuple[dict[str, Any], bytes]]:
        """Headers and encoded images of marked pages or crops."""
        parts = await self._run(
            "annotate", [document_id], [codec.dumps(report), codec.dumps(request)], _DRAW_TIMEOUT_S
        )
        return [
            (json.loads(head), data) for head, data in zip(parts[::2], parts[1::2], strict=True)
        ]

    async def page_image(
        self, document_id: str, number: int, side: int, media: str
    ) -> tuple[dict[str, Any], bytes]:
        """A page as read, unmarked; error PAGE_OUT_OF_RANGE."""
        document = await self.document(document_id)
        page = document.page(number)
        if page is None or page.failure is not None:
            raise VisualProofError("PAGE_OUT_OF_RANGE", f"There is no image of page {number}.")
        head, data = await self._run(
            "page_image", [document_id, number, side, media], [], _DRAW_TIMEOUT_S
        )
        return json.loads(head), data

    async def _run(
        self, name: str, args: list[Any], blobs: list[bytes], timeout_s: float
    ) -> list[bytes]:
        files = Files(args[0]) if isinstance(args[0], str) else None
        future = self._pool.submit(name, args, blobs, timeout_s, "VERIFY_TIMEOUT", files)
        return await asyncio.wrap_future(future)
