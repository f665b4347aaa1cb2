"""Requests and reports as a bundle keeps them: the wire's messages as JSON, always spelled alike."""

import json

from google.protobuf import json_format
from google.protobuf.message import Message
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.report import Report
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.summary import Framed
from visualproof_server.rpc import convert, limits


def report_json(report: Report, document: Framed) -> bytes:
    """The Report message."""
    return _json(convert.report_to_wire(report, document))


def request_json(request: pb.VerifyAnswerRequest) -> bytes:
    """The VerifyAnswerRequest message, without the answer, which has a file of its own."""
    kept = pb.VerifyAnswerRequest()
    kept.CopyFrom(request)
    kept.ClearField("answer_json")
    return _json(kept)


def request_of(data: bytes) -> ProveRequest:
    """What `request_json` kept; ValueError or VisualProofError if it is no such thing."""
    try:
        request = json_format.Parse(data, pb.VerifyAnswerRequest())
    except json_format.ParseError as error:
        raise ValueError(str(error)) from None
    # A bundle may come from anybody: what it asks has a request's limits.
    limits.read(request.DESCRIPTOR, request.SerializeToString())
    return convert.request_from_wire(request)


def _json(message: Message) -> bytes:
    plain = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"
