"""What can go wrong, and how to tell it apart.

VisualProofError
├── DocumentFailed        the document was uploaded, and cannot be read; .code says why
├── ReportBlocked         raised by Report.raise_for_blocked
└── CallError             a call was refused or failed; .code is stable (docs/errors.md)
    ├── InvalidRequest    the request is wrong and will stay so
    ├── Unauthenticated   the token is missing or wrong
    ├── NotFound          there is no such document for you
    ├── NotReady          the document is not READY
    ├── ServerBusy        try again after .retry_after seconds
    ├── CallTimeout       it took too long
    └── Unreachable       no server answers
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import grpc

from visualproof.v1 import document_pb2, status_pb2

if TYPE_CHECKING:
    from visualproof.report import FieldResult, Report

_TRAILER = "grpc-status-details-bin"


class VisualProofError(Exception):
    """The root of all errors of this package."""


class DocumentFailed(VisualProofError):
    """The document cannot be read. code and message are Document.failure's."""

    def __init__(self, document: document_pb2.Document) -> None:
        super().__init__(f"{document.failure.code}: {document.failure.message}")
        self.document = document
        self.code = document.failure.code
        self.message = document.failure.message


class ReportBlocked(VisualProofError):
    """Values of a report must not be used; `results` holds them."""

    def __init__(self, report: "Report", results: "list[FieldResult]") -> None:
        names = ", ".join(f"{r.path} {r.status.name}" for r in results[:10])
        super().__init__(f"{len(results)} blocked: {names}" if results else "the report is empty")
        self.report = report
        self.results = results


class CallError(VisualProofError):
    """A call that failed. code is the stable reason ("" if the server sent none)."""

    def __init__(
        self,
        code: str,
        message: str,
        grpc_code: grpc.StatusCode,
        metadata: dict[str, str] | None = None,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(f"{code}: {message}" if code else message)
        self.code = code
        self.message = message
        self.grpc_code = grpc_code
        self.metadata = metadata or {}
        self.retry_after = retry_after


class InvalidRequest(CallError):
    """The request is wrong and will stay so."""


class Unauthenticated(CallError):
    """The token is missing or wrong."""


class NotFound(CallError):
    """There is no such document for you."""


class NotReady(CallError):
    """The document is not READY."""


class ServerBusy(CallError):
    """Try again after `retry_after` seconds."""


class CallTimeout(CallError):
    """It took too long."""


class Unreachable(CallError):
    """No server answers."""


_CLASSES: dict[grpc.StatusCode, type[CallError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.FAILED_PRECONDITION: NotReady,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ServerBusy,
    grpc.StatusCode.DEADLINE_EXCEEDED: CallTimeout,
    grpc.StatusCode.UNAVAILABLE: Unreachable,
}


def from_rpc(error: grpc.RpcError) -> CallError:
    """The error that a failed call stands for."""
    code: grpc.StatusCode = error.code()
    message = error.details() or code.name
    reason, metadata, retry_after = "", {}, 0.0
    trailer: Iterable[tuple[str, bytes]] = error.trailing_metadata() or ()  # type: ignore[assignment]
    for key, value in trailer:
        if key != _TRAILER:
            continue
        status = status_pb2.ErrorStatus.FromString(value)
        for detail in status.details:
            if detail.type_url.endswith("/google.rpc.ErrorInfo"):
                info = status_pb2.ErrorInfo.FromString(detail.value)
                reason, metadata = info.reason, dict(info.metadata)
            elif detail.type_url.endswith("/google.rpc.RetryInfo"):
                delay = status_pb2.RetryInfo.FromString(detail.value).retry_delay
                retry_after = delay.seconds + delay.nanos / 1e9
    kind = _CLASSES.get(code, CallError)
    return kind(reason, message, code, metadata, retry_after)
