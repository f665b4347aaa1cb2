"""Documents in a store: which blob holds what."""

import json

from visualproof_server.model import codec
from visualproof_server.model.document import (
    Document,
    DocumentState,
    Page,
    State,
)
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.numbering import number_document
from visualproof_server.storing.store import DocumentReader, DocumentStore

SOURCE = "source"
# Another reader's output beside it.
READING = "reading"
# Which server reads it, where several share the store.
LEASE = "lease.json"
STATE = "state.json"
# What was read of it a second time.
SECOND_READINGS = "second_readings.json"


def page_name(number: int) -> str:
    return f"page-{number:06}.json"


def image_name(number: int) -> str:
    return f"page-{number:06}.jpg"


def picture_name(number: int) -> str:
    """The page smaller, as evidence shows it; made when it is first needed."""
    return f"page-{number:06}.webp"


def state_of(store: DocumentReader, document_id: str) -> DocumentState:
    """Where a document stands; error DOCUMENT_NOT_FOUND."""
    data = store.get(document_id, STATE)
    if data is None:
        raise not_found()
    return codec.loads(DocumentState, data)


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


def put_page(
    store: DocumentStore, document_id: str, page: bytes, image: bytes, number: int
) -> None:
    """Stores a page as encoded by codec; the image first, since the page says that it is done.

    Error DOCUMENT_NOT_FOUND as check_there.
    """
    check_there(store, document_id)
    if image:
        store.put(document_id, image_name(number), image)
    store.put(document_id, page_name(number), page)


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


def load(store: DocumentReader, document_id: str) -> Document:
    """A document that is READY; errors DOCUMENT_NOT_FOUND, DOCUMENT_NOT_READY, DOCUMENT_FAILED."""
    state = state_of(store, document_id)
    if state.state is State.FAILED:
        code = state.failure.code if state.failure else "INTERNAL"
        raise VisualProofError(
            "DOCUMENT_FAILED", f"This document could not be read ({code}).", {"failure": code}
        )
    if state.state is not State.READY:
        raise VisualProofError(
            "DOCUMENT_NOT_READY", "This document is still being read; follow it to READY."
        )
    pages = []
    for number in sorted(done_pages(store, document_id)):
        data = store.get(document_id, page_name(number))
        if data is not None:
            pages.append(codec.loads(Page, data))
    return number_document(
        document_id, state.source_sha256, state.reader_version, state.options, tuple(pages)
    )


def lease_of(store: DocumentReader, document_id: str) -> tuple[str, float]:
    """(server, until when) that reads a document; ("", 0) if none does."""
    data = store.get(document_id, LEASE)
    if data is None:
        return "", 0.0
    owner, until = json.loads(data)
    return str(owner), float(until)


def put_lease(store: DocumentStore, document_id: str, owner: str, until: float) -> None:
    store.put(document_id, LEASE, json.dumps([owner, until]).encode())
