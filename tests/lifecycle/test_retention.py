"""What is deleted in time, and what is not, while store and clock misbehave."""

import time
from collections.abc import Iterator

import pytest
from lifecycle.rooms import Room, blank, last, until
from visualproof_server.documents import lifecycle, survey
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits
from visualproof_server.model import codec
from visualproof_server.model.document import State
from visualproof_server.storing import documents

pytestmark = pytest.mark.slow


@pytest.fixture
def short_lived(room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room whose documents expire after half a second."""
    monkeypatch.setattr(lifecycle, "_EXPIRY_PERIOD_S", 0.1)
    kept, room.limits = room.limits, LifecycleLimits(8, 8, 100, 0.5)
    yield room
    room.limits = kept


def test_a_state_that_cannot_be_read_does_not_end_retention(short_lived: Room) -> None:
    room = short_lived

    async def test(made: DocumentLifecycle) -> None:
        odd = "00" * 16
        room.store.put(odd, documents.STATE, b'{"mood": "new"}')
        name = (await room.ready(made, blank())).document_id
        await made.start()
        await until(lambda: room.store.documents() == [odd])
        assert name not in room.store.documents()

    room.run(test)


def test_a_store_that_was_away_does_not_end_retention(short_lived: Room) -> None:
    room = short_lived

    async def test(made: DocumentLifecycle) -> None:
        await room.ready(made, blank())
        await made.start()
        room.store.calls.clear()
        with room.store.refusing("documents"):
            await until(lambda: room.store.calls.count("documents") > 2)
        await until(lambda: room.store.documents() == [])

    room.run(test)


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
