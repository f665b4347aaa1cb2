"""A fake service for tests of programs that use visualproof: real gRPC, no OCR.

with FakeService() as fake:
    fake.add_document(b"...", lines=["Total 90.00"])
    fake.set_status("/total", Status.MISMATCH, printed_text="90.00")
    with Client(fake.target) as client:
        ...
"""

import hashlib
import json
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc

from visualproof.report import Action, Status
from visualproof.v1 import (
    block_pb2,
    document_pb2,
    report_pb2,
    status_pb2,
    visual_proof_service_pb2_grpc,
)
from visualproof.v1 import visual_proof_service_pb2 as pb

_ACTIONS = {
    Status.VERIFIED: Action.RELEASE,
    Status.ABSENT: Action.RELEASE,
    Status.MISMATCH: Action.BLOCK,
    Status.NOT_FOUND: Action.BLOCK,
    Status.STALE: Action.BLOCK,
    Status.UNSUPPORTED: Action.BLOCK,
}
# The start and end of a JPEG: enough for programs that only pass pictures on.
_PICTURE = b"\xff\xd8\xff\xd9"


class FakeService:
    """Serves on a free port of loopback. Every value is VERIFIED unless set_status says else."""

    def __init__(self) -> None:
        self._servicer = _Servicer()
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
        visual_proof_service_pb2_grpc.add_VisualProofServiceServicer_to_server(
            self._servicer, self._server
        )
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.target = f"127.0.0.1:{port}"
        self._server.start()

    def __enter__(self) -> "FakeService":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops serving."""
        self._server.stop(0).wait()

    def add_document(self, content: bytes, lines: list[str]) -> str:
        """What uploading these bytes gives: one page with these lines. Returns its id."""
        return self._servicer.add(content, lines)

    def fail_document(self, content: bytes, code: str) -> None:
        """Uploading these bytes gives a document that FAILED with this code."""
        self._servicer.failures[hashlib.sha256(content).hexdigest()] = code

    def set_status(self, path: str, status: Status, printed_text: str = "") -> None:
        """How the value at a JSON Pointer comes out from now on."""
        self._servicer.statuses[path] = (status, printed_text)


class _Servicer(visual_proof_service_pb2_grpc.VisualProofServiceServicer):
    def __init__(self) -> None:
        self.documents: dict[str, tuple[document_pb2.Document, list[str]]] = {}
        self.failures: dict[str, str] = {}
        self.statuses: dict[str, tuple[Status, str]] = {}

    def add(self, content: bytes, lines: list[str]) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        document = document_pb2.Document(
            document_id=sha256[:32],
            source_sha256=sha256,
            reader_version="fake",
            state=document_pb2.DOCUMENT_STATE_READY,
            page_count=1,
            read_page_count=1,
        )
        if sha256 in self.failures:
            document.state = document_pb2.DOCUMENT_STATE_FAILED
            document.failure.code = self.failures[sha256]
            document.failure.message = "Set by the test."
        self.documents[document.document_id] = (document, lines)
        return document.document_id

    def UploadDocument(
        self, request_iterator: Iterator[pb.UploadDocumentRequest], context: grpc.ServicerContext
    ) -> pb.UploadDocumentResponse:
        content = b"".join(message.content for message in request_iterator)
        name = hashlib.sha256(content).hexdigest()[:32]
        if name not in self.documents:
            self.add(content, content.decode("utf-8", "ignore").splitlines()[:1000])
        return pb.UploadDocumentResponse(document=self.documents[name][0])

    def GetDocument(
        self, request: pb.GetDocumentRequest, context: grpc.ServicerContext
    ) -> pb.GetDocumentResponse:
        return pb.GetDocumentResponse(document=self._known(request.document_id, context)[0])

    def WatchDocument(
        self, request: pb.WatchDocumentRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.WatchDocumentResponse]:
        yield pb.WatchDocumentResponse(document=self._known(request.document_id, context)[0])

    def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, context: grpc.ServicerContext
    ) -> pb.DeleteDocumentResponse:
        self._known(request.document_id, context)
        del self.documents[request.document_id]
        return pb.DeleteDocumentResponse()

    def ListBlocks(
        self, request: pb.ListBlocksRequest, context: grpc.ServicerContext
    ) -> pb.ListBlocksResponse:
        _, lines = self._known(request.document_id, context)
        return pb.ListBlocksResponse(
            blocks=[
                block_pb2.Block(
                    block_id=f"L{n}",
                    kind=block_pb2.BLOCK_KIND_LINE,
                    parent_id="P1",
                    page_number=1,
                    text=text,
                    marker=n,
                    box=block_pb2.BoundingBox(left=0.1, top=n / 100, width=0.8, height=0.008),
                )
                for n, text in enumerate(lines, 1)
            ]
        )

    def ListPages(
        self, request: pb.ListPagesRequest, context: grpc.ServicerContext
    ) -> pb.ListPagesResponse:
        self._known(request.document_id, context)
        page = document_pb2.Page(page_number=1, page_label="1", width_px=1000, height_px=1400)
        return pb.ListPagesResponse(pages=[page])

    def RenderPrompt(
        self, request: pb.RenderPromptRequest, context: grpc.ServicerContext
    ) -> pb.RenderPromptResponse:
        _, lines = self._known(request.document_id, context)
        text = "\n".join(["<PAGE 1>", *(f"<LINE {n}>{t}" for n, t in enumerate(lines, 1))])
        return pb.RenderPromptResponse(
            text=text,
            instructions="Cite lines.",
            pages=report_pb2.PageRange(first_page=1, last_page=1),
        )

    def VerifyAnswer(
        self, request: pb.VerifyAnswerRequest, context: grpc.ServicerContext
    ) -> pb.VerifyAnswerResponse:
        document, _ = self._known(request.document_id, context)
        try:
            leaves = list(_leaves(json.loads(request.answer_json), ""))
        except ValueError:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "The answer is not one JSON value.")
        results = []
        for path, value in leaves:
            status, printed = self.statuses.get(path, (Status.VERIFIED, str(value)))
            results.append(
                report_pb2.FieldResult(
                    path=path,
                    value_json=json.dumps(value),
                    status=status_pb2.Status.ValueType(status.value),
                    action=status_pb2.Action.ValueType(_ACTIONS.get(status, Action.REVIEW).value),
                    printed_text=printed,
                )
            )
        worst = max((r.action for r in results), default=status_pb2.ACTION_BLOCK)
        report = report_pb2.Report(
            document_id=document.document_id,
            source_sha256=document.source_sha256,
            reader_version="fake",
            rules_version="fake",
            results=results,
            action=worst,
        )
        return pb.VerifyAnswerResponse(report=report)

    def CheckProse(
        self, request: pb.CheckProseRequest, context: grpc.ServicerContext
    ) -> pb.CheckProseResponse:
        return pb.CheckProseResponse(safe=True)

    def GetPageImage(
        self, request: pb.GetPageImageRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.GetPageImageResponse]:
        self._known(request.document_id, context)
        yield pb.GetPageImageResponse(mime_type="image/jpeg", content=_PICTURE)

    def AnnotatePages(
        self, request: pb.AnnotatePagesRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.AnnotatePagesResponse]:
        self._known(request.document_id, context)
        yield pb.AnnotatePagesResponse(page_number=1, mime_type="image/jpeg", image=_PICTURE)

    def ExportEvidence(
        self, request: pb.ExportEvidenceRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.ExportEvidenceResponse]:
        self._known(request.answer.document_id, context)
        action = status_pb2.ACTION_UNSPECIFIED
        if request.answer.answer_json:
            action = self.VerifyAnswer(request.answer, context).report.action
        content = b"evidence of the fake service"
        yield pb.ExportEvidenceResponse(
            mime_type="application/octet-stream",
            size_bytes=len(content),
            action=action,
            content=content,
        )

    def GetServerInfo(
        self, request: pb.GetServerInfoRequest, context: grpc.ServicerContext
    ) -> pb.GetServerInfoResponse:
        return pb.GetServerInfoResponse(version="fake", reader_version="fake")

    def _known(
        self, document_id: str, context: grpc.ServicerContext
    ) -> tuple[document_pb2.Document, list[str]]:
        if document_id not in self.documents:
            context.abort(grpc.StatusCode.NOT_FOUND, "There is no such document.")
        return self.documents[document_id]


def _leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        if "value" in node and set(node) <= {"value", "proof", "derivation"}:
            yield path, node["value"]
            return
        for key, child in node.items():
            yield from _leaves(child, f"{path}/{key}")
    elif isinstance(node, list):
        for number, child in enumerate(node):
            yield from _leaves(child, f"{path}/{number}")
    else:
        yield path, node
