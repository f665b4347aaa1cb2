"""A document's life while its store is slow, absent or torn, at every place where it waits."""

import asyncio

import pytest
from lifecycle.rooms import Room, blank, code_of, last, reached, until
from visualproof_server.documents import lifecycle
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits
from visualproof_server.model.document import DocumentState, State
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore

pytestmark = pytest.mark.slow

# Every blob that is written while a document of one page is read, in that order.
WRITTEN = ["put page-000001.jpg", "put page-000001.json", "put words.json.z", "put pages.json",
           "put state.json"]  # fmt: skip


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


def test_a_damaged_document_is_said_and_can_be_sent_again(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        name = (await room.ready(made, content)).document_id
        state = room.folder / "documents" / name / documents.STATE
        state.write_bytes(state.read_bytes()[:-1])
        store = AsyncStore(room.store)
        assert await code_of(store.state(name)) == "DOCUMENT_DAMAGED"
        assert await code_of(last(made, name)) == "DOCUMENT_DAMAGED"
        assert (await room.ready(made, content)).state is State.READY
        await asyncio.to_thread(store.close)

    room.run(test)


def test_a_source_that_is_damaged_while_it_waits_fails_the_document(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        with room.store.held("put state.json") as gate:
            adding = asyncio.create_task(room.add(made, content))
            await reached(gate)
            (name,) = room.store.documents()
            source = room.folder / "documents" / name / documents.SOURCE
            source.write_bytes(content[:-1] + b"x")
        await adding
        state = await last(made, name)
        assert state.state is State.FAILED
        assert state.failure is not None
        assert state.failure.code == "DOCUMENT_DAMAGED"
        assert (await room.ready(made, content)).state is State.READY

    room.run(test)


def test_a_page_that_is_damaged_before_the_document_is_ready_is_read_again(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        content = blank()
        with room.store.held("put page-000001.jpg") as gate:
            state = await room.add(made, content)
            await reached(gate)
            page = room.folder / "documents" / state.document_id / documents.page_name(1)
            page.write_bytes(b"sealed with nothing")
            with room.store.held("put words.json.z") as words:
                gate.open.set()
                await reached(words)
        now = await last(made, state.document_id)
        assert (now.state, now.read_page_count) == (State.READY, 1)

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


def test_every_watcher_sees_that_it_is_ready(room: Room) -> None:
    """Also those that ask between the state's writing and its being told."""

    async def test(made: DocumentLifecycle) -> None:
        with room.store.held("put words.json.z") as gate:
            state = await room.add(made, blank())
            await reached(gate)
            early = [asyncio.create_task(last(made, state.document_id)) for _ in range(75)]
            await until(lambda: len(made._watchers._events.get(state.document_id, ())) == 75)
            put = made._store.change_state

            async def written(state: DocumentState) -> None:
                await put(state)
                # It is stored, and nobody was told yet.
                if state.state is State.READY:
                    late = [last(made, state.document_id) for _ in range(75)]
                    assert {s.state for s in await asyncio.gather(*late)} == {State.READY}

            made._store.change_state = written  # type: ignore[method-assign]
        seen = await asyncio.wait_for(asyncio.gather(*early), 30)
        assert {s.state for s in seen} == {State.READY}
        assert made._watchers._events == {}

    room.run(test)


def test_a_watcher_that_goes_away_is_forgotten(room: Room) -> None:
    async def test(made: DocumentLifecycle) -> None:
        with room.store.held("put words.json.z") as gate:
            state = await room.add(made, blank())
            await reached(gate)
            follows = [asyncio.create_task(last(made, state.document_id)) for _ in range(10)]
            await until(lambda: len(made._watchers._events.get(state.document_id, ())) == 10)
            for watcher in follows[:9]:
                watcher.cancel()
            await asyncio.gather(*follows[:9], return_exceptions=True)
            await until(lambda: len(made._watchers._events.get(state.document_id, ())) == 1)
        assert (await follows[9]).state is State.READY
        assert made._watchers._events == {}

    room.run(test)
