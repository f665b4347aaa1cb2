"""Other readers' output: in, out, and in again; with and without the document's pixels."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED
from hypothesis import given, settings
from hypothesis import strategies as st
from proving.claims import codes, report_of
from proving.pages import OPTIONS, printed, table_of, tabled
from visualproof_server.evidence import ethos as ethos_out
from visualproof_server.evidence import hocr, textract, web_annotation
from visualproof_server.model.document import Cell, Document, Line, Page, Source
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldSpec, Status
from visualproof_server.proving.prove import Index
from visualproof_server.reading.imported.page import (
    content_of,
    open_reading,
    page_count,
    plan_sheet,
    without_pixels,
)
from visualproof_server.reading.pages import page_of
from visualproof_server.reading.reader import file_type
from visualproof_server.reading.source import PageLimits

TEXTRACT = sorted((SHARED / "data" / "textract_samples").glob("*.textract.json"))
real = pytest.mark.skipif(not TEXTRACT, reason="../shared is not there")


def imported(path: Path, number: int = 1) -> Page:
    plan = plan_sheet(path, number, PageLimits())
    content = content_of(path, plan)
    return without_pixels(page_of(plan, Source.IMPORTED, content.lines, content.tables))


def document_of(*pages: Page) -> Document:
    return number_document("d" * 32, "a" * 64, "reader/1", OPTIONS, pages)


def spelled(page: Page) -> Any:
    """All that a page says, but who read it."""

    def words(of: Line | Cell) -> Any:
        return [(w.text, w.box, w.quad, w.confidence) for w in of.words]

    lines = [words(line) for line in page.lines]
    tables = [
        (
            t.after_line,
            [
                (c.row, c.column, c.row_span, c.column_span, c.column_header, c.box, words(c))
                for c in t.cells
            ],
        )
        for t in page.tables
    ]
    return lines, tables


def about(page: Page) -> Any:
    """The same with confidences to 4 digits: they are written in per cent."""
    return json.loads(
        json.dumps(spelled(page), default=repr),
        parse_float=lambda text: round(float(text), 4),
    )


@real
@pytest.mark.parametrize("path", TEXTRACT, ids=lambda p: p.name.split(".")[0])
def test_textract_comes_in_whole(path: Path) -> None:
    """No word is lost or said twice; cells have the row and column that Textract gives."""
    body = json.loads(path.read_text())
    page = imported(path)
    by_kind: dict[str, list[Any]] = {}
    for block in body["Blocks"]:
        by_kind.setdefault(block["BlockType"], []).append(block)
    assert sorted(w.text for w in page.words) == sorted(b["Text"] for b in by_kind["WORD"])
    assert len(page.tables) == len(by_kind.get("TABLE", []))
    for word in page.words:
        assert word.confidence is not None
        assert 0 <= word.confidence <= 1
    index = Index(document_of(page))
    assert len(index.words) == len(page.words)


@real
@pytest.mark.parametrize("path", TEXTRACT, ids=lambda p: p.name.split(".")[0])
def test_round_trips_of_real_files(path: Path, tmp_path: Path) -> None:
    page = imported(path)
    written = {
        tmp_path / "a.json": textract.document(document_of(page)),
        tmp_path / "a.hocr": hocr.document(document_of(page), "a <title> & more"),
    }
    for file, data in written.items():
        file.write_bytes(data)
        plan = replace(plan_sheet(path, 1, PageLimits()), number=1)
        content = content_of(file, plan)
        again = page_of(plan, Source.IMPORTED, content.lines, content.tables)
        assert about(again) == about(page), file.suffix


@real
@pytest.mark.parametrize("path", TEXTRACT, ids=lambda p: p.name.split(".")[0])
def test_what_textract_reads_can_be_proven(path: Path) -> None:
    """Each sure line of the page is found where it stands."""
    page = imported(path)
    document = document_of(page)
    texts = [li.text for li in page.lines if min(w.confidence or 0 for w in li.words) > 0.95]
    report = report_of(document, {f"l{n}": text for n, text in enumerate(texts[:20])})
    assert {r.status for r in report.results} <= {Status.VERIFIED, Status.AMBIGUOUS}


def test_tables_and_pages_survive(tmp_path: Path) -> None:
    table = table_of(
        [["Item", "2023", "2024"], ["Revenue", "<", "5.00"], ["Costs", "2.00", "3.00"]]
    )
    document = tabled((["Before"], table, ["After"]), (["Next"], table, []))
    for name, data in (
        ("a.json", textract.document(document)),
        ("a.hocr", hocr.document(document, "")),
    ):
        file = tmp_path / name
        file.write_bytes(data)
        assert page_count(file) == 2
        for page in document.pages:
            content = open_reading(file).content(page.number, page.width, page.height)
            again = replace(page, lines=content.lines, tables=content.tables)
            assert about(again)[0] == about(page)[0]
            cells = [(c.row, c.column, c.column_span, c.text) for c in again.tables[0].cells]
            wanted = next(t for t in document.tables if t.page == page.number).table.cells
            assert cells == [(c.row, c.column, c.column_span, c.text) for c in wanted]


def test_hocr_of_tesseract(tmp_path: Path) -> None:
    file = tmp_path / "a.hocr"
    file.write_text(
        """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title></title></head><body>
<div class='ocr_page' id='page_1' title='image "a.png"; bbox 0 0 1000 1400; ppageno 0; scan_res 120 120'>
 <div class='ocr_carea' title="bbox 90 90 500 200"><p class='ocr_par'>
  <span class='ocr_line' title="bbox 100 100 300 120; baseline 0 0; x_size 20">
   <span class='ocrx_word' id='word_1_1' title='bbox 100 100 180 120; x_wconf 96'>Total</span>
   <span class='ocrx_word' id='word_1_2' title='bbox 190 100 300 120; x_wconf 91'><strong>&pound;5.00</strong></span>
  </span>
  <span class='ocr_header' title="bbox 100 150 300 170"><span class='ocrx_word' title='bbox 100 150 140 170'>VAT</span></span>
 </p></div></div></body></html>"""
    )
    page = imported(file)
    assert [(li.text, li.confidence) for li in page.lines] == [("Total £5.00", 0.91), ("VAT", None)]
    assert (page.width, page.height, page.width_pt) == (1000, 1400, 600)


GROUNDING: dict[str, Any] = {
    "document_fingerprint": "sha256:" + "a" * 64,
    "coordinate_origin": "bottom_left",
    "pages": [{"id": "p1", "width": 600, "height": 800}],
    "elements": [
        {"id": "e1", "page": "p1", "text": "Total due 5.00", "bbox": [50, 700, 250, 720]},
        {"id": "e2", "page": "p1", "text": "inside", "bbox": [60, 510, 100, 520]},
        {"id": "e3", "page": "p1", "text": "After", "bbox": [50, 300, 90, 320]},
    ],
    "tables": [
        {
            "id": "t1", "page": "p1", "bbox": [50, 500, 300, 550],
            "cells": [
                {"row": 0, "col": 0, "text": "Item", "bbox": [50, 525, 150, 550], "is_header": True},
                {"row": 0, "col": 1, "text": "2024", "bbox": [150, 525, 300, 550], "is_header": True},
                {"row": 1, "col": 0, "text": "Revenue", "bbox": [50, 500, 150, 525]},
                {"row": 1, "col": 1, "text": "12.00", "bbox": [150, 500, 300, 525]},
            ],
        }
    ],
}  # fmt: skip


def test_ethos_grounding_comes_in_and_citations_go_out(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(GROUNDING))
    page = imported(file)
    assert [li.text for li in page.lines] == ["Total due 5.00", "After"]
    (table,) = page.tables
    assert (table.after_line, [c.text for c in table.cells]) == (
        1, ["Item", "2024", "Revenue", "12.00"]
    )  # fmt: skip
    scale = 200 / 72
    first = page.lines[0].words[0].box
    assert (first.left, first.top) == (round(50 * scale), round(80 * scale))
    # Read from pixels, the same words prove; then they can be cited.
    document = tabled((["Total due 5.00"], table_of([["Item", "2024"], ["Revenue", "12.00"]]), []))
    report = report_of(
        document,
        {"total": "5.00", "revenue": "12.00", "none": "9.99"},
        FieldSpec("/revenue", row_label="Revenue", column_label="2024"),
    )
    made = json.loads(ethos_out.citations(document, report))
    assert made["document_fingerprint"] == "sha256:" + "a" * 64
    assert made["claims"] == [
        {"kind": "quote", "text": "5.00", "citation": {"page": "P1", "element_id": "L1"}},
        {
            "kind": "table_cell",
            "text": "12.00",
            "citation": {"page": "P1", "table_id": "T1", "cell": {"row": 1, "col": 1}},
        },
    ]


def test_words_of_a_file_are_no_evidence_without_pixels(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(GROUNDING))
    result = report_of(document_of(imported(file)), {"total": "5.00"}).results[0]
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["NO_PIXELS"])
    hocr_file = tmp_path / "a.hocr"
    hocr_file.write_bytes(hocr.document(printed(["Total due 5.00"], confidence=None), ""))
    result = report_of(document_of(imported(hocr_file)), {"total": "5.00"}).results[0]
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["NO_PIXELS"])


def test_web_annotations_name_page_and_place() -> None:
    document = printed(["Total due 5.00"])
    report = report_of(document, {"total": "5.00", "none": "nowhere"})
    made = json.loads(web_annotation.annotations(document, report))
    assert (made["@context"], made["type"]) == (
        "http://www.w3.org/ns/anno.jsonld",
        "AnnotationPage",
    )
    found, absent = made["items"]
    (target,) = found["target"]
    place, quote = target["selector"]
    assert (target["source"], place["value"]) == ("urn:sha256:" + "a" * 64, "page=1")
    left, top, width, height = (
        float(v) for v in place["refinedBy"]["value"].removeprefix("xywh=percent:").split(",")
    )
    box = report.results[0].evidence[0].boxes[0]
    assert (left * 10, top * 14) == pytest.approx((box.left, box.top), abs=0.01)
    assert (width * 10, height * 14) == pytest.approx((box.width, box.height), abs=0.01)
    assert quote["exact"] == "5.00"
    assert absent["target"] == ["urn:sha256:" + "a" * 64]
    assert [b["value"] for b in found["body"]][1:3] == ["VERIFIED", "RELEASE"]


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", '{"Blocks": []}', '{"Blocks": [{"BlockType": "WORD"}]}', '{"pages": []}',
        '{"pages": [{"id": "p1"}], "coordinate_origin": "middle"}', "<html></html>", "[" * 100_000,
        '{"Blocks": 5}',
        '{"Blocks": [{"BlockType": "PAGE", "Id": "p", "Page": "x"}]}',
    ],
)  # fmt: skip
def test_bad_readings_have_a_code(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(VisualProofError) as caught:
        imported(file)
    assert caught.value.code == "READING_INVALID"


@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["Blocks", "pages", "elements", "tables", "BlockType", "Id", "Geometry",
                         "bbox", "page", "id", "width", "height", "cells"]), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_json_is_read_or_refused(tmp_path_factory: Any, body: Any) -> None:
    file = tmp_path_factory.mktemp("any") / "a.json"
    file.write_text(json.dumps(body))
    try:
        imported(file)
    except VisualProofError as error:
        assert error.code in ("READING_INVALID", "UNSUPPORTED_TYPE", "PAGE_TOO_LARGE")


def test_a_reading_is_told_from_a_document(tmp_path: Path) -> None:
    for text, known in (('  {"Blocks": []}', True), ("<!DOCTYPE html>", True), ("plain", False)):
        file = tmp_path / "a"
        file.write_text(text)
        if known:
            assert file_type(file).name == "READING"
        else:
            with pytest.raises(VisualProofError, match="UNSUPPORTED_TYPE"):
                file_type(file)
