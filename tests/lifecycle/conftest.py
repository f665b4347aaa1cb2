"""One room for the tests of a module."""

from collections.abc import Iterator

import pytest
from lifecycle.rooms import Room


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
