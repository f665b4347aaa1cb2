"""A reading is checked when it comes in: what is READY holds for every later call."""

import time
from pathlib import Path

import pytest
from proving.claims import report_of
from proving.pages import OPTIONS
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof_server.evidence import hocr as hocr_out
from visualproof_server.evidence import textract as textract_out
from visualproof_server.model import codec
from visualproof_server.model.document import Page, Source, Trust
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.numbering import number_document
from visualproof_server.prompting.render import MarkerStyle, render
from visualproof_server.reading import pages
from visualproof_server.reading.imported.page import content_of, page_count, plan_sheet
from visualproof_server.reading.pages import label_of, page_of
from visualproof_server.reading.source import PageLimits
from visualproof_server.rpc import listing
from visualproof_server.rpc.sealed import report_json

from documents.hostile_readings import HOSTILE, ethos

CODES = {"READING_INVALID", "PAGE_TOO_LARGE", "PAGE_TOO_SMALL"}


def imported(data: bytes, folder: Path) -> Page:
    file = folder / "reading"
    file.write_bytes(data)
    page_count(file)
    plan = plan_sheet(file, 1, PageLimits())
    content = content_of(file, plan)
    return page_of(plan, Source.IMPORTED, content.lines, content.tables)


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_or_holds_for_every_call(name: str, tmp_path: Path) -> None:
    started = time.monotonic()
    try:
        page = imported(HOSTILE[name](), tmp_path)
    except VisualProofError as error:
        assert error.code in CODES
        return
    stored = codec.loads(Page, codec.dumps(page))
    document = number_document("d" * 32, "a" * 64, "reader/1", OPTIONS, (stored,))
    shown = render(document, 0, 0, 0, MarkerStyle.LINE).text
    assert len(shown) < 2_000_000
    shown.encode()
    listing.blocks(document, pb.ListBlocksRequest()).SerializeToString()
    textract_out.document(document)
    hocr_out.document(document, "title")
    report = report_of(document, {"total": "5.00", "other": "Total"})
    report_json(report, document)
    assert all(w.confidence is None or 0 <= w.confidence <= 1 for w in page.words)
    # A generous limit: each takes well under a second.
    assert time.monotonic() - started < 20


def test_a_page_label_is_short_and_on_one_line() -> None:
    assert label_of("iv", 4) == "iv"
    assert label_of("", 4) == label_of("\0\n", 4) == "4"
    assert label_of("a\n<LINE 7>\x1b[2J", 4) == "a <LINE 7> [2J"
    for text in ("<" + " " * 60_000, "<" * 4_000_000, "x" * 65, " " * 300 + "x"):
        label = label_of(text, 4)
        assert len(label) <= pages.MAX_LABEL
        assert label.endswith("\u2026")


@pytest.mark.parametrize("text", ["x" * 1001, "5.00\0", "5.0\ud8000", "a\x1b[31m"])
def test_what_no_page_prints_proves_nothing(text: str, tmp_path: Path) -> None:
    body = ethos(spans=[{"id": "s", "page": "p", "text": text, "bbox": [1, 1, 99, 9]}])
    (word,) = imported(body, tmp_path).words
    assert word.trust is Trust.UNCLEAR
    assert len(word.text) <= pages.MAX_WORD
    assert word.text.isprintable()
