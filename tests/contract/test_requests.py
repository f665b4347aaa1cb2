"""Requests that no client of ours sends: refused with a code, named by the field, logged as they end."""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import RunningServer, start_server
from visualproof import Client, Document, Report, ServerBusy
from visualproof.v1 import document_pb2, report_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof.v1 import visual_proof_service_pb2_grpc as stubs


@pytest.fixture(scope="module")
def stub(server: RunningServer) -> Iterator[stubs.VisualProofServiceStub]:
    with grpc.insecure_channel(server.target) as channel:
        yield stubs.VisualProofServiceStub(channel)


def evidence(**changes: object) -> report_pb2.Report:
    report = report_pb2.Report(
        results=[report_pb2.FieldResult(path="/a", evidence=[report_pb2.Evidence(page_number=1)])]
    )
    place = report.results[0].evidence[0]
    box = place.boxes.add(left=0.1, top=0.1, width=0.2, height=0.1)
    for name, value in changes.items():
        if hasattr(box, name):
            setattr(box, name, value)
        else:
            setattr(place, name, value)
    return report


REQUESTS: dict[str, tuple[str, object]] = {
    "status of a rule": (
        "policy.rules[0].status",
        pb.VerifyAnswerRequest(
            answer_json="{}",
            policy={"rules": [{"status": 99, "action": 1}]},  # type: ignore[arg-type]
        ),
    ),
    "action of a rule": (
        "policy.rules[0].action",
        pb.VerifyAnswerRequest(
            answer_json="{}",
            policy={"rules": [{"status": 1, "action": 99}]},  # type: ignore[arg-type]
        ),
    ),
    "labels": (
        "fields[0].labels",
        pb.VerifyAnswerRequest(
            answer_json="{}", fields=[report_pb2.FieldSpec(path="/a", labels=["x"] * 51)]
        ),
    ),
    "a label": (
        "fields[0]",
        pb.VerifyAnswerRequest(
            answer_json="{}", fields=[report_pb2.FieldSpec(path="/a", labels=["x" * 1001])]
        ),
    ),
    "fields": (
        "fields",
        pb.VerifyAnswerRequest(
            answer_json="{}", fields=[report_pb2.FieldSpec(path=f"/{n}") for n in range(5001)]
        ),
    ),
    "a report's action": (
        "report.action",
        pb.AnnotatePagesRequest(report=report_pb2.Report(action=77)),  # type: ignore[arg-type]
    ),
    "a method": (
        "report.results[0].evidence[0].method",
        pb.AnnotatePagesRequest(report=evidence(method=55)),
    ),
    "NaN": (
        "report.results[0].evidence[0].boxes",
        pb.AnnotatePagesRequest(report=evidence(left=math.nan)),
    ),
    "infinity": (
        "report.results[0].evidence[0].boxes",
        pb.AnnotatePagesRequest(report=evidence(width=math.inf)),
    ),
    "1e30": (
        "report.results[0].evidence[0].boxes",
        pb.AnnotatePagesRequest(report=evidence(top=1e30)),
    ),
    "likeness": (
        "report.results[0].evidence[0].similarity",
        pb.AnnotatePagesRequest(report=evidence(similarity=math.nan)),
    ),
    "a picture's format": ("format", pb.AnnotatePagesRequest(format=42)),  # type: ignore[arg-type]
    "a marker's style": ("marker_style", pb.RenderPromptRequest(marker_style=42)),  # type: ignore[arg-type]
    "a picture's side": ("longest_side_px", pb.GetPageImageRequest(longest_side_px=2**31)),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_it_names_the_field(
    name: str, stub: stubs.VisualProofServiceStub, invoice: Document
) -> None:
    path, made = REQUESTS[name]
    request = type(made)()
    request.CopyFrom(made)  # type: ignore[attr-defined]
    request.document_id = invoice.document_id  # type: ignore[attr-defined]
    calls: dict[type, Callable[[object], object]] = {
        pb.VerifyAnswerRequest: stub.VerifyAnswer,  # type: ignore[dict-item]
        pb.AnnotatePagesRequest: lambda r: list(stub.AnnotatePages(r)),  # type: ignore[arg-type]
        pb.RenderPromptRequest: stub.RenderPrompt,  # type: ignore[dict-item]
        pb.GetPageImageRequest: lambda r: list(stub.GetPageImage(r)),  # type: ignore[arg-type]
    }
    with pytest.raises(grpc.RpcError) as caught:
        calls[type(request)](request)
    error = caught.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    trailer: Any = error.trailing_metadata()
    assert path.encode() in dict(trailer)["grpc-status-details-bin"]


def test_an_unknown_text_layer_is_refused(stub: stubs.VisualProofServiceStub) -> None:
    header = pb.UploadHeader(options=document_pb2.ReadOptions(text_layer=9))  # type: ignore[arg-type]
    with pytest.raises(grpc.RpcError) as caught:
        stub.UploadDocument(iter([pb.UploadDocumentRequest(header=header)]))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_places_at_the_rim_are_drawn(client: Client, invoice: Document) -> None:
    """Fractions that come back rounded lie on the page all the same."""
    report = Report(evidence(left=1.0, top=1.0, width=0.3, height=0.3))
    (picture,) = client.annotate(invoice, report)
    assert picture.image


def logged(log: Path, code: str) -> int:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return sum(line.get("code") == code for line in lines)


@pytest.mark.slow
def test_a_cancelled_call_is_no_success(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    running = start_server(tmp_path / "data", "--engine", "tesseract", log=log)
    try:
        with grpc.insecure_channel(running.target) as channel:
            stub = stubs.VisualProofServiceStub(channel)

            def endless() -> Iterator[pb.UploadDocumentRequest]:
                yield pb.UploadDocumentRequest(header=pb.UploadHeader())
                time.sleep(30)

            call = stub.UploadDocument.future(endless(), timeout=0.5)
            assert call.exception(timeout=30) is not None
            end = time.monotonic() + 20
            while not logged(log, "CANCELLED"):
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)
        assert logged(log, "OK") == 0
    finally:
        running.stop()


@pytest.mark.slow
def test_uploads_and_calls_are_bounded(tmp_path: Path) -> None:
    running = start_server(
        tmp_path / "data", "--engine", "tesseract", "--max-uploads", "1", "--max-calls", "2"
    )
    try:
        with grpc.insecure_channel(running.target) as channel, Client(running.target) as client:
            stub = stubs.VisualProofServiceStub(channel)
            begun, go_on = threading.Event(), threading.Event()

            def slow() -> Iterator[pb.UploadDocumentRequest]:
                yield pb.UploadDocumentRequest(header=pb.UploadHeader())
                begun.set()
                go_on.wait(30)

            def busy() -> ServerBusy | None:
                try:
                    client.upload(b"%PDF-")
                except ServerBusy as error:
                    return error
                return None

            call = stub.UploadDocument.future(slow())
            assert begun.wait(30)
            end = time.monotonic() + 20
            while (refused := busy()) is None:
                assert time.monotonic() < end
            assert (refused.code, refused.retry_after > 0) == ("SERVER_BUSY", True)
            other = stub.UploadDocument.future(iter([pb.UploadDocumentRequest()]))
            assert other.exception(timeout=30) is not None
            go_on.set()
            assert call.exception(timeout=30) is not None
    finally:
        running.stop()


@pytest.mark.slow
def test_half_an_upload_is_no_document(tmp_path: Path) -> None:
    """Broken off at any moment, also just as its next message is waited for."""
    log = tmp_path / "log.jsonl"
    running = start_server(tmp_path / "data", "--engine", "tesseract", log=log)
    count = 40
    try:
        with grpc.insecure_channel(running.target) as channel:
            stub = stubs.VisualProofServiceStub(channel)

            def half(number: int) -> Iterator[pb.UploadDocumentRequest]:
                yield pb.UploadDocumentRequest(header=pb.UploadHeader())
                yield pb.UploadDocumentRequest(content=b"%PDF-1.7 half of " + bytes([number]))
                time.sleep(1)

            for number in range(count):
                call = stub.UploadDocument.future(half(number), timeout=0.1 + number * 0.003)
                assert call.exception(timeout=30) is not None
            end = time.monotonic() + 20
            while logged(log, "CANCELLED") < count:
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)
        assert not list((running.data / "documents").iterdir())
        assert not list((running.data / "incoming").iterdir())
    finally:
        running.stop()
