"""What operators see: metrics, readiness, traces; and none of it holds text."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import EXAMPLE, start_server
from grpc_health.v1 import health_pb2, health_pb2_grpc
from visualproof import Client, DocumentFailed, ServerBusy

pytestmark = pytest.mark.slow

SERVICE = "visualproof.v1.VisualProofService"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def value(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} ([0-9.e+-]+)$", text, re.M)
    return float(found[1]) if found else 0.0


def test_metrics_count_calls_pages_and_workers(tmp_path: Path) -> None:
    canary = "CANARY-9917"
    port = free_port()
    running = start_server(
        tmp_path / "data", "--engine", "tesseract", "--metrics-listen", f"127.0.0.1:{port}"
    )

    def scraped() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text: str = answer.read().decode()
            return text

    try:
        with Client(running.target) as client:
            document = client.ingest(EXAMPLE / "scan.jpg", file_name=canary)
            client.verify(document, {canary: canary})
            with pytest.raises(DocumentFailed):
                client.ingest(b"%PDF-1.4 " + canary.encode())
            with pytest.raises(Exception, match="ANSWER_NOT_JSON"):
                client.verify(document, canary)
        text = scraped()
        assert value(text, 'visualproof_calls_total{code="OK",rpc="VerifyAnswer"}') == 1
        assert (
            value(text, 'visualproof_calls_total{code="ANSWER_NOT_JSON",rpc="VerifyAnswer"}') == 1
        )
        assert value(text, 'visualproof_pages_total{code="OK"}') == 1
        assert value(text, 'visualproof_page_seconds_total{step="ocr"}') > 0.1
        assert value(text, 'visualproof_slots{pool="readers"}') == (os.cpu_count() or 1)
        assert value(text, 'visualproof_worker_starts_total{pool="desk"}') == 1
        assert value(text, "visualproof_documents_waiting") == 0
        assert value(text, "visualproof_ready") == 1
        assert canary not in text
        documented = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
        for name in re.findall(r"^# HELP (visualproof_\w+?)(?:_total)? ", text, re.M):
            assert f"`{name}`" in documented, name
    finally:
        running.stop()


def test_readiness_follows_the_floors_and_liveness_does_not(tmp_path: Path) -> None:
    """A disk that is too full (by the floor) makes it unready, and refuses uploads with a code."""
    free = shutil.disk_usage(tmp_path).free // 10**6
    running = start_server(
        tmp_path / "data", "--engine", "tesseract", "--readiness-s", "1",
        "--min-free-disk-mb", str(free + 10**6),
    )  # fmt: skip
    try:
        with grpc.insecure_channel(running.target) as channel, Client(running.target) as client:
            health = health_pb2_grpc.HealthStub(channel)

            def state(name: str) -> int:
                found: int = health.Check(health_pb2.HealthCheckRequest(service=name)).status
                return found

            assert within(20, lambda: state(SERVICE) == 2)
            assert state("") == 1
            with pytest.raises(ServerBusy) as caught:
                client.upload(EXAMPLE / "scan.jpg")
            assert (caught.value.code, caught.value.retry_after) == ("DISK_FULL", 15.0)
    finally:
        running.stop()


def test_an_engine_that_stops_reading_makes_it_unready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that reads again makes it ready."""
    real = shutil.which("tesseract")
    switch = tmp_path / "bin" / "broken"
    switch.parent.mkdir()
    fake = switch.parent / "tesseract"
    fake.write_text(f'#!/bin/sh\n[ -e {switch} ] && exit 1\nexec {real} "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{switch.parent}:{os.environ['PATH']}")
    running = start_server(tmp_path / "data", "--engine", "tesseract", "--readiness-s", "1")
    try:
        with grpc.insecure_channel(running.target) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            request = health_pb2.HealthCheckRequest(service=SERVICE)
            assert health.Check(request).status == 1
            switch.touch()
            assert within(20, lambda: health.Check(request).status == 2)
            switch.unlink()
            assert within(20, lambda: health.Check(request).status == 1)
    finally:
        running.stop()


def test_traces_name_calls_and_hold_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[bytes] = []

    def export(request: bytes, context: Any) -> bytes:
        received.append(request)
        return b""

    collector = grpc.server(futures.ThreadPoolExecutor(2))
    method: Any = grpc.unary_unary_rpc_method_handler(export)
    collector.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(
                "opentelemetry.proto.collector.trace.v1.TraceService", {"Export": method}
            ),
        )
    )
    port = collector.add_insecure_port("127.0.0.1:0")
    collector.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    running = start_server(tmp_path / "data", "--engine", "tesseract")
    canary = "CANARY-5500"
    try:
        with Client(running.target) as client:
            document = client.ingest(EXAMPLE / "scan.jpg", file_name=canary)
            client.verify(document, {canary: canary})
        assert within(20, lambda: any(b"VerifyAnswer" in r for r in received))
    finally:
        running.stop()
        collector.stop(None)
    assert canary.encode() not in b"".join(received)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "visualproof_server", "--listen", "127.0.0.1:0"]
        done = subprocess.run(
            [*command, "--data-dir", str(tmp_path), "--metrics-listen",
             f"127.0.0.1:{taken.getsockname()[1]}"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "metrics-listen" in done.stderr
