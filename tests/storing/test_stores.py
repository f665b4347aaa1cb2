"""The contract of stores."""

import os
from pathlib import Path

import pytest
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.disk import DiskStore
from visualproof_server.storing.store import DocumentStore

ID = "ab" * 16


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DiskStore(tmp_path / "documents")


def test_a_blob_comes_back_and_can_be_replaced(store: DocumentStore) -> None:
    store.put(ID, "state.json", b"one")
    store.put(ID, "state.json", b"two")
    assert store.get(ID, "state.json") == b"two"
    assert store.names(ID) == {"state.json"}
    assert store.documents() == [ID]


def test_what_is_not_there(store: DocumentStore) -> None:
    assert store.get(ID, "source") is None
    assert store.names(ID) == set()
    store.delete(ID)


def test_delete_takes_all(store: DocumentStore, tmp_path: Path) -> None:
    store.put(ID, "source", b"x")
    store.delete(ID)
    assert store.documents() == []
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("name", ["../../etc", "A" * 32, "", "ab/cd"])
def test_an_id_is_never_a_path(store: DocumentStore, name: str) -> None:
    with pytest.raises(VisualProofError):
        store.put(name, "source", b"x")


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden"])
def test_a_name_is_never_a_path(store: DocumentStore, name: str) -> None:
    with pytest.raises(ValueError, match="no blob name"):
        store.put(ID, name, b"x")


def test_a_half_written_blob_is_never_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DiskStore(tmp_path / "documents")
    store.put(ID, "state.json", b"whole")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VisualProofError) as caught:
        store.put(ID, "state.json", b"ha")
    assert caught.value.code == "DISK_FULL"
    assert store.get(ID, "state.json") == b"whole"
    assert store.names(ID) == {"state.json"}


def test_sweep_removes_what_a_crash_left(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "documents")
    store.put(ID, "source", b"x")
    (tmp_path / "documents" / ID / ".tmp-abc").write_bytes(b"half")
    (tmp_path / "deleting" / "old").mkdir()
    store.sweep()
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["source"]
