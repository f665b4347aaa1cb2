"""Disks that are full or read-only: every call is typed, readiness says so, and nothing waits for ever."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from conftest import EXAMPLE, RunningServer, start_server
from grpc_health.v1 import health_pb2, health_pb2_grpc
from lifecycle.rooms import Room, blank, last, until
from visualproof import CallError, Client, Document
from visualproof_server.app import SERVICE
from visualproof_server.documents import lifecycle
from visualproof_server.documents.lifecycle import DocumentLifecycle
from visualproof_server.model.document import State
from visualproof_server.storing import documents

pytestmark = pytest.mark.slow


def mount(folder: Path, options: str) -> None:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("no file system can be mounted here")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount(folder, "size=24m")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.fixture
def server(disk: Path, tmp_path: Path) -> Iterator[RunningServer]:
    running = start_server(
        disk / "data", "--engine", "tesseract", "--workers", "1", "--min-free-disk-mb", "0",
        "--readiness-s", "1", log=tmp_path / "log",
    )  # fmt: skip
    yield running
    running.stop()
    assert "INTERNAL" not in (tmp_path / "log").read_text()


def fill(disk: Path) -> Path:
    """Leaves no room for a byte."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    return filler


def readiness(server: RunningServer) -> int:
    with grpc.insecure_channel(server.target) as channel:
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        return int(health_pb2_grpc.HealthStub(channel).Check(request, timeout=10).status)


def becomes(server: RunningServer, status: int) -> None:
    end = time.monotonic() + 30
    while readiness(server) != status:
        assert time.monotonic() < end
        time.sleep(0.1)


def outcomes(client: Client, document: Document, folder: Path) -> dict[str, str]:
    """What each call comes to; OK, or its code."""
    calls: dict[str, Callable[[], object]] = {
        "upload": lambda: client.upload(blank()),
        "upload with hash": lambda: client.upload(EXAMPLE / "invoice.pdf"),
        "verify": lambda: client.verify(document, {"vendor": "x"}),
        "export": lambda: client.export(document, {"vendor": "x"}, to=folder / "a.zip"),
        "export page": lambda: client.export(document, {"vendor": "x"}, to=folder / "a.html"),
        "annotate": lambda: list(client.annotate(document, client.verify(document, {"a": 1}))),
        "image": lambda: client.page_image(document, 1),
        "pages": lambda: list(client.pages(document)),
        "blocks": lambda: list(client.blocks(document)),
        "prompt": lambda: client.prompt(document),
        "get": lambda: client.get(document),
        "info": client.info,
    }
    found = {}
    for name, call in calls.items():
        try:
            call()
            found[name] = "OK"
        except CallError as error:
            found[name] = error.code
    return found


READS = {"pages", "blocks", "prompt", "get", "info"}


def test_on_a_full_disk_every_call_is_typed(
    server: RunningServer, disk: Path, tmp_path: Path
) -> None:
    with Client(server.target) as client:
        document = client.ingest(EXAMPLE / "scan.jpg")
        doomed = client.ingest(blank())
        becomes(server, health_pb2.HealthCheckResponse.SERVING)
        filler = fill(disk)
        found = outcomes(client, document, tmp_path)
        assert {found[name] for name in READS} == {"OK"}
        assert set(found.values()) == {"OK", "DISK_FULL"}
        assert found["upload"] == found["upload with hash"] == found["export"] == "DISK_FULL"
        becomes(server, health_pb2.HealthCheckResponse.NOT_SERVING)
        # What makes room works.
        client.delete(doomed)
        assert not (disk / "data" / "documents" / doomed.document_id).exists()
        filler.unlink()
        becomes(server, health_pb2.HealthCheckResponse.SERVING)
        assert set(outcomes(client, document, tmp_path).values()) == {"OK"}
    assert not list((disk / "data" / "incoming").iterdir())


def test_on_a_read_only_disk_every_call_is_typed(
    server: RunningServer, disk: Path, tmp_path: Path
) -> None:
    with Client(server.target) as client:
        document = client.ingest(EXAMPLE / "scan.jpg")
        # A mount of its own over the data: open files, as the lock, hold the other one writable.
        read_only = ["mount", "--bind", str(disk), str(disk)]
        subprocess.run(read_only, check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(disk)], check=True)
        try:
            found = outcomes(client, document, tmp_path)
            assert {found[name] for name in READS} == {"OK"}
            assert found["upload"] == found["export"] == "DISK_FULL"
            assert set(found.values()) == {"OK", "DISK_FULL"}
            with pytest.raises(CallError) as caught:
                client.delete(document)
            assert caught.value.code == "DISK_FULL"
            becomes(server, health_pb2.HealthCheckResponse.NOT_SERVING)
        finally:
            subprocess.run(["umount", str(disk)], check=True)
        becomes(server, health_pb2.HealthCheckResponse.SERVING)
        assert set(outcomes(client, document, tmp_path).values()) == {"OK"}
        client.delete(document)


def test_a_disk_that_fills_while_reading_puts_the_document_off(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.2)

    async def test(made: DocumentLifecycle) -> None:
        await made.start()
        with room.store.refusing("put page-*", "DISK_FULL"):
            state = await room.add(made, blank())
            await until(lambda: room.store.calls.count("put page-000001.jpg") > 2)
        assert (await last(made, state.document_id)).state is State.READY

    room.run(test)


@pytest.mark.parametrize("call", ["put page-*", "put words*", "put pages.json", "put *.jpg"])
def test_it_fails_in_the_end_and_its_password_goes(
    room: Room, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.2)
    monkeypatch.setattr(lifecycle, "_DISK_PATIENCE_S", 0.5)

    async def test(made: DocumentLifecycle) -> None:
        await made.start()
        content = blank()
        with room.store.refusing(call, "DISK_FULL"):
            state = await room.add(made, content, password="secret")
            stored = room.folder / "documents" / state.document_id / documents.STATE
            assert b"secret" in stored.read_bytes()
            end = await last(made, state.document_id)
        assert end.state is State.FAILED
        assert end.failure is not None
        assert end.failure.code == "DISK_FULL"
        # Nothing is kept of it but that it failed.
        assert [p.name for p in stored.parent.iterdir()] == [documents.STATE]
        assert b"secret" not in stored.read_bytes()
        # It can be sent again.
        assert (await room.ready(made, content)).state is State.READY

    room.run(test)


def test_a_full_disk_without_room_for_a_state_fails_it_all_the_same(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has written makes room to say so."""
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.2)
    monkeypatch.setattr(lifecycle, "_DISK_PATIENCE_S", 0.5)
    room = Room(disk / "room")
    try:

        async def test(made: DocumentLifecycle) -> None:
            await made.start()
            with room.store.held("put page-000001.jpg") as gate:
                state = await room.add(made, blank(), password="secret")
                while not gate.reached.is_set():
                    await asyncio.sleep(0.02)
                await asyncio.to_thread(fill, disk)
            end = await last(made, state.document_id)
            assert (end.state, end.options.password) == (State.FAILED, "")
            assert end.failure is not None
            assert end.failure.code == "DISK_FULL"

        room.run(test)
    finally:
        room.pool.close()
