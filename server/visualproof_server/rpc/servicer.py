"""The service: each RPC translates, calls, translates."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from visualproof.v1 import report_pb2, status_pb2, visual_proof_service_pb2_grpc
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.answers.service import AnswerService
from visualproof_server.documents.lifecycle import DocumentLifecycle, Upload
from visualproof_server.model.document import DocumentState
from visualproof_server.model.drawing import DrawRequest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.markers import MarkerStyle
from visualproof_server.model.report import ACTIONS, REASONS
from visualproof_server.rpc import checks, convert, evidence, listing, upload
from visualproof_server.rpc.auth import Tokens
from visualproof_server.rpc.calls import Bound, Context, logged
from visualproof_server.rpc.options import Defaults, options_from_wire
from visualproof_server.rpc.tenant import CURRENT
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.storing.documents import not_found

T = TypeVar("T")
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
_MIN_SIDE, _MAX_SIDE = 100, 10_000


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bytes of an upload, and seconds that it may bring none; uploads, calls and bytes of requests that
    may be under way at once, of all callers and of one tenant."""

    upload_bytes: int
    upload_idle_s: float
    uploads: tuple[int, int]
    calls: tuple[int, int]
    request_bytes: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What GetServerInfo says, beside statuses and reasons."""

    version: str
    engines: tuple[tuple[str, str, tuple[str, ...]], ...]
    limits: tuple[tuple[str, int, str], ...]
    components: tuple[str, ...]
    sandbox: tuple[str, ...]
    kinds: tuple[str, ...]
    rules_version: str


class Servicer(visual_proof_service_pb2_grpc.VisualProofServiceServicer):
    """visualproof.v1.VisualProofService."""

    def __init__(
        self,
        store: AsyncStore,
        documents: DocumentLifecycle,
        answers: AnswerService,
        defaults: Defaults,
        facts: ServerFacts,
        incoming: Path,
        limits: RequestLimits,
        tokens: Tokens,
    ) -> None:
        self._tokens = tokens
        self._calls = Bound(*limits.calls, "calls")
        self._uploads = Bound(*limits.uploads, "uploads")
        self._requests = Bound(*limits.request_bytes, "bytes of requests")
        self._upload_idle_s = limits.upload_idle_s
        self._store = store
        self._documents = documents
        self._answers = answers
        self._defaults = defaults
        self._facts = facts
        self._incoming = incoming
        self._max_upload = limits.upload_bytes

    @logged
    async def UploadDocument(
        self, request_iterator: AsyncIterator[pb.UploadDocumentRequest], context: Context
    ) -> pb.UploadDocumentResponse:
        with self._uploads.held():
            messages = upload.in_time(request_iterator, self._upload_idle_s)
            async with aclosing(messages):
                return await self._uploaded(messages)

    async def _uploaded(
        self, messages: AsyncIterator[pb.UploadDocumentRequest]
    ) -> pb.UploadDocumentResponse:
        first = await anext(messages, None)
        if first is None or not first.HasField("header"):
            raise VisualProofError("HEADER_MISSING", "Begin an upload with its header.")
        tenant = CURRENT.get()
        header = upload.checked_header(first.header)
        options = options_from_wire(first.header.options, self._defaults)
        options = replace(options, reading_sha256=header.reading_sha256)
        if header.sha256:
            known = await self._documents.known(
                self._documents.id_of(header.sha256, options, tenant)
            )
            if known is not None:
                return pb.UploadDocumentResponse(document=convert.document_to_wire(known))
        await self._documents.check_room(tenant)
        received = await upload.receive(first, messages, header, self._incoming, self._max_upload)
        # Once the bytes are here, a caller who goes away changes nothing.
        state = await asyncio.shield(
            self._documents.add(
                Upload(
                    file=received.file,
                    sha256=received.sha256,
                    file_name=header.file_name,
                    options=options,
                    tenant=tenant,
                    reading=received.reading,
                )
            )
        )
        return pb.UploadDocumentResponse(document=convert.document_to_wire(state))

    async def _owned(self, document_id: str) -> DocumentState:
        """A document of the caller; another tenant's is not found, as if there were none."""
        if not _ID.fullmatch(document_id):
            raise VisualProofError("DOCUMENT_ID_INVALID", "A document id is 32 hex digits.")
        state = await self._store.state(document_id)
        if state.tenant != CURRENT.get():
            raise not_found()
        return state

    async def _id(self, document_id: str) -> str:
        return (await self._owned(document_id)).document_id

    @logged
    async def GetDocument(
        self, request: pb.GetDocumentRequest, context: Context
    ) -> pb.GetDocumentResponse:
        state = await self._owned(request.document_id)
        return pb.GetDocumentResponse(document=convert.document_to_wire(state))

    @logged
    async def WatchDocument(
        self, request: pb.WatchDocumentRequest, context: Context
    ) -> AsyncIterator[pb.WatchDocumentResponse]:
        name = await self._id(request.document_id)
        async for state in self._documents.watch(name):
            yield pb.WatchDocumentResponse(document=convert.document_to_wire(state))

    @logged
    async def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, context: Context
    ) -> pb.DeleteDocumentResponse:
        await self._documents.delete(await self._id(request.document_id))
        return pb.DeleteDocumentResponse()

    @logged
    async def ListPages(
        self, request: pb.ListPagesRequest, context: Context
    ) -> pb.ListPagesResponse:
        summary = await self._answers.summary(await self._owned(request.document_id))
        return listing.pages(summary, request)

    @logged
    async def ListBlocks(
        self, request: pb.ListBlocksRequest, context: Context
    ) -> pb.ListBlocksResponse:
        document = await self._answers.document(await self._owned(request.document_id))
        # Thousands of messages take a while to make.
        return await asyncio.to_thread(listing.blocks, document, request)

    @logged
    async def GetPageImage(
        self, request: pb.GetPageImageRequest, context: Context
    ) -> AsyncIterator[pb.GetPageImageResponse]:
        head, data = await self._answers.page_image(
            await self._owned(request.document_id),
            request.page_number,
            _side(request.longest_side_px, 1),
            _choice(_MEDIA, request.format, "format"),
        )
        for at in range(0, len(data), _IMAGE_CHUNK):
            part = data[at : at + _IMAGE_CHUNK]
            if at:
                yield pb.GetPageImageResponse(content=part)
            else:
                yield pb.GetPageImageResponse(
                    mime_type=head.media,
                    width_px=head.width,
                    height_px=head.height,
                    content=part,
                )

    @logged
    async def RenderPrompt(
        self, request: pb.RenderPromptRequest, context: Context
    ) -> pb.RenderPromptResponse:
        prompt, instructions, schema = await self._answers.prompt(
            await self._owned(request.document_id),
            request.first_page,
            request.last_page,
            request.max_tokens,
            _choice(_STYLES, request.marker_style, "marker_style"),
            await asyncio.to_thread(convert.fields_from_wire, list(request.fields)),
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

    @logged
    async def VerifyAnswer(
        self, request: pb.VerifyAnswerRequest, context: Context
    ) -> pb.VerifyAnswerResponse:
        state = await self._owned(request.document_id)
        # Messages of megabytes take seconds to turn into ours, and back.
        wanted = await asyncio.to_thread(convert.request_from_wire, request)
        summary = await self._answers.summary(state)
        answer = request.answer_json.encode()
        report, _ = await self._answers.verify(state, answer, wanted)
        made = await asyncio.to_thread(convert.report_to_wire, report, summary)
        return pb.VerifyAnswerResponse(report=made)

    @logged
    async def CheckProse(
        self, request: pb.CheckProseRequest, context: Context
    ) -> pb.CheckProseResponse:
        reports = [
            await asyncio.to_thread(convert.report_from_wire, r, None) for r in request.reports
        ]
        made = await self._answers.check_prose(
            request.text, reports, request.rounding_allowed, CURRENT.get()
        )
        return pb.CheckProseResponse(spans=convert.spans_to_wire(made), safe=made.safe)

    @logged
    async def AnnotatePages(
        self, request: pb.AnnotatePagesRequest, context: Context
    ) -> AsyncIterator[pb.AnnotatePagesResponse]:
        state = await self._owned(request.document_id)
        summary = await self._answers.summary(state)
        report = await asyncio.to_thread(convert.report_from_wire, request.report, summary)
        wanted = DrawRequest(
            tuple(request.page_numbers),
            _side(request.longest_side_px, _MIN_SIDE),
            _choice(_MEDIA, request.format, "format"),
            request.crops,
            request.path,
            min(request.context_lines, 20),
        )
        for one in _one_at_a_time(wanted, report):
            for head, data in await self._answers.pictures(state, report, one):
                yield pb.AnnotatePagesResponse(
                    page_number=head.page,
                    path=head.path,
                    mime_type=head.media,
                    width_px=head.width,
                    height_px=head.height,
                    image=data,
                )

    @logged
    async def ExportEvidence(
        self, request: pb.ExportEvidenceRequest, context: Context
    ) -> AsyncIterator[pb.ExportEvidenceResponse]:
        state = await self._owned(request.answer.document_id)
        made = evidence.export(state, request, self._answers, self._facts.version)
        async with aclosing(made) as parts:
            async for part in parts:
                yield part

    @logged
    async def GetServerInfo(
        self, request: pb.GetServerInfoRequest, context: Context
    ) -> pb.GetServerInfoResponse:
        facts = self._facts
        return pb.GetServerInfoResponse(
            version=facts.version,
            reader_version=self._documents.reader_version,
            rules_version=facts.rules_version,
            engines=[
                pb.EngineInfo(name=name, version=version, languages=languages)
                for name, version, languages in facts.engines
            ],
            limits=[pb.LimitInfo(name=n, value=v, unit=u) for n, v, u in facts.limits],
            kinds=facts.kinds,
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


def _side(side: int, least: int) -> int:
    """The longest side of a picture, 0 for the page's own; error OPTIONS_INVALID."""
    if side and not least <= side <= _MAX_SIDE:
        raise checks.refused("longest_side_px", f"longest_side_px is {least} to {_MAX_SIDE}.")
    return side


def _choice(known: Mapping[Any, T], value: int, path: str) -> T:
    """What a value of an enum means; error OPTIONS_INVALID for one that is not known."""
    if value not in known:
        raise checks.refused(path, f"This server does not know the {path} {value}.")
    return known[value]
