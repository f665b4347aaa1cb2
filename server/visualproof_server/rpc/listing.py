"""Pages and blocks of a document, a response at a time; a token says where the next one begins."""

import base64
import binascii
from collections.abc import Iterator
from itertools import islice

from visualproof.v1 import block_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.document import Document
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.summary import DocumentSummary
from visualproof_server.rpc import convert
from visualproof_server.rpc.blocks import page_to_blocks

_PAGES, _BLOCKS, _MOST_BLOCKS = 1000, 5000, 10_000


def pages(document: DocumentSummary, request: pb.ListPagesRequest) -> pb.ListPagesResponse:
    """Error PAGE_TOKEN_INVALID."""
    (start,) = _places(request.page_token, 1)
    end = start + min(request.page_size or _PAGES, _PAGES)
    return pb.ListPagesResponse(
        pages=[convert.page_to_wire(p) for p in document.pages[start:end]],
        next_page_token=_token(end) if end < len(document.pages) else "",
    )


def blocks(document: Document, request: pb.ListBlocksRequest) -> pb.ListBlocksResponse:
    """Makes the blocks of a response and one more, and none before them.

    Errors PAGE_OUT_OF_RANGE, PAGE_TOKEN_INVALID.
    """
    if request.page_number and document.page(request.page_number) is None:
        raise VisualProofError(
            "PAGE_OUT_OF_RANGE", f"The document has no page {request.page_number}."
        )
    size = min(request.page_size or _BLOCKS, _MOST_BLOCKS)
    found = list(islice(_from(document, request), size + 1))
    token = _token(*found[size][0]) if len(found) > size else ""
    return pb.ListBlocksResponse(blocks=[b for _, b in found[:size]], next_page_token=token)


def _from(
    document: Document, request: pb.ListBlocksRequest
) -> Iterator[tuple[tuple[int, int], block_pb2.Block]]:
    """Blocks from where the token says, each with its own place: page, block on the page."""
    kinds = frozenset(int(k) for k in request.kinds if k)
    first_page, first_block = _places(request.page_token, 2)
    for page, found in document.in_order():
        if request.page_number not in (0, page.number) or page.number < first_page:
            continue
        made = enumerate(page_to_blocks(page, found, kinds))
        for at, block in made:
            if page.number > first_page or at >= first_block:
                yield (page.number, at), block


def _token(*places: int) -> str:
    text = ".".join(str(place) for place in places)
    return base64.urlsafe_b64encode(text.encode()).decode()


def _places(token: str, count: int) -> tuple[int, ...]:
    """What `_token` made; zeros for an empty token; error PAGE_TOKEN_INVALID."""
    if not token:
        return (0,) * count
    try:
        places = base64.urlsafe_b64decode(token.encode()).decode("ascii").split(".")
        found = tuple(int(place) for place in places)
    except (ValueError, binascii.Error):
        found = ()
    if len(found) != count or any(not 0 <= place < 2**31 for place in found):
        raise VisualProofError(
            "PAGE_TOKEN_INVALID",
            "Use the page token of the last response.",
            field_path="page_token",
        )
    return found
