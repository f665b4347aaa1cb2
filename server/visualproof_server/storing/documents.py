"""Documents in a store: which blob holds what."""

import hashlib
import json
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from visualproof_server.model import codec
from visualproof_server.model.document import (
    Document,
    DocumentState,
    Page,
    State,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.numbering import number_document
from visualproof_server.model.summary import DocumentSummary, summary_of
from visualproof_server.storing.sealed import damaged
from visualproof_server.storing.store import DocumentReader, DocumentStore, LocalReader

T = TypeVar("T")

SOURCE = "source"
# Another reader's output beside it.
READING = "reading"
# Which server reads it, where several share the store.
LEASE = "lease.json"
STATE = "state.json"
# What was read of it a second time.
SECOND_READINGS = "second_readings.json"
# Written when all pages are read: what needs no words, and all words in one blob.
SUMMARY = "pages.json"
WORDS = "words.json.z"


# What an upload puts there before it is a document.
_BEFORE_STATE = {SOURCE, READING, LEASE}
# What codec and zlib raise for data that is something else.
_NO_SUCH_VALUE = (ValueError, KeyError, TypeError, AttributeError, IndexError,
                  RecursionError)  # fmt: skip


def page_name(number: int) -> str:
    return f"page-{number:06}.json"


def image_name(number: int) -> str:
    return f"page-{number:06}.jpg"


def picture_name(number: int) -> str:
    """The page smaller, as evidence shows it; made when it is first needed."""
    return f"page-{number:06}.webp"


def state_of(store: DocumentReader, document_id: str) -> DocumentState:
    """Where a document stands; errors DOCUMENT_NOT_FOUND, DOCUMENT_DAMAGED, STATE_UNKNOWN if it cannot
    be understood: a newer server may have written it."""
    data = store.get(document_id, STATE)
    if data is None:
        if not store.shared and not store.names(document_id) <= _BEFORE_STATE:
            # Nothing but an upload that broke off has no state; deletion takes all at once.
            raise damaged()
        raise not_found()
    try:
        state = codec.loads(DocumentState, data)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise damaged() from None
    except _NO_SUCH_VALUE:
        raise VisualProofError(
            "STATE_UNKNOWN", "Another version of the server keeps this document; call again."
        ) from None
    if state.document_id != document_id:
        raise damaged()
    return state


def not_found() -> VisualProofError:
    """The same for what is not there and for what is another's."""
    return VisualProofError(
        "DOCUMENT_NOT_FOUND", "There is no such document; upload it, it may have expired."
    )


def check_there(store: DocumentStore, document_id: str) -> None:
    """Error DOCUMENT_NOT_FOUND if another server deleted it: writing would bring some of it back."""
    if store.shared and store.get(document_id, STATE) is None:
        raise not_found()


def put_state(store: DocumentStore, state: DocumentState) -> None:
    store.put(state.document_id, STATE, codec.dumps(state))


def change_state(store: DocumentStore, state: DocumentState) -> None:
    """As put_state, of a document that is there; error DOCUMENT_NOT_FOUND if it was deleted."""
    check_there(store, state.document_id)
    put_state(store, state)
    if store.shared and not store.has(state.document_id, SOURCE):
        # Another server deleted it between the check and the writing.
        store.remove(state.document_id, [STATE])
        raise not_found()


def put_page(
    store: DocumentStore, document_id: str, page: bytes, image: bytes, number: int
) -> None:
    """Stores a page as encoded by codec; the image first, since the page says that it is done.

    Error DOCUMENT_NOT_FOUND as check_there; then nothing of the page is left.
    """
    check_there(store, document_id)
    blobs = {image_name(number): image} if image else {}
    blobs[page_name(number)] = page
    for name, data in blobs.items():
        store.put(document_id, name, data)
    try:
        # Another server may have deleted it between the check and the writing.
        check_there(store, document_id)
    except VisualProofError as error:
        if error.code == "DOCUMENT_NOT_FOUND":
            store.remove(document_id, blobs)
        raise


def put_readings(store: DocumentStore, document_id: str, data: bytes) -> None:
    """Stores second readings; error DOCUMENT_NOT_FOUND if the document is gone."""
    if store.get(document_id, STATE) is None:
        raise not_found()
    store.put(document_id, SECOND_READINGS, data)


def put_picture(store: DocumentStore, document_id: str, number: int, data: bytes) -> None:
    """Stores what picture_name names; error DOCUMENT_NOT_FOUND if the document is gone."""
    if store.get(document_id, STATE) is None:
        raise not_found()
    store.put(document_id, picture_name(number), data)


def page_of(store: DocumentReader, document_id: str, number: int) -> Page | None:
    """A page as read, None if it is not there."""
    data = store.get(document_id, page_name(number))
    return None if data is None else _loaded(Page, data)


def done_pages(store: DocumentReader, document_id: str) -> set[int]:
    """Numbers of the pages that need not be read again."""
    return {
        int(name[5:11])
        for name in store.names(document_id)
        if name.startswith("page-") and name.endswith(".json")
    }


def page_image(store: DocumentReader, document_id: str, number: int) -> bytes:
    """A page's JPEG as stored; errors PAGE_OUT_OF_RANGE, NO_PIXELS, DOCUMENT_DAMAGED."""
    image = store.get(document_id, image_name(number))
    if image is not None:
        return image
    page = page_of(store, document_id, number)
    if page is None:
        raise VisualProofError("PAGE_OUT_OF_RANGE", f"There is no image of page {number}.")
    if page.pixels and page.failure is None:
        raise damaged()
    raise VisualProofError(
        "NO_PIXELS", f"Page {number} was imported without its image; there is no picture of it."
    )


def whole_file(store: LocalReader, document_id: str, name: str, sha256: str) -> Path:
    """The file of a source or reading, whose digest the document names; error DOCUMENT_DAMAGED."""
    path = store.local(document_id, name)
    try:
        found = path.stat()
        if _digest_of(path, found.st_ino, found.st_mtime_ns, found.st_size) != sha256:
            raise damaged()
    except OSError:
        raise damaged() from None
    return path


@lru_cache(maxsize=64)
def _digest_of(path: Path, *version: int) -> str:
    """SHA-256 of a file; once for each version of it, since all of its pages ask."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _loaded(kind: type[T], data: bytes) -> T:
    """A value as codec wrote it; error DOCUMENT_DAMAGED."""
    try:
        return codec.loads(kind, data)
    except _NO_SUCH_VALUE:
        raise damaged() from None


def check_ready(state: DocumentState) -> None:
    """Errors DOCUMENT_NOT_READY, DOCUMENT_FAILED."""
    if state.state is State.FAILED:
        code = state.failure.code if state.failure else "INTERNAL"
        raise VisualProofError(
            "DOCUMENT_FAILED", f"This document could not be read ({code}).", {"failure": code}
        )
    if state.state is not State.READY:
        raise VisualProofError(
            "DOCUMENT_NOT_READY", "This document is still being read; follow it to READY."
        )


def load(store: DocumentReader, document_id: str) -> Document:
    """A document that is READY; errors of state_of and check_ready."""
    return document_of(store, state_of(store, document_id))


def document_of(store: DocumentReader, state: DocumentState) -> Document:
    """The document that stands so; errors of check_ready."""
    check_ready(state)
    return number_document(
        state.document_id,
        state.source_sha256,
        state.reader_version,
        state.options,
        _pages(store, state),
    )


def put_words(store: DocumentStore, document_id: str, pages: Sequence[Page]) -> None:
    """Stores all pages in one blob: a document of 500 pages comes by one call, in a third of the
    bytes. A page a line: parsing all at once would hold every thread up."""
    lines = b"\n".join(codec.dumps(page) for page in pages)
    store.put(document_id, WORDS, zlib.compress(lines))


def summary_of_stored(store: DocumentReader, state: DocumentState) -> DocumentSummary:
    """The pages of a document without words; errors of check_ready."""
    check_ready(state)
    data = store.get(state.document_id, SUMMARY)
    if data is not None:
        summary = _loaded(DocumentSummary, data)
        if len(summary.pages) != state.page_count:
            raise damaged()
        return summary
    # Stored by a server that wrote no summaries.
    return summary_of(document_of(store, state))


def put_summary(store: DocumentStore, summary: DocumentSummary) -> None:
    store.put(summary.document_id, SUMMARY, codec.dumps(summary))


def _pages(store: DocumentReader, state: DocumentState) -> tuple[Page, ...]:
    """All of them; error DOCUMENT_DAMAGED."""
    words = store.get(state.document_id, WORDS)
    first = state.options.first_page
    if words is not None:
        try:
            lines = zlib.decompress(words).split(b"\n")
        except zlib.error:
            raise damaged() from None
        found = [_loaded(Page, line) for line in lines]
    else:
        # Stored by a server that wrote pages only.
        numbers = range(first, first + state.page_count)
        read = (page_of(store, state.document_id, number) for number in numbers)
        found = [page for page in read if page is not None]
    if [page.number for page in found] != list(range(first, first + state.page_count)):
        raise damaged()
    return tuple(found)


def lease_of(store: DocumentReader, document_id: str) -> tuple[str, float]:
    """(server, until when) that reads a document; ("", 0) if none does."""
    try:
        data = store.get(document_id, LEASE)
        owner, until = json.loads(data) if data is not None else ("", 0.0)
        return str(owner), float(until)
    except (VisualProofError, ValueError, TypeError) as error:
        if isinstance(error, VisualProofError) and error.code != "DOCUMENT_DAMAGED":
            raise
        # Nobody's: who takes it up writes a whole one.
        return "", 0.0


def put_lease(store: DocumentStore, document_id: str, owner: str, until: float) -> None:
    store.put(document_id, LEASE, json.dumps([owner, until]).encode())
