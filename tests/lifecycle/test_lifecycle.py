"""A document's life while its store is slow, absent or torn, at every place where it waits."""

import asyncio
import hashlib
import io
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import WORKER_OPTIONS
from lifecycle.stalling import Gate, StallingStore
from PIL import Image
from proving.pages import OPTIONS
from visualproof_server.documents import lifecycle, survey
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits, Upload
from visualproof_server.model import codec
from visualproof_server.model.document import DocumentState, State
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.workers.pages import LocalPages
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow

_numbers = itertools.count(1)
# Every blob that is written while a document of one page is read, in that order.
WRITTEN = ["put page-000001.jpg", "put page-000001.json", "put words.json.z", "put pages.json",
           "put state.json"]  # fmt: skip


def blank() -> bytes:
    """A small page of its own."""
    image = Image.new("L", (64, 64), 255)
    image.putpixel((0, 0), next(_numbers) % 256)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Room:
    """One store and its workers; each test has a lifecycle of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = StallingStore(folder / "documents")
        settings = WorkerSettings(
            str(folder / "views"), str(folder / "scratch"), 4096, 500, WORKER_OPTIONS
        )
        self.pool = WorkerPool(1, settings, self.store)
        self.limits = LifecycleLimits(8, 8, 100, 3600.0)

    def file(self, content: bytes) -> Path:
        made = self.folder / f"upload-{next(_numbers)}"
        made.write_bytes(content)
        return made

    def left(self) -> list[Path]:
        """Uploads that nobody took."""
        return list(self.folder.glob("upload-*"))

    def run(self, test: Callable[[DocumentLifecycle], Awaitable[None]]) -> None:
        async def go() -> None:
            store = AsyncStore(self.store)
            made = DocumentLifecycle(
                store, self.pool, LocalPages(self.pool, store, 60.0), "test", self.limits
            )
            try:
                await asyncio.wait_for(test(made), 60)
            finally:
                await made.close()
                await asyncio.to_thread(store.close)

        asyncio.run(go())

    async def add(self, made: DocumentLifecycle, content: bytes) -> DocumentState:
        sha256 = hashlib.sha256(content).hexdigest()
        return await made.add(
            Upload(
                file=self.file(content),
                sha256=sha256,
                file_name="a.png",
                options=OPTIONS,
                tenant="",
            )
        )

    async def ready(self, made: DocumentLifecycle, content: bytes) -> DocumentState:
        return await last(made, (await self.add(made, content)).document_id)


@pytest.fixture(scope="module")
def shared_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    made = Room(tmp_path_factory.mktemp("room"))
    yield made
    made.pool.close()


@pytest.fixture
def room(shared_room: Room) -> Iterator[Room]:
    yield shared_room
    assert shared_room.left() == []
    for name in shared_room.store.documents():
        shared_room.store.delete(name)


async def last(made: DocumentLifecycle, name: str) -> DocumentState:
    *_, state = [state async for state in made.watch(name)]
    return state


async def reached(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.wait, 30)


async def code_of(call: Awaitable[Any]) -> str:
    with pytest.raises(VisualProofError) as caught:
        await call
    return caught.value.code


@pytest.mark.parametrize("code", ["STORE_UNREACHABLE", "STATE_UNKNOWN"])
def test_a_ready_document_outlives_an_upload_while_the_store_is_away(room: Room, code: str) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        state = await room.ready(made, content)
        before = room.store.names(state.document_id)
        with room.store.refusing("get state.json", code):
            assert await code_of(room.add(made, content)) == code
        assert room.store.names(state.document_id) == before
        assert (await room.add(made, content)).state is State.READY

    room.run(test)


def test_a_state_of_a_newer_server_is_not_thrown_away(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        name = (await room.ready(made, content)).document_id
        newer = room.store.get(name, documents.STATE).replace(b"{", b'{"mood":"new",', 1)  # type: ignore[union-attr]
        room.store.put(name, documents.STATE, newer)
        assert await code_of(room.add(made, content)) == "STATE_UNKNOWN"
        assert room.store.get(name, documents.STATE) == newer

    room.run(test)


@pytest.mark.parametrize("call", ["adopt source", *WRITTEN])
def test_a_deleted_document_does_not_come_back(room: Room, call: str) -> None:
    """Deleted while a blob is on its way into the store, at each of them."""

    async def test(made: DocumentLifecycle) -> None:
        with room.store.held(call) as gate:
            adding = asyncio.create_task(room.add(made, blank()))
            await reached(gate)
            (name,) = room.store.documents() or [""]
            if call in ("adopt source", "put state.json"):
                # It is not yet there for anybody; what is deleted is what comes after.
                gate.open.set()
                name = (await adding).document_id
                await made.delete(name)
            else:
                await adding
                deleting = asyncio.create_task(made.delete(name))
                await asyncio.sleep(0.05)
                assert not deleting.done()
                gate.open.set()
                await deleting
        assert room.store.names(name) == set()
        assert made.waiting == 0

    room.run(test)


def test_a_deletion_goes_on_without_its_caller(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        name = (await room.ready(made, blank())).document_id
        with room.store.held("delete") as gate:
            deleting = asyncio.create_task(made.delete(name))
            await reached(gate)
            deleting.cancel()
            await asyncio.gather(deleting, return_exceptions=True)
        await until(lambda: room.store.documents() == [])
        assert await code_of(last(made, name)) == "DOCUMENT_NOT_FOUND"

    room.run(test)


def test_a_document_that_is_sent_again_while_it_is_deleted_is_there(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        name = (await room.ready(made, content)).document_id
        with room.store.held("delete") as gate:
            deleting = asyncio.create_task(made.delete(name))
            await reached(gate)
            adding = asyncio.create_task(room.add(made, content))
            await asyncio.sleep(0.05)
        await deleting
        await adding
        assert (await last(made, name)).state is State.READY

    room.run(test)


def test_a_deletion_that_fails_leaves_the_document_being_read(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        with room.store.held("put page-000001.json") as gate:
            name = (await room.add(made, blank())).document_id
            await reached(gate)
            with room.store.refusing("delete"):
                deleting = asyncio.create_task(made.delete(name))
                gate.open.set()
                assert await code_of(deleting) == "STORE_UNREACHABLE"
        assert (await last(made, name)).state is State.READY

    room.run(test)


def test_two_uploads_of_the_same_bytes_are_one_document(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        room.store.calls.clear()
        one, two = await asyncio.gather(room.add(made, content), room.add(made, content))
        assert one == two
        assert (await last(made, one.document_id)).state is State.READY
        assert room.store.calls.count("adopt source") == 1

    room.run(test)


def test_a_refused_upload_leaves_no_file(room: Room) -> None:
    """The queue filled up while the bytes came: `room` looks for the file."""

    async def test(made: DocumentLifecycle) -> None:
        with room.store.held("put page-000001.json"):
            room.limits = LifecycleLimits(1, 8, 100, 3600.0)
            small = DocumentLifecycle(
                AsyncStore(room.store), room.pool, made._pages, "test", room.limits
            )
            await room.add(small, blank())
            assert await code_of(room.add(small, blank())) == "QUEUE_FULL"
            room.limits = LifecycleLimits(8, 8, 100, 3600.0)
        await small.close()

    room.run(test)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("names", "STORE_UNREACHABLE"),
        ("adopt source", "STORE_UNREACHABLE"),
        ("put state.json", "DISK_FULL"),
    ],
)
def test_an_upload_that_the_store_refuses_is_no_document(room: Room, call: str, code: str) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        with room.store.refusing(call, code):
            assert await code_of(room.add(made, content)) == code
        assert (made.waiting, made._tenants) == (0, {})
        # The same bytes can be sent again.
        assert (await room.ready(made, content)).state is State.READY

    room.run(test)


@pytest.mark.parametrize("call", ["names", "adopt source", "put state.json"])
def test_an_upload_whose_caller_goes_away_leaves_no_file(room: Room, call: str) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        with room.store.held(call) as gate:
            adding = asyncio.create_task(room.add(made, content))
            await reached(gate)
            adding.cancel()
            await asyncio.gather(adding, return_exceptions=True)
            assert made._tenants == {}
        # Whatever it left, the same bytes can be sent again.
        state = await room.add(made, content)
        made._begin(state)
        assert (await last(made, state.document_id)).state is State.READY

    room.run(test)


@pytest.mark.parametrize("call", WRITTEN)
def test_what_a_stopped_server_was_writing_is_resumed(room: Room, call: str) -> None:
    content = blank()
    names: list[str] = []

    async def stopped(made: DocumentLifecycle) -> None:
        with room.store.held(call) as gate:
            adding = asyncio.create_task(room.add(made, content))
            await reached(gate)
            if call == "put state.json":
                gate.open.set()
            names.append((await adding).document_id)
            closing = asyncio.create_task(made.close())
            await asyncio.sleep(0.02)
            gate.open.set()
            await closing

    async def again(made: DocumentLifecycle) -> None:
        await made.start()
        assert (await last(made, names[0])).state is State.READY

    room.run(stopped)
    room.run(again)


def test_a_full_disk_puts_a_document_off_and_does_not_fail_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.2)

    async def test(made: DocumentLifecycle) -> None:
        with room.store.refusing("put page-*", "DISK_FULL"):
            name = (await room.add(made, blank())).document_id
            while made.waiting:
                await asyncio.sleep(0.01)
        await made.start()
        assert (await last(made, name)).state is State.READY

    room.run(test)


def test_a_state_that_cannot_be_read_does_not_end_retention(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.1)
    room.limits = LifecycleLimits(8, 8, 100, 0.5)

    async def test(made: DocumentLifecycle) -> None:
        odd = "00" * 16
        room.store.put(odd, documents.STATE, b'{"mood": "new"}')
        name = (await room.ready(made, blank())).document_id
        await made.start()
        await until(lambda: room.store.documents() == [odd])
        assert name not in room.store.documents()

    room.run(test)
    room.limits = LifecycleLimits(8, 8, 100, 3600.0)


def test_a_store_that_was_away_does_not_end_retention(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.1)
    room.limits = LifecycleLimits(8, 8, 100, 0.5)

    async def test(made: DocumentLifecycle) -> None:
        await room.ready(made, blank())
        await made.start()
        room.store.calls.clear()
        with room.store.refusing("documents"):
            await until(lambda: room.store.calls.count("documents") > 2)
        await until(lambda: room.store.documents() == [])

    room.run(test)
    room.limits = LifecycleLimits(8, 8, 100, 3600.0)


def test_what_was_sent_again_is_not_deleted_for_what_was_seen_before(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        state = await room.ready(made, blank())
        name = state.document_id
        old = codec.dumps(state).replace(
            f'"expire_time":{state.expire_time}'.encode(), b'"expire_time":1.0'
        )
        room.store.put(name, documents.STATE, old)
        found = await made._survey.look()
        assert found.expired == [name]
        room.store.put(name, documents.STATE, codec.dumps(state))
        await made._expire(name)
        assert (await last(made, name)).state is State.READY

    room.run(test)


def test_a_clock_that_jumps_deletes_nothing_at_once(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(made: DocumentLifecycle) -> None:
        name = (await room.ready(made, blank())).document_id
        await made._look()
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + 86_400)
        await made._look()
        monkeypatch.undo()
        await made._look()
        assert (await last(made, name)).state is State.READY

    room.run(test)


def test_remains_of_an_upload_go_in_time(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(made: DocumentLifecycle) -> None:
        name = "11" * 16
        room.store.put(name, documents.SOURCE, b"half a life")
        await made._look()
        await made._look()
        assert room.store.documents() == [name]
        monkeypatch.setattr(survey, "REMAINS_S", -1.0)
        await made._look()
        assert room.store.documents() == []

    room.run(test)


def test_a_watcher_hears_of_a_deletion(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        with room.store.held("put page-000001.json") as gate:
            name = (await room.add(made, blank())).document_id
            watching = asyncio.create_task(last(made, name))
            await reached(gate)
            deleting = asyncio.create_task(made.delete(name))
            gate.open.set()
            await deleting
        assert await code_of(watching) == "DOCUMENT_NOT_FOUND"

    room.run(test)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.02)
