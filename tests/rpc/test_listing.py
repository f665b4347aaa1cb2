"""Listing blocks a response at a time: all of them, once, and none made before their turn."""

import base64
from collections import Counter
from typing import Any

import pytest
from proving.pages import printed
from visualproof.v1 import block_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof_server.model.errors import VisualProofError
from visualproof_server.rpc import blocks, listing

PAGES = 12
DOCUMENT = printed(*([f"Line {n} of page {p} has words" for n in range(10)] for p in range(PAGES)))


def listed(size: int, **wanted: Any) -> list[block_pb2.Block]:
    request = pb.ListBlocksRequest(page_size=size, **wanted)
    found: list[block_pb2.Block] = []
    while True:
        response = listing.blocks(DOCUMENT, request)
        found += response.blocks
        assert len(response.blocks) <= size
        if not response.next_page_token:
            return found
        request.page_token = response.next_page_token


@pytest.mark.parametrize("size", [1, 7, 143])
@pytest.mark.parametrize(
    "wanted",
    [{}, {"page_number": 3}, {"kinds": [block_pb2.BLOCK_KIND_LINE]}],
    ids=["all", "a page", "lines"],
)
def test_responses_join_to_the_whole(size: int, wanted: dict[str, Any]) -> None:
    if size == 1 and not wanted:
        wanted = {"page_number": 1}
    assert listed(size, **wanted) == listed(10_000, **wanted)


def test_each_block_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Counter[int] = Counter()
    real = blocks.page_to_blocks

    def counted(page: Any, *args: Any) -> Any:
        for block in real(page, *args):
            made[page.number] += 1
            yield block

    monkeypatch.setattr(listing, "page_to_blocks", counted)
    total = len(listed(60))
    # A response makes again what stands before its place on its first page, and no page before it.
    assert sum(made.values()) < 2.2 * total
    assert max(made.values()) < 3.2 * total / PAGES


@pytest.mark.parametrize(
    "token", ["x", "MQ==", "MS4yLjM=", base64.urlsafe_b64encode(b"-1.2").decode(), "\ud7ff"]
)
def test_a_token_of_another_kind_is_refused(token: str) -> None:
    with pytest.raises(VisualProofError) as caught:
        listing.blocks(DOCUMENT, pb.ListBlocksRequest(page_token=token))
    assert caught.value.code == "PAGE_TOKEN_INVALID"


def test_a_token_of_pages_is_not_one_of_blocks() -> None:
    request = pb.ListBlocksRequest(page_size=5)
    token = listing.blocks(DOCUMENT, request).next_page_token
    with pytest.raises(VisualProofError):
        listing.pages(None, pb.ListPagesRequest(page_token=token))  # type: ignore[arg-type]
