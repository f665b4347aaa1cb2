"""The one table from errors to gRPC, and the trailer that carries the code."""

from typing import Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from visualproof.v1 import status_pb2

from visualproof_server.model.errors import CODES, Problem, VisualProofError

GRPC_CODES = {
    Problem.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    Problem.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Problem.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Problem.NOT_READY: grpc.StatusCode.FAILED_PRECONDITION,
    Problem.BUSY: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Problem.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Problem.TIMEOUT: grpc.StatusCode.DEADLINE_EXCEEDED,
    Problem.DAMAGED: grpc.StatusCode.DATA_LOSS,
    Problem.INTERNAL: grpc.StatusCode.INTERNAL,
}
DOMAIN = "visualproof"
TRAILER = "grpc-status-details-bin"
# 16 KiB of metadata is a hard stop of gRPC.
_MAX_MESSAGE = 1000


def grpc_code(error: VisualProofError) -> grpc.StatusCode:
    problem, _ = CODES.get(error.code, CODES["INTERNAL"])
    return GRPC_CODES[problem]


def refuse(context: Any, error: VisualProofError) -> None:
    """Has a call end with an error once its handler returns. `abort` would keep the call's frames, and
    with them its request, until Python looks for cycles."""
    context.set_trailing_metadata(trailer(error))
    context.set_code(grpc_code(error))
    context.set_details(error.message)


def trailer(error: VisualProofError) -> tuple[tuple[str, bytes], ...]:
    """google.rpc.Status with ErrorInfo, and RetryInfo or BadRequest where they apply."""
    code = grpc_code(error)
    status = status_pb2.ErrorStatus(code=code.value[0], message=error.message[:_MAX_MESSAGE])
    info = status_pb2.ErrorInfo(reason=error.code, domain=DOMAIN, metadata=error.metadata)
    status.details.append(_packed("google.rpc.ErrorInfo", info.SerializeToString()))
    if error.retry_after_s:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(error.retry_after_s * 1000))
        retry = status_pb2.RetryInfo(retry_delay=delay)
        status.details.append(_packed("google.rpc.RetryInfo", retry.SerializeToString()))
    if error.field_path:
        bad = status_pb2.BadRequest()
        bad.field_violations.add(field=error.field_path, description=error.message[:_MAX_MESSAGE])
        status.details.append(_packed("google.rpc.BadRequest", bad.SerializeToString()))
    return ((TRAILER, status.SerializeToString()),)


def _packed(name: str, value: bytes) -> any_pb2.Any:
    return any_pb2.Any(type_url=f"type.googleapis.com/{name}", value=value)
