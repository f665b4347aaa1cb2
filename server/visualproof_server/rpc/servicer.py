"""The service: each RPC translates, calls, translates."""

import asyncio
import base64
import functools
import inspect
import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import grpc
from visualproof.v1 import block_pb2, report_pb2, status_pb2, visual_proof_service_pb2_grpc
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.evidence.draw import DrawRequest
from visualproof_server.jobs.desk import Desk
from visualproof_server.jobs.queue import Queue
from visualproof_server.jobs.tenant import CURRENT
from visualproof_server.metrics import CALL_SECONDS, CALLS
from visualproof_server.model.document import DocumentState
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import ACTIONS, REASONS
from visualproof_server.prompting.render import MarkerStyle
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.prove import RULES_VERSION
from visualproof_server.rpc import convert, evidence, status, upload
from visualproof_server.rpc.auth import Tokens
from visualproof_server.rpc.blocks import blocks_to_wire
from visualproof_server.rpc.options import Defaults, options_from_wire
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentStore

log = logging.getLogger("visualproof.rpc")
_ID = re.compile(r"[0-9a-f]{32}")
_IMAGE_CHUNK = 256 * 1024
_MEDIA = {
    pb.IMAGE_FORMAT_UNSPECIFIED: "image/jpeg",
    pb.IMAGE_FORMAT_JPEG: "image/jpeg",
    pb.IMAGE_FORMAT_PNG: "image/png",
    pb.IMAGE_FORMAT_WEBP: "image/webp",
}
_STYLES = {
    pb.MARKER_STYLE_UNSPECIFIED: MarkerStyle.LINE,
    pb.MARKER_STYLE_LINE: MarkerStyle.LINE,
    pb.MARKER_STYLE_COMPACT: MarkerStyle.COMPACT,
}
Context = grpc.aio.ServicerContext[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What GetServerInfo says, but for the vocabulary."""

    version: str
    engines: tuple[tuple[str, str, tuple[str, ...]], ...]
    limits: tuple[tuple[str, int, str], ...]
    components: tuple[str, ...]
    sandbox: tuple[str, ...]


def _logged(method: F) -> F:
    """Turns errors into gRPC's, and logs each call by allow-listed fields only."""

    async def failed(context: Context, error: Exception) -> None:
        if not isinstance(error, VisualProofError):
            log.exception("unexpected error", extra={"rpc": method.__name__})
            error = VisualProofError("INTERNAL", "The call failed; try again.")
        context.set_trailing_metadata(status.trailer(error))
        await context.abort(status.grpc_code(error), error.message)

    def done(started: float, code: str) -> None:
        seconds = time.monotonic() - started
        CALLS.labels(method.__name__, code).inc()
        CALL_SECONDS.labels(method.__name__).observe(seconds)
        ms = round(seconds * 1000)
        log.info("call", extra={"rpc": method.__name__, "code": code, "ms": ms})

    if inspect.isasyncgenfunction(method):

        @functools.wraps(method)
        async def stream(self: Any, request: Any, context: Context) -> AsyncIterator[Any]:
            started, code = time.monotonic(), "OK"
            try:
                CURRENT.set(self._tokens.tenant_of(context.invocation_metadata() or ()))
                async with aclosing(method(self, request, context)) as messages:
                    async for message in messages:
                        yield message
            except Exception as error:
                code = getattr(error, "code", "INTERNAL")
                await failed(context, error)
            finally:
                done(started, str(code))

        return stream  # type: ignore[return-value]

    @functools.wraps(method)
    async def unary(self: Any, request: Any, context: Context) -> Any:
        started, code = time.monotonic(), "OK"
        try:
            CURRENT.set(self._tokens.tenant_of(context.invocation_metadata() or ()))
            return await method(self, request, context)
        except Exception as error:
            code = getattr(error, "code", "INTERNAL")
            await failed(context, error)
        finally:
            done(started, str(code))

    return unary  # type: ignore[return-value]


class Servicer(visual_proof_service_pb2_grpc.VisualProofServiceServicer):
    """visualproof.v1.VisualProofService."""

    def __init__(
        self,
        store: DocumentStore,
        queue: Queue,
        desk: Desk,
        defaults: Defaults,
        facts: ServerFacts,
        incoming: Path,
        max_upload: int,
        tokens: Tokens,
    ) -> None:
        self._tokens = tokens
        self._store = store
        self._queue = queue
        self._desk = desk
        self._defaults = defaults
        self._facts = facts
        self._incoming = incoming
        self._max_upload = max_upload

    @_logged
    async def UploadDocument(
        self, request_iterator: AsyncIterator[pb.UploadDocumentRequest], context: Context
    ) -> pb.UploadDocumentResponse:
        first = await anext(request_iterator, None)
        if first is None or not first.HasField("header"):
            raise VisualProofError("HEADER_MISSING", "Begin an upload with its header.")
        header = upload.checked_header(first.header)
        options = options_from_wire(first.header.options, self._defaults)
        options = replace(options, reading_sha256=header.reading_sha256)
        if header.sha256:
            known = self._queue.known(self._queue.id_of(header.sha256, options))
            if known is not None:
                return pb.UploadDocumentResponse(document=convert.document_to_wire(known))
        self._queue.check_room()
        received = await upload.receive(
            first, request_iterator, header, self._incoming, self._max_upload
        )
        # Once the bytes are here, a caller who goes away changes nothing.
        state = await asyncio.shield(
            self._queue.add(
                received.file, received.sha256, header.file_name, options, received.reading
            )
        )
        return pb.UploadDocumentResponse(document=convert.document_to_wire(state))

    async def _owned(self, document_id: str) -> DocumentState:
        """A document of the caller; another tenant's is not found, as if there were none."""
        if not _ID.fullmatch(document_id):
            raise VisualProofError("DOCUMENT_ID_INVALID", "A document id is 32 hex digits.")
        state = await asyncio.to_thread(documents.state_of, self._store, document_id)
        if state.tenant != CURRENT.get():
            raise documents.not_found()
        return state

    async def _id(self, document_id: str) -> str:
        return (await self._owned(document_id)).document_id

    @_logged
    async def GetDocument(
        self, request: pb.GetDocumentRequest, context: Context
    ) -> pb.GetDocumentResponse:
        state = await self._owned(request.document_id)
        return pb.GetDocumentResponse(document=convert.document_to_wire(state))

    @_logged
    async def WatchDocument(
        self, request: pb.WatchDocumentRequest, context: Context
    ) -> AsyncIterator[pb.WatchDocumentResponse]:
        name = await self._id(request.document_id)
        async for state in self._queue.watch(name):
            yield pb.WatchDocumentResponse(document=convert.document_to_wire(state))

    @_logged
    async def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, context: Context
    ) -> pb.DeleteDocumentResponse:
        await self._queue.delete(await self._id(request.document_id))
        return pb.DeleteDocumentResponse()

    @_logged
    async def ListPages(
        self, request: pb.ListPagesRequest, context: Context
    ) -> pb.ListPagesResponse:
        document = await self._desk.document(await self._id(request.document_id))
        start = _offset(request.page_token)
        size = min(request.page_size or 1000, 1000)
        pages = document.pages[start : start + size]
        more = start + size < len(document.pages)
        return pb.ListPagesResponse(
            pages=[convert.page_to_wire(p) for p in pages],
            next_page_token=_token(start + size) if more else "",
        )

    @_logged
    async def ListBlocks(
        self, request: pb.ListBlocksRequest, context: Context
    ) -> pb.ListBlocksResponse:
        document = await self._desk.document(await self._id(request.document_id))
        if request.page_number and document.page(request.page_number) is None:
            raise VisualProofError(
                "PAGE_OUT_OF_RANGE", f"The document has no page {request.page_number}."
            )
        start = _offset(request.page_token)
        size = min(request.page_size or 5000, 10_000)
        kinds = frozenset(int(k) for k in request.kinds if k)
        blocks: list[block_pb2.Block] = []
        for number, block in enumerate(blocks_to_wire(document, request.page_number, kinds)):
            if number >= start + size:
                return pb.ListBlocksResponse(blocks=blocks, next_page_token=_token(start + size))
            if number >= start:
                blocks.append(block)
        return pb.ListBlocksResponse(blocks=blocks)

    @_logged
    async def GetPageImage(
        self, request: pb.GetPageImageRequest, context: Context
    ) -> AsyncIterator[pb.GetPageImageResponse]:
        head, data = await self._desk.page_image(
            await self._id(request.document_id),
            request.page_number,
            request.longest_side_px,
            _MEDIA.get(request.format, "image/jpeg"),
        )
        for at in range(0, len(data), _IMAGE_CHUNK):
            part = data[at : at + _IMAGE_CHUNK]
            if at:
                yield pb.GetPageImageResponse(content=part)
            else:
                yield pb.GetPageImageResponse(
                    mime_type=head["media"],
                    width_px=head["width"],
                    height_px=head["height"],
                    content=part,
                )

    @_logged
    async def RenderPrompt(
        self, request: pb.RenderPromptRequest, context: Context
    ) -> pb.RenderPromptResponse:
        prompt, instructions, schema = await self._desk.prompt(
            await self._id(request.document_id),
            request.first_page,
            request.last_page,
            request.max_tokens,
            _STYLES.get(request.marker_style, MarkerStyle.LINE),
            convert.fields_from_wire(list(request.fields)),
            request.json_schema,
        )
        return pb.RenderPromptResponse(
            text=prompt.text,
            instructions=instructions,
            answer_schema_json=schema,
            pages=report_pb2.PageRange(first_page=prompt.first_page, last_page=prompt.last_page),
            next_page=prompt.next_page,
            estimated_tokens=prompt.estimated_tokens,
        )

    @_logged
    async def VerifyAnswer(
        self, request: pb.VerifyAnswerRequest, context: Context
    ) -> pb.VerifyAnswerResponse:
        name = await self._id(request.document_id)
        wanted = convert.request_from_wire(request)
        document = await self._desk.document(name)
        report, _ = await self._desk.verify(name, request.answer_json.encode(), wanted)
        return pb.VerifyAnswerResponse(report=convert.report_to_wire(report, document))

    @_logged
    async def CheckProse(
        self, request: pb.CheckProseRequest, context: Context
    ) -> pb.CheckProseResponse:
        reports = [convert.report_from_wire(r, None) for r in request.reports]
        made = await self._desk.check_prose(request.text, reports, request.rounding_allowed)
        return pb.CheckProseResponse(spans=convert.spans_to_wire(made), safe=made.safe)

    @_logged
    async def AnnotatePages(
        self, request: pb.AnnotatePagesRequest, context: Context
    ) -> AsyncIterator[pb.AnnotatePagesResponse]:
        name = await self._id(request.document_id)
        document = await self._desk.document(name)
        report = convert.report_from_wire(request.report, document)
        side = request.longest_side_px
        if side and not 100 <= side <= 10_000:
            raise VisualProofError(
                "OPTIONS_INVALID", "longest_side_px is 100 to 10000.", field_path="longest_side_px"
            )
        wanted = DrawRequest(
            tuple(request.page_numbers),
            side,
            _MEDIA.get(request.format, "image/jpeg"),
            request.crops,
            request.path,
            min(request.context_lines, 20),
        )
        for one in _one_at_a_time(wanted, report):
            for head, data in await self._desk.pictures(name, report, one):
                yield pb.AnnotatePagesResponse(
                    page_number=head["page"],
                    path=head["path"],
                    mime_type=head["media"],
                    width_px=head["width"],
                    height_px=head["height"],
                    image=data,
                )

    @_logged
    async def ExportEvidence(
        self, request: pb.ExportEvidenceRequest, context: Context
    ) -> AsyncIterator[pb.ExportEvidenceResponse]:
        state = await self._owned(request.answer.document_id)
        made = evidence.export(state, request, self._desk, self._facts.version)
        async with aclosing(made) as parts:
            async for part in parts:
                yield part

    @_logged
    async def GetServerInfo(
        self, request: pb.GetServerInfoRequest, context: Context
    ) -> pb.GetServerInfoResponse:
        facts = self._facts
        return pb.GetServerInfoResponse(
            version=facts.version,
            reader_version=self._queue.reader_version,
            rules_version=RULES_VERSION,
            engines=[
                pb.EngineInfo(name=name, version=version, languages=languages)
                for name, version, languages in facts.engines
            ],
            limits=[pb.LimitInfo(name=n, value=v, unit=u) for n, v, u in facts.limits],
            kinds=list(KINDS),
            statuses=[
                pb.StatusInfo(
                    status=status_pb2.Status.ValueType(s.value),
                    action=status_pb2.Action.ValueType(a.value),
                )
                for s, a in ACTIONS.items()
            ],
            reasons=[pb.ReasonInfo(code=c, description=d) for c, d in REASONS.items()],
            components=facts.components,
            sandbox=facts.sandbox,
        )


def _one_at_a_time(wanted: DrawRequest, report: Any) -> list[DrawRequest]:
    """One request a page, so that pictures are sent as they are made."""
    if wanted.crops:
        return [wanted]
    places = {
        e.page
        for r in report.results
        for e in (r.evidence + r.candidates if r.candidates else r.evidence)
    }
    pages = wanted.pages or tuple(sorted(places))
    return [
        DrawRequest((page,), wanted.side, wanted.media, False, "", wanted.context_lines)
        for page in pages
    ]


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        return max(0, int(base64.urlsafe_b64decode(token.encode())))
    except ValueError:
        raise VisualProofError(
            "PAGE_TOKEN_INVALID",
            "Use the page token of the last response.",
            field_path="page_token",
        ) from None
