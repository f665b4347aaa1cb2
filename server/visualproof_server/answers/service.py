"""What callers ask of documents that are READY, run away from the event loop."""

import asyncio
import contextlib
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from visualproof_server.evidence import bundle
from visualproof_server.evidence.signing import Signer
from visualproof_server.model.document import Document, DocumentState, State
from visualproof_server.model.drawing import DrawRequest, PictureHead
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest, Format
from visualproof_server.model.markers import MarkerStyle
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.report import FieldSpec, Report
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.summary import DocumentSummary
from visualproof_server.model.tasks import (
    Annotate,
    Answered,
    CheckProse,
    Export,
    Exported,
    PageImage,
    Task,
    Verify,
    Warm,
)
from visualproof_server.prompting import render, schema
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pool import WorkerPool

T = TypeVar("T")
_CACHED, _CACHED_SUMMARIES = 4, 64
_CHUNK = 256 * 1024
# Of the time for a verification, what second readings may take; the rest waits for the next call.
_READING_SHARE = 0.5


class AnswerService:
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

    def warm(self, state: DocumentState) -> None:
        """Has a document's index built before it is asked for."""
        self._pool.submit(Warm(state.document_id), tenant=state.tenant)

    async def prompt(
        self,
        state: DocumentState,
        first: int,
        last: int,
        max_tokens: int,
        style: MarkerStyle,
        fields: tuple[FieldSpec, ...],
        json_schema: str,
    ) -> tuple[render.Prompt, str, str]:
        """(prompt, instructions, answer schema); errors PAGE_OUT_OF_RANGE and schema's."""
        document = await self.document(state)
        answer_schema = await asyncio.to_thread(_answer_schema, json_schema, fields)
        made = await asyncio.to_thread(render.render, document, first, last, max_tokens, style)
        return made, render.instructions(style), answer_schema

    async def verify(
        self, state: DocumentState, answer: bytes, request: ProveRequest
    ) -> tuple[Report, bytes]:
        """The report, and what was read again for it (SecondReadings as codec writes it).

        Errors ANSWER_NOT_JSON, ANSWER_TOO_LARGE, VERIFY_TIMEOUT, VERIFY_CRASHED, documents.load's.
        """
        task = Verify(state.document_id, answer, request, self._verify_timeout_s * _READING_SHARE)
        made = await self._run(task, state.tenant, self._verify_timeout_s)
        if made.kept:
            # Kept for the next call; without them it only takes longer.
            with contextlib.suppress(VisualProofError, OSError):
                await self._store.put_readings(state.document_id, made.kept)
        return made.report, made.second_readings

    async def export(
        self, state: DocumentState, report: Report, request: ExportRequest, answered: Answered
    ) -> AsyncGenerator[tuple[int, bytes], None]:
        """Evidence in chunks, each with the size of the whole; nothing is left on disk."""
        handle, name = tempfile.mkstemp(dir=self._exports)
        os.close(handle)
        target = Path(name)
        try:
            size = await self._exported(state, report, request, answered, target)
            with target.open("rb") as file:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield size, chunk
        finally:
            target.unlink(missing_ok=True)

    async def _exported(
        self,
        state: DocumentState,
        report: Report,
        request: ExportRequest,
        answered: Answered,
        target: Path,
    ) -> int:
        """Writes evidence to a file, since callers may be slow and it is large; its size."""
        task = Export(
            document_id=state.document_id,
            report=report,
            request=request,
            answer=answered.answer,
            asked=answered.request,
            shown=answered.report,
            second_readings=answered.second_readings,
        )
        done = await self._run(task, state.tenant)
        made = done.made
        if self._signer is not None and request.format is Format.BUNDLE:
            # Here, since workers open hostile files: they hold no key.
            made = await asyncio.to_thread(bundle.signed, made, self._signer)
        await asyncio.to_thread(target.write_bytes, made)
        await self._keep(state.document_id, done)
        return len(made)

    async def _keep(self, document_id: str, done: Exported) -> None:
        """Stores pictures for the next export, unless the document is gone."""
        with contextlib.suppress(VisualProofError):
            for number, picture in zip(done.numbers, done.pictures, strict=False):
                await self._store.put_picture(document_id, number, picture)

    async def check_prose(
        self, text: str, reports: list[Report], rounding: bool, tenant: str
    ) -> ProseReport:
        """Every number of a text, classed; error ANSWER_TOO_LARGE."""
        task = CheckProse(text.encode(), tuple(reports), rounding)
        return await self._run(task, tenant, self._verify_timeout_s)

    async def pictures(
        self, state: DocumentState, report: Report, request: DrawRequest
    ) -> list[tuple[PictureHead, bytes]]:
        """Marked pages or crops, encoded."""
        made = await self._run(Annotate(state.document_id, report, request), state.tenant)
        return list(zip(made.heads, made.images, strict=False))

    async def page_image(
        self, state: DocumentState, number: int, side: int, media: str
    ) -> tuple[PictureHead, bytes]:
        """A page as read, unmarked; error PAGE_OUT_OF_RANGE."""
        page = (await self.summary(state)).page(number)
        if page is None or page.failure is not None:
            raise VisualProofError("PAGE_OUT_OF_RANGE", f"There is no image of page {number}.")
        made = await self._run(PageImage(state.document_id, number, side, media), state.tenant)
        return made.heads[0], made.images[0]

    async def _run(self, task: Task[T], tenant: str, timeout_s: float | None = None) -> T:
        future = self._pool.submit(task, tenant=tenant, timeout_s=timeout_s)
        return await asyncio.wrap_future(future)


def _answer_schema(json_schema: str, fields: tuple[FieldSpec, ...]) -> str:
    return schema.from_schema(json_schema) if json_schema else schema.from_fields(fields)


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
