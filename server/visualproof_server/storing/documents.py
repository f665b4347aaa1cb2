"""Documents in a store: which blob holds what."""

import json
import zlib
from collections.abc import Sequence

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
from visualproof_server.storing.store import DocumentReader, DocumentStore

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


def page_name(number: int) -> str:
    return f"page-{number:06}.json"


def image_name(number: int) -> str:
    return f"page-{number:06}.jpg"


def picture_name(number: int) -> str:
    """The page smaller, as evidence shows it; made when it is first needed."""
    return f"page-{number:06}.webp"


def state_of(store: DocumentReader, document_id: str) -> DocumentState:
    """Where a document stands; errors DOCUMENT_NOT_FOUND, STATE_UNKNOWN if it cannot be understood:
    a newer server may have written it."""
    data = store.get(document_id, STATE)
    if data is None:
        raise not_found()
    try:
        return codec.loads(DocumentState, data)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise VisualProofError(
            "STATE_UNKNOWN", "Another version of the server keeps this document; call again."
        ) from None


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
    return None if data is None else codec.loads(Page, data)


def done_pages(store: DocumentReader, document_id: str) -> set[int]:
    """Numbers of the pages that need not be read again."""
    return {
        int(name[5:11])
        for name in store.names(document_id)
        if name.startswith("page-") and name.endswith(".json")
    }


def page_image(store: DocumentReader, document_id: str, number: int) -> bytes:
    """A page's JPEG as stored; errors PAGE_OUT_OF_RANGE, NO_PIXELS."""
    image = store.get(document_id, image_name(number))
    if image is None and store.get(document_id, page_name(number)) is not None:
        raise VisualProofError(
            "NO_PIXELS", f"Page {number} was imported without its image; there is no picture of it."
        )
    if image is None:
        raise VisualProofError("PAGE_OUT_OF_RANGE", f"There is no image of page {number}.")
    return image


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
        return codec.loads(DocumentSummary, data)
    # Stored by a server that wrote no summaries.
    return summary_of(document_of(store, state))


def put_summary(store: DocumentStore, summary: DocumentSummary) -> None:
    store.put(summary.document_id, SUMMARY, codec.dumps(summary))


def _pages(store: DocumentReader, state: DocumentState) -> tuple[Page, ...]:
    words = store.get(state.document_id, WORDS)
    if words is not None:
        return tuple(codec.loads(Page, line) for line in zlib.decompress(words).split(b"\n"))
    # Stored by a server that wrote pages only.
    first = state.options.first_page
    found = (
        page_of(store, state.document_id, number)
        for number in range(first, first + state.page_count)
    )
    return tuple(page for page in found if page is not None)


def lease_of(store: DocumentReader, document_id: str) -> tuple[str, float]:
    """(server, until when) that reads a document; ("", 0) if none does."""
    data = store.get(document_id, LEASE)
    if data is None:
        return "", 0.0
    owner, until = json.loads(data)
    return str(owner), float(until)


def put_lease(store: DocumentStore, document_id: str, owner: str, until: float) -> None:
    store.put(document_id, LEASE, json.dumps([owner, until]).encode())
