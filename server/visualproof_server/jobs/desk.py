"""What callers ask of documents that are READY, run away from the event loop."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from visualproof_server.evidence import bundle
from visualproof_server.evidence.draw import DrawRequest
from visualproof_server.evidence.signing import Signer
from visualproof_server.jobs.exports import Answered
from visualproof_server.jobs.pool import Files, WorkerPool
from visualproof_server.model import codec
from visualproof_server.model.document import Document, DocumentState, State
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest, Format
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.report import FieldSpec, Report
from visualproof_server.model.summary import DocumentSummary
from visualproof_server.prompting import render, schema
from visualproof_server.proving.request import ProveRequest
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore

T = TypeVar("T")
_CACHED, _CACHED_SUMMARIES = 4, 64
# The largest answers of tasks: an export may hold the original and all pages.
_ANSWER_MB, _EXPORT_MB = 256, 2048
_DRAW_TIMEOUT_S = 120.0
_EXPORT_TIMEOUT_S = 600.0
_CHUNK = 256 * 1024


class Desk:
    """Prompts in threads, verification and drawing in worker processes that can be killed."""

    def __init__(
        self,
        store: AsyncStore,
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
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._summaries: OrderedDict[str, DocumentSummary] = OrderedDict()

    async def document(self, state: DocumentState) -> Document:
        """A document that is READY, with all words; errors of documents.check_ready."""
        return await _kept(self._documents, _CACHED, state, self._store.load)

    async def summary(self, state: DocumentState) -> DocumentSummary:
        """The pages of a document that is READY, without words; errors of documents.check_ready."""
        return await _kept(self._summaries, _CACHED_SUMMARIES, state, self._store.summary)

    def warm(self, document_id: str) -> None:
        """Has a document's index built before it is asked for."""
        self._pool.submit(
            "warm", [document_id], timeout_s=_DRAW_TIMEOUT_S, files=_as_needed(document_id)
        )

    async def prompt(
        self,
        state: DocumentState,
        first: int,
        last: int,
        max_tokens: int,
        style: render.MarkerStyle,
        fields: tuple[FieldSpec, ...],
        json_schema: str,
    ) -> tuple[render.Prompt, str, str]:
        """(prompt, instructions, answer schema); errors PAGE_OUT_OF_RANGE and schema's."""
        document = await self.document(state)
        answer_schema = (
            schema.from_schema(json_schema) if json_schema else schema.from_fields(fields)
        )
        made = await asyncio.to_thread(render.render, document, first, last, max_tokens, style)
        return made, render.instructions(style), answer_schema

    async def verify(
        self, document_id: str, answer: bytes, request: ProveRequest
    ) -> tuple[Report, bytes]:
        """The report, and what was read again for it (SecondReadings as codec writes it).

        Errors ANSWER_NOT_JSON, ANSWER_TOO_LARGE, VERIFY_TIMEOUT, VERIFY_CRASHED, documents.load's.
        """
        parts = await self._run(
            "verify",
            [document_id],
            [answer, codec.dumps(request)],
            self._verify_timeout_s,
        )
        return codec.loads(Report, parts[0]), parts[1]

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
            made, *pictures = await self._run(
                "export", [document_id], blobs, _EXPORT_TIMEOUT_S, _EXPORT_MB
            )
            if self._signer is not None and request.format is Format.BUNDLE:
                # Here, since workers open hostile files: they hold no key.
                made = await asyncio.to_thread(bundle.signed, made, self._signer)
            # Callers may be slow, and evidence large: it waits on disk.
            await asyncio.to_thread(target.write_bytes, made)
            size = len(made)
            del made
            await self._keep(document_id, pictures)
            with target.open("rb") as file:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield size, chunk
        finally:
            target.unlink(missing_ok=True)

    async def _keep(self, document_id: str, pictures: list[bytes]) -> None:
        """Stores pictures (number, then data) for the next export, unless the document is gone."""
        with contextlib.suppress(VisualProofError):
            for number, picture in zip(pictures[::2], pictures[1::2], strict=True):
                await self._store.put_picture(document_id, int(number), picture)

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
        self, state: DocumentState, number: int, side: int, media: str
    ) -> tuple[dict[str, Any], bytes]:
        """A page as read, unmarked; error PAGE_OUT_OF_RANGE."""
        document_id = state.document_id
        page = (await self.summary(state)).page(number)
        if page is None or page.failure is not None:
            raise VisualProofError("PAGE_OUT_OF_RANGE", f"There is no image of page {number}.")
        head, data = await self._run(
            "page_image", [document_id, number, side, media], [], _DRAW_TIMEOUT_S
        )
        return json.loads(head), data

    async def _run(
        self,
        name: str,
        args: list[Any],
        blobs: list[bytes],
        timeout_s: float,
        answer_mb: int = _ANSWER_MB,
    ) -> list[bytes]:
        files = _as_needed(args[0]) if isinstance(args[0], str) else None
        future = self._pool.submit(
            name, args, blobs, timeout_s, "VERIFY_TIMEOUT", files, "VERIFY_CRASHED", answer_mb
        )
        return await asyncio.wrap_future(future)


def _as_needed(document_id: str) -> Files:
    """That there is such a document; the rest of it comes when it is asked for."""
    return Files(document_id, (documents.STATE,), more=True)


async def _kept(
    kept: OrderedDict[str, T],
    count: int,
    state: DocumentState,
    load: Callable[[DocumentState], Awaitable[T]],
) -> T:
    """What was loaded of a document the last time: one that is READY does not change."""
    name = state.document_id
    if name not in kept or state.state is not State.READY:
        kept.pop(name, None)
        loaded = await load(state)
        kept[name] = loaded
        while len(kept) > count:
            kept.popitem(last=False)
    kept.move_to_end(name)
    return kept[name]
