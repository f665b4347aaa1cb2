"""Every byte that is not as it was written is found, wherever it stands; what is odd is set aside."""

import hashlib
import io
import json
import shutil
import uuid
import zlib
from pathlib import Path

import obstore
import pytest
from conftest import Bucket
from PIL import Image
from proving.pages import OPTIONS, printed
from visualproof_server.model import codec
from visualproof_server.model.document import DocumentState, State
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.second_reading import SecondReadings
from visualproof_server.model.summary import summary_of_pages
from visualproof_server.storing import documents
from visualproof_server.storing.disk import DiskStore
from visualproof_server.storing.objects import ObjectStore
from visualproof_server.storing.staged import StagedDocument
from visualproof_server.storing.store import DocumentStore

ID = "ab" * 16
SOURCE = b"%PDF-1.7 as it was sent"


def picture(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("L", (20, 20), 255).save(out, kind)
    return out.getvalue()


def kept(store: DocumentStore, folder: Path) -> None:
    """A small document of two pages, with all that may be kept of one."""
    pages = printed(["Total 96.00"], ["Rent 3.00"]).pages
    sha256 = hashlib.sha256(SOURCE).hexdigest()
    state = DocumentState(
        ID, sha256, "a.pdf", OPTIONS, "reader/1", State.READY, len(pages), len(pages), 2e9
    )
    upload = folder / "upload"
    upload.write_bytes(SOURCE)
    store.adopt(ID, documents.SOURCE, upload)
    documents.put_state(store, state)
    for page in pages:
        data = codec.dumps(page)
        documents.put_page(store, ID, data, picture("JPEG"), page.number)
        documents.put_picture(store, ID, page.number, picture("WEBP"))
    documents.put_words(store, ID, pages)
    documents.put_summary(store, summary_of_pages(ID, pages))
    documents.put_readings(store, ID, codec.dumps(SecondReadings(())))


def looked_through(store: DocumentStore, folder: Path) -> str:
    """The code of the first thing that is wrong with any blob, as whoever loads it finds it."""
    try:
        state = documents.state_of(store, ID)
        documents.document_of(store, state)
        documents.summary_of_stored(store, state)
        for number in (1, 2):
            if documents.page_of(store, ID, number) is None:
                return "DOCUMENT_DAMAGED"
            documents.page_image(store, ID, number)
            if not store.get(ID, documents.picture_name(number)):
                return "DOCUMENT_DAMAGED"
        # Whoever reads these again does so where they are no such value.
        codec.loads(SecondReadings, store.get(ID, documents.SECOND_READINGS) or b"")
        view = StagedDocument(folder / "view")
        shutil.rmtree(folder / "view", ignore_errors=True)
        (folder / "view").mkdir()
        store.stage(ID, (documents.SOURCE,), folder / "view")
        documents.whole_file(view, ID, documents.SOURCE, state.source_sha256)
    except VisualProofError as error:
        return error.code
    except json.JSONDecodeError:
        return "DOCUMENT_DAMAGED"
    return ""


def test_every_flipped_byte_of_every_file_is_found(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "documents")
    kept(store, tmp_path)
    assert looked_through(store, tmp_path) == ""
    files = sorted((tmp_path / "documents" / ID).iterdir())
    assert len(files) == 11
    tried = 0
    for file in files:
        whole = file.read_bytes()
        for at in range(len(whole)):
            # As bits rot; and as what a server before wrote begins.
            others = {whole[at] ^ 1} | (set(b"{[xR\xff") if at < 80 else set())
            for other in others - {whole[at]}:
                file.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
                found = looked_through(store, tmp_path)
                assert found == "DOCUMENT_DAMAGED", f"{file.name} byte {at} to {other}: {found!r}"
                tried += 1
        file.write_bytes(whole)
    assert looked_through(store, tmp_path) == ""
    assert tried > 7_000


@pytest.mark.parametrize("how", ["cut by a byte", "cut in half", "empty", "gone", "a folder",
                                 "of another name", "of another document"])  # fmt: skip
def test_every_file_that_is_not_as_it_was_is_found(tmp_path: Path, how: str) -> None:
    store = DiskStore(tmp_path / "documents")
    kept(store, tmp_path)
    folder = tmp_path / "documents" / ID
    other = DiskStore(tmp_path / "others")
    for file in sorted(folder.iterdir()):
        whole = file.read_bytes()
        other.put("cd" * 16, file.name, b"another's" if file.name == "source" else b"{}")
        replaced = {
            "cut by a byte": whole[:-1],
            "cut in half": whole[: len(whole) // 2],
            "empty": b"",
            "of another name": next(f for f in folder.iterdir() if f != file).read_bytes(),
            "of another document": (tmp_path / "others" / ("cd" * 16) / file.name).read_bytes(),
        }
        file.unlink()
        if how == "a folder":
            file.mkdir()
        elif how != "gone":
            file.write_bytes(replaced[how])
        # Without these it is whole: they are made again of the rest.
        if how != "gone" or file.name not in (documents.WORDS, documents.SUMMARY):
            assert looked_through(store, tmp_path) == "DOCUMENT_DAMAGED", file.name
        if how == "a folder":
            file.rmdir()
        file.write_bytes(whole)
    assert looked_through(store, tmp_path) == ""


@pytest.mark.slow
def test_it_holds_on_s3_and_in_its_cache(s3: Bucket, tmp_path: Path) -> None:
    prefix = uuid.uuid4().hex
    store = ObjectStore(s3.url(prefix), tmp_path / "cache")
    kept(store, tmp_path)
    assert looked_through(store, tmp_path) == ""
    for name in sorted(store.names(ID)):
        fresh = ObjectStore(s3.url(prefix), tmp_path / "fresh")
        path = f"{ID}/{name}"
        whole = bytes(obstore.get(fresh._bucket, path).bytes())
        for at in (0, len(whole) // 2, len(whole) - 1):
            torn = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
            obstore.put(fresh._bucket, path, torn)
            assert looked_through(fresh, tmp_path) == "DOCUMENT_DAMAGED", (name, at)
        obstore.put(fresh._bucket, path, whole)
    # What is kept on the local disk is not believed either, and fetched once more.
    view = tmp_path / "all"
    view.mkdir()
    store.stage(ID, None, view)
    for file in (tmp_path / "cache" / ID).iterdir():
        if file.name != documents.SOURCE:
            file.unlink()
            file.write_bytes(b"sealed with nothing")
    assert looked_through(store, tmp_path) == ""


def _old(store: DiskStore, name: str, data: bytes) -> None:
    folder = store._root / ID
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


def test_a_document_of_the_server_before_is_still_read(tmp_path: Path) -> None:
    """Its blobs have no digest; what can be seen without one is."""
    store = DiskStore(tmp_path / "documents")
    kept(store, tmp_path)
    for file in (tmp_path / "documents" / ID).iterdir():
        data = store.get(ID, file.name)
        assert data is not None
        file.write_bytes(data)
    assert looked_through(store, tmp_path) == ""
    whole = store.get(ID, documents.WORDS)
    assert whole is not None
    wrong: dict[str, bytes] = {
        documents.STATE: b'{"document_id":',
        documents.SUMMARY: b"[]",
        documents.WORDS: zlib.compress(zlib.decompress(whole).split(b"\n")[0]),
        documents.page_name(1): b'{"number": "one"}',
    }
    for name, data in wrong.items():
        before = store.get(ID, name)
        assert before is not None
        _old(store, name, data)
        assert looked_through(store, tmp_path) == "DOCUMENT_DAMAGED", name
        _old(store, name, before)


ODD: dict[str, tuple[bytes, str]] = {
    "another version": (b'{"format": 9, "id": "x"}', "STATE_UNKNOWN"),
    "a list": (b"[]", "STATE_UNKNOWN"),
    "a number": (b"{}", "STATE_UNKNOWN"),
    "cut": (b'{"document_id": "abab', "DOCUMENT_DAMAGED"),
    "nothing": (b"", "DOCUMENT_DAMAGED"),
    "zeros": (b"\0" * 300, "DOCUMENT_DAMAGED"),
    "no text": (b"{\xff\xfe}", "DOCUMENT_DAMAGED"),
    "deep": (b"[" * 100_000, "DOCUMENT_DAMAGED"),
    "a time that is a text": (b'{"expire_time": "soon"}', "STATE_UNKNOWN"),
    "a state that is none": (b'{"state": 99}', "STATE_UNKNOWN"),
    "options that are a text": (b'{"options": "none"}', "STATE_UNKNOWN"),
    "a huge number": (b'{"page_count": ' + b"9" * 5000 + b"}", "STATE_UNKNOWN"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_state_is_typed(tmp_path: Path, name: str) -> None:
    store = DiskStore(tmp_path / "documents")
    data, code = ODD[name]
    _old(store, documents.STATE, data)
    with pytest.raises(VisualProofError) as caught:
        documents.state_of(store, ID)
    assert caught.value.code == code


def test_pages_without_a_state_are_no_upload_that_broke_off(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "documents")
    kept(store, tmp_path)
    (tmp_path / "documents" / ID / documents.STATE).unlink()
    assert looked_through(store, tmp_path) == "DOCUMENT_DAMAGED"
    for name in store.names(ID) - {documents.SOURCE}:
        store.remove(ID, [name])
    assert looked_through(store, tmp_path) == "DOCUMENT_NOT_FOUND"


def test_what_is_no_document_is_counted_and_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "documents"
    store = DiskStore(root)
    store.put(ID, documents.SOURCE, b"x")
    (root / "notes.txt").write_text("mine")
    (root / ("cd" * 16)).write_text("a file with a document's name")
    (root / "LOST+FOUND").mkdir()
    (root / ID / ".tmp-folder").mkdir()
    assert store.sweep() == 3
    assert store.documents() == [ID]
    assert sorted(p.name for p in root.iterdir()) == sorted(
        [ID, "cd" * 16, "notes.txt", "LOST+FOUND"]
    )


def test_a_file_in_a_folders_place_is_moved_aside(tmp_path: Path) -> None:
    for name in ("documents", "deleting"):
        (tmp_path / name).write_text("mine")
    DiskStore(tmp_path / "documents").put(ID, documents.SOURCE, b"x")
    (tmp_path / "deleting").rmdir()
    (tmp_path / "deleting").write_text("mine, too")
    DiskStore(tmp_path / "documents")
    found = {p.name: p.read_text() for p in tmp_path.glob("*.aside-*")}
    assert found == {
        "documents.aside-1": "mine", "deleting.aside-1": "mine", "deleting.aside-2": "mine, too",
    }  # fmt: skip
