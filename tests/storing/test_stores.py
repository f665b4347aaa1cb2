"""The contract of stores."""

import os
import shutil
import uuid
from pathlib import Path

import pytest
from conftest import Bucket
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.disk import DiskStore
from visualproof_server.storing.objects import ObjectStore
from visualproof_server.storing.staged import StagedDocument
from visualproof_server.storing.store import DocumentStore

ID = "ab" * 16


@pytest.fixture(params=["disk", pytest.param("s3", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> DocumentStore:
    if request.param == "disk":
        return DiskStore(tmp_path / "documents")
    bucket: Bucket = request.getfixturevalue("s3")
    return ObjectStore(bucket.url(uuid.uuid4().hex), tmp_path / "cache")


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


def test_a_file_is_adopted(store: DocumentStore, tmp_path: Path) -> None:
    file = tmp_path / "upload"
    file.write_bytes(b"0" * 6_000_000)
    store.adopt(ID, "source", file)
    assert not file.exists()
    assert store.get(ID, "source") == b"0" * 6_000_000


def test_blobs_are_laid_into_a_folder(store: DocumentStore, tmp_path: Path) -> None:
    """Some or all; a second time the same; a change is seen; what is gone is gone."""
    for name in ("state.json", "source", "page-000001.json"):
        store.put(ID, name, name.encode())
    view = StagedDocument(tmp_path / "view")
    for round_ in ("a", "b"):
        folder = tmp_path / "view"
        folder.mkdir()
        store.put(ID, "state.json", round_.encode())
        store.stage(ID, ("source", "reading"), folder)
        assert view.names(ID) == {"source"}
        shutil.rmtree(folder / ID)
        store.stage(ID, None, folder)
        assert view.names(ID) == {"state.json", "source", "page-000001.json"}
        assert view.get(ID, "state.json") == round_.encode()
        assert view.local(ID, "source").read_bytes() == b"source"
        shutil.rmtree(folder)
    store.delete(ID)
    (tmp_path / "view").mkdir()
    store.stage(ID, None, tmp_path / "view")
    assert view.names(ID) == set()


def test_delete_takes_all(store: DocumentStore, tmp_path: Path) -> None:
    store.put(ID, "source", b"x")
    store.put(ID, "page-000001.json", b"y")
    store.delete(ID)
    assert [name for name in store.documents() if store.names(name)] == []
    assert store.get(ID, "page-000001.json") is None
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


def test_names_last_as_files_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's fsync keeps its bytes; its name is kept by that of its folder, and so on up."""
    synced: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        real(handle)

    store = DiskStore(tmp_path / "documents")
    monkeypatch.setattr(os, "fsync", fsync)
    (tmp_path / "upload").write_bytes(b"x")
    store.adopt(ID, "source", tmp_path / "upload")
    assert synced == ["documents", ID]
    synced.clear()
    store.put(ID, "state.json", b"x")
    assert synced[1:] == [ID]


def test_some_blobs_are_removed(store: DocumentStore) -> None:
    store.put(ID, "source", b"x")
    store.put(ID, "page-000001.json", b"y")
    store.remove(ID, ["page-000001.json", "page-000002.json"])
    assert store.names(ID) == {"source"}
    assert [store.has(ID, n) for n in ("source", "page-000001.json")] == [True, False]


def test_a_store_that_does_not_answer_is_a_typed_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "SECRET-KEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    store = ObjectStore("s3://nowhere/x", tmp_path / "cache", retry_s=1)
    for call in (store.documents, lambda: store.get(ID, "source"), lambda: store.names(ID)):
        with pytest.raises(VisualProofError) as caught:
            call()
        assert caught.value.code == "STORE_UNREACHABLE"
        assert "SECRET" not in caught.value.message


def test_sweep_removes_what_a_crash_left(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "documents")
    store.put(ID, "source", b"x")
    (tmp_path / "documents" / ID / ".tmp-abc").write_bytes(b"half")
    (tmp_path / "deleting" / "old").mkdir()
    store.sweep()
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["source"]
