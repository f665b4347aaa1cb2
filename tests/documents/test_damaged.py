"""What a damaged file comes to through the whole service: said, and no null of it is released."""

from collections.abc import Callable

import pytest
from visualproof import Action, Client, Status
from visualproof.v1 import report_pb2

from documents import damaged

pytestmark = pytest.mark.slow

FIELDS = [
    report_pb2.FieldSpec(path="/invoice", kind="identifier", labels=["Invoice"]),
    report_pb2.FieldSpec(path="/discount", kind="money", labels=["Discount"]),
]
ANSWER = {"invoice": "4711", "discount": None}


@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize(
    "made",
    [damaged.image_short, damaged.jpeg_cut, damaged.filter_unknown, damaged.font_unnamed,
     damaged.xobject_missing, damaged.appearance_cut],
    ids=lambda made: made.__name__,
)  # fmt: skip
def test_a_damaged_page_is_said_and_releases_no_null(
    client: Client, made: Callable[[], bytes], layer: bool
) -> None:
    document = client.ingest(made(), text_layer=layer)
    assert "PAGE_DAMAGED" in [w.code for w in document.warnings]
    (page,) = client.pages(document)
    assert page.damaged
    report = client.verify(document, ANSWER, fields=FIELDS)
    assert list(report.message.damaged_pages) == [1]
    assert report["/invoice"].status is Status.VERIFIED
    assert report["/discount"].status is Status.UNCERTAIN
    assert report["/discount"].action is Action.REVIEW
    client.delete(document)


def test_a_sound_page_releases_it(client: Client) -> None:
    document = client.ingest(damaged.sound())
    assert not document.warnings
    report = client.verify(document, ANSWER, fields=FIELDS)
    assert report["/discount"].status is Status.ABSENT
    assert not report.message.damaged_pages
    client.delete(document)
