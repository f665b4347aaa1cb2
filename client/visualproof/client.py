# Made from aio.py by make_sync.py: change that one, and run `make client`.
"""The client. `visualproof.aio.AsyncClient` has the same methods."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import grpc

from visualproof import _channel as shared
from visualproof._channel import (
    Answer,
    DocumentRef,
    Exported,
    Picture,
    Prompt,
    RelationLike,
    Source,
)
from visualproof.errors import CallError, DocumentFailed, Unreachable, from_rpc
from visualproof.report import Report
from visualproof.v1 import (
    block_pb2,
    document_pb2,
    report_pb2,
    visual_proof_service_pb2_grpc,
)
from visualproof.v1 import visual_proof_service_pb2 as pb

T = TypeVar("T")


class Client:
    """A connection to a visual proof service; use it as a context manager, or call close().

    target is host:port. token is sent as a bearer token; in plain text, to another machine, with
    a warning (PlainTextToken). With root_certificates, or tls=True
    (the system's roots), the channel is encrypted; private_key and certificate_chain are for
    mutual TLS. Any ready grpc.Channel can be given instead. timeout (s) bounds each call.

    Errors: CallError and its kinds; calls are tried again on UNAVAILABLE only.
    """

    def __init__(
        self,
        target: str = "localhost:50051",
        *,
        token: str | None = None,
        tls: bool = False,
        root_certificates: bytes | None = None,
        private_key: bytes | None = None,
        certificate_chain: bytes | None = None,
        channel: grpc.Channel | None = None,
        timeout: float = 120.0,
    ) -> None:
        if channel is not None:
            self._channel = channel
        elif tls or root_certificates:
            secure = shared.credentials(root_certificates, private_key, certificate_chain)
            self._channel = grpc.secure_channel(target, secure, options=shared.OPTIONS)
        else:
            shared.check_token(target, token)
            self._channel = grpc.insecure_channel(target, options=shared.OPTIONS)
        # The stub is the same for both kinds of channel; its type says only one.
        self._stub: Any = visual_proof_service_pb2_grpc.VisualProofServiceStub(self._channel)
        self._metadata = shared.metadata(token)
        self._timeout = timeout

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()

    def ingest(
        self,
        source: Source,
        *,
        languages: Iterable[str] = (),
        dpi: int = 0,
        engine: str = "",
        first_page: int = 0,
        last_page: int = 0,
        password: str = "",
        tables: bool = True,
        text_layer: bool = False,
        reading: Source | None = None,
        file_name: str | None = None,
        on_progress: Callable[[document_pb2.Document], object] | None = None,
        timeout: float = 3600.0,
    ) -> document_pb2.Document:
        """Uploads a path, bytes or binary file, and returns when it is READY.

        text_layer takes a PDF's own words where their ink is proven, much faster than OCR; each
        value that they prove is still read again from its pixels. reading is another reader's
        output (Textract JSON, hOCR, Ethos grounding JSON): words come from it, pixels from source.
        The same bytes and options are read once, ever. on_progress gets each state. Raises
        DocumentFailed with the code, CallTimeout after timeout seconds.
        """
        document = self.upload(
            source,
            languages=languages,
            dpi=dpi,
            engine=engine,
            first_page=first_page,
            last_page=last_page,
            password=password,
            tables=tables,
            text_layer=text_layer,
            reading=reading,
            file_name=file_name,
        )
        for state in self.watch(document, timeout=timeout):
            document = state
            if on_progress is not None:
                on_progress(state)
        if document.state == document_pb2.DOCUMENT_STATE_FAILED:
            raise DocumentFailed(document)
        return document

    def upload(
        self,
        source: Source,
        *,
        languages: Iterable[str] = (),
        dpi: int = 0,
        engine: str = "",
        first_page: int = 0,
        last_page: int = 0,
        password: str = "",
        tables: bool = True,
        text_layer: bool = False,
        reading: Source | None = None,
        file_name: str | None = None,
    ) -> document_pb2.Document:
        """Uploads, and returns as soon as the bytes are safe."""
        content, name = shared.read_source(source, file_name)
        other = None if reading is None else shared.read_source(reading, None)[0]
        options = shared.options_of(
            languages, dpi, engine, first_page, last_page, password, tables, text_layer
        )
        response: pb.UploadDocumentResponse = self._retried(
            lambda: self._stub.UploadDocument(
                shared.upload_messages(content, name, options, other),
                timeout=self._timeout,
                metadata=self._metadata,
            )
        )
        return response.document

    def get(self, document: DocumentRef) -> document_pb2.Document:
        """Where a document stands."""
        request = pb.GetDocumentRequest(document_id=shared.id_of(document))
        response: pb.GetDocumentResponse = self._call(self._stub.GetDocument, request)
        return response.document

    def watch(
        self, document: DocumentRef, *, timeout: float = 3600.0
    ) -> Iterator[document_pb2.Document]:
        """Its state at once, then each change; ends after READY or FAILED, across breaks."""
        deadline = time.monotonic() + timeout
        failures = 0
        request = pb.WatchDocumentRequest(document_id=shared.id_of(document))
        while True:
            try:
                for message in self._stub.WatchDocument(
                    request,
                    timeout=max(0.001, deadline - time.monotonic()),
                    metadata=self._metadata,
                ):
                    failures = 0
                    yield message.document
                return
            except grpc.RpcError as error:
                failures += 1
                known = from_rpc(error)
                if not isinstance(known, Unreachable) or failures >= shared.RETRIES:
                    raise known from None
                time.sleep(shared.RETRY_DELAY_S * 2 ** (failures - 1))

    def delete(self, document: DocumentRef) -> None:
        """Deletes a document and all derived from it."""
        request = pb.DeleteDocumentRequest(document_id=shared.id_of(document))
        self._call(self._stub.DeleteDocument, request)

    def pages(self, document: DocumentRef) -> Iterator[document_pb2.Page]:
        """Its pages, in the file's order."""
        token = ""
        while True:
            request = pb.ListPagesRequest(document_id=shared.id_of(document), page_token=token)
            response: pb.ListPagesResponse = self._call(self._stub.ListPages, request)
            for page in response.pages:
                yield page
            token = response.next_page_token
            if not token:
                return

    def blocks(
        self,
        document: DocumentRef,
        page: int = 0,
        kinds: Iterable[block_pb2.BlockKind.ValueType] = (),
    ) -> Iterator[block_pb2.Block]:
        """Its blocks in reading order, of one page (1-based) or all, of some kinds or all."""
        token = ""
        while True:
            request = pb.ListBlocksRequest(
                document_id=shared.id_of(document),
                page_number=page,
                kinds=kinds,
                page_token=token,
            )
            response: pb.ListBlocksResponse = self._call(self._stub.ListBlocks, request)
            for block in response.blocks:
                yield block
            token = response.next_page_token
            if not token:
                return

    def page_image(
        self, document: DocumentRef, page: int, *, longest_side: int = 0, format: str = "jpeg"
    ) -> Picture:
        """A page as read, unmarked; format is jpeg, png or webp."""
        request = pb.GetPageImageRequest(
            document_id=shared.id_of(document),
            page_number=page,
            longest_side_px=longest_side,
            format=shared.FORMATS[format],
        )
        parts = []
        for part in self._stream(self._stub.GetPageImage, request):
            parts.append(part)
        return shared.joined_picture(page, parts)

    def prompt(
        self,
        document: DocumentRef,
        *,
        fields: Iterable[report_pb2.FieldSpec] = (),
        json_schema: str | Mapping[str, Any] = "",
        pages: tuple[int, int] | None = None,
        max_tokens: int = 0,
        compact: bool = False,
    ) -> Prompt:
        """Marked text for a model, with instructions and the schema of its answer."""
        request = shared.prompt_request(document, fields, json_schema, pages, max_tokens, compact)
        return shared.prompt_from(self._call(self._stub.RenderPrompt, request))

    def verify(
        self,
        document: DocumentRef,
        answer: Answer,
        *,
        fields: Iterable[report_pb2.FieldSpec] = (),
        relations: Iterable[RelationLike] = (),
        policy: report_pb2.Policy | None = None,
        shown_pages: Iterable[tuple[int, int]] = (),
    ) -> Report:
        """Proves an answer: the model's JSON as str or bytes, or a dict.

        shown_pages are the windows (first, last) that the model was given, if not all.
        """
        request = shared.verify_request(document, answer, fields, relations, policy, shown_pages)
        response: pb.VerifyAnswerResponse = self._call(self._stub.VerifyAnswer, request)
        report = Report(response.report)
        return Report(report.message, lambda: self.crops(document, report, context_lines=1))

    def check_prose(
        self, text: str, reports: Iterable[Report], *, rounding_allowed: bool = False
    ) -> pb.CheckProseResponse:
        """Every number of a text, classed against the verified values of some reports."""
        request = pb.CheckProseRequest(
            text=text,
            reports=[report.message for report in reports],
            rounding_allowed=rounding_allowed,
        )
        response: pb.CheckProseResponse = self._call(self._stub.CheckProse, request)
        return response

    def annotate(
        self,
        document: DocumentRef,
        report: Report,
        *,
        pages: Iterable[int] = (),
        longest_side: int = 0,
        format: str = "jpeg",
    ) -> Iterator[Picture]:
        """Pages with each value framed in the colour of its action; all that have evidence."""
        request = pb.AnnotatePagesRequest(
            document_id=shared.id_of(document),
            report=report.message,
            page_numbers=pages,
            longest_side_px=longest_side,
            format=shared.FORMATS[format],
        )
        for message in self._stream(self._stub.AnnotatePages, request):
            yield shared.picture_from(message)

    def crops(
        self,
        document: DocumentRef,
        report: Report,
        *,
        path: str = "",
        context_lines: int = 0,
        format: str = "jpeg",
    ) -> Iterator[Picture]:
        """The surroundings of each value, or of the one at `path`."""
        request = pb.AnnotatePagesRequest(
            document_id=shared.id_of(document),
            report=report.message,
            format=shared.FORMATS[format],
            crops=True,
            path=path,
            context_lines=context_lines,
        )
        for message in self._stream(self._stub.AnnotatePages, request):
            yield shared.picture_from(message)

    def export(
        self,
        document: DocumentRef,
        answer: Answer = "",
        *,
        to: str | Path,
        fields: Iterable[report_pb2.FieldSpec] = (),
        relations: Iterable[RelationLike] = (),
        policy: report_pb2.Policy | None = None,
        shown_pages: Iterable[tuple[int, int]] = (),
        format: str = "",
        with_original: bool = False,
        password: str = "",
    ) -> Exported:
        """Proves an answer and writes the evidence to a file.

        format is bundle, pdf, html, web-annotation, ethos-citations, hocr or textract; empty takes
        it from the suffix (.zip, .pdf, .html, .jsonld, .hocr). hocr and textract need no answer.
        with_original puts the uploaded bytes into a bundle; password opens an encrypted PDF.
        """
        request = shared.export_request(
            document, answer, fields, relations, policy, shown_pages, to, format, with_original,
            password,
        )  # fmt: skip
        file = shared.EvidenceFile(to)
        try:
            for part in self._stream(self._stub.ExportEvidence, request):
                file.take(part)
            return file.finish()
        except BaseException:
            file.abandon()
            raise

    def info(self) -> pb.GetServerInfoResponse:
        """What the server is and can do."""
        response: pb.GetServerInfoResponse = self._call(
            self._stub.GetServerInfo, pb.GetServerInfoRequest()
        )
        return response

    def _call(self, method: Any, request: Any) -> Any:
        return self._retried(
            lambda: method(request, timeout=self._timeout, metadata=self._metadata)
        )

    def _stream(self, method: Any, request: Any) -> Iterator[Any]:
        try:
            for message in method(request, timeout=self._timeout, metadata=self._metadata):
                yield message
        except grpc.RpcError as error:
            raise from_rpc(error) from None

    def _retried(self, call: Callable[[], T]) -> T:
        """Tries again while nobody answers."""
        failures = 0
        while True:
            try:
                return call()
            except grpc.RpcError as error:
                failures += 1
                known: CallError = from_rpc(error)
                if not isinstance(known, Unreachable) or failures >= shared.RETRIES:
                    raise known from None
                time.sleep(shared.RETRY_DELAY_S * 2 ** (failures - 1))
