"""Calls broken off at random moments: nothing is left, nothing is lost, the service answers on."""

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import psutil
import pytest
from conftest import EXAMPLE, start_server
from grpc_health.v1 import health_pb2, health_pb2_grpc
from visualproof import Client, Status
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof.v1 import visual_proof_service_pb2_grpc

pytestmark = pytest.mark.slow

SCAN = (EXAMPLE / "scan.jpg").read_bytes()


def upload(dpi: int) -> Iterator[pb.UploadDocumentRequest]:
    header = pb.UploadHeader()
    header.options.dpi = dpi
    yield pb.UploadDocumentRequest(header=header)
    for at in range(0, len(SCAN), 65536):
        yield pb.UploadDocumentRequest(content=SCAN[at : at + 65536])


def test_200_calls_cancelled_at_random_moments(tmp_path: Path) -> None:
    rng = random.Random(4)
    running = start_server(tmp_path / "data", "--engine", "tesseract", "--queue-size", "300")
    try:
        with grpc.insecure_channel(running.target) as channel, Client(running.target) as client:
            stub = visual_proof_service_pb2_grpc.VisualProofServiceStub(channel)
            health = health_pb2_grpc.HealthStub(channel)
            known = client.ingest(SCAN).document_id
            verify = pb.VerifyAnswerRequest(document_id=known, answer_json='{"a": "16,020.00"}')
            begin: list[Callable[[], Any]] = [
                lambda: stub.UploadDocument.future(upload(rng.randrange(72, 300))),
                lambda: stub.VerifyAnswer.future(verify),
                lambda: stub.ExportEvidence(pb.ExportEvidenceRequest(answer=verify)),
                lambda: stub.WatchDocument(pb.WatchDocumentRequest(document_id=known)),
                lambda: stub.AnnotatePages(pb.AnnotatePagesRequest(document_id=known)),
            ]
            slowest = 0.0
            for _ in range(200):
                call = rng.choice(begin)()
                time.sleep(rng.random() * 0.02)
                call.cancel()
                started = time.monotonic()
                health.Check(health_pb2.HealthCheckRequest(), timeout=10)
                slowest = max(slowest, time.monotonic() - started)
            assert slowest < 1.0
            # Uploads that were safe before the call was broken off are documents: they go too.
            for folder in (running.data / "documents").iterdir():
                if folder.name != known:
                    client.delete(folder.name)
            report = client.verify(known, {"total": "16,020.00"})
            assert report["/total"].status is Status.VERIFIED
            until = time.monotonic() + 30
            folders = [running.data / n for n in ("incoming", "views", "scratch", "deleting")]
            while left := [n for f in folders for _, _, names in os.walk(f) for n in names]:
                assert time.monotonic() < until, left
                client.info()
            names = {c.name() for c in psutil.Process(running.process.pid).children(recursive=True)}
            assert "tesseract" not in names
    finally:
        running.stop()
