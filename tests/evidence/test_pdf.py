"""The annotated PDF, rendered: where the colour lies, and that nothing else changed."""

import io
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pikepdf
import pypdfium2
import pytest
from conftest import SHARED
from numpy.typing import NDArray
from proving.pages import OPTIONS
from visualproof_server.evidence.pdf import annotated_pdf
from visualproof_server.model.document import Document, MediaType, Page, Source
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import (
    Action,
    Evidence,
    FieldResult,
    Method,
    Reason,
    Report,
    Status,
)
from visualproof_server.reading.raster import raster_pdf
from visualproof_server.reading.source import PageLimits, count_pages, open_pdf, plan_pdf_page

EDGE = sorted((SHARED / "data" / "edge_pdfs").glob("*.pdf"))
LOOKS = (
    (Status.VERIFIED, Action.RELEASE),
    (Status.UNCERTAIN, Action.REVIEW),
    (Status.MISMATCH, Action.BLOCK),
)


def three_values(number: int, width: int, height: int) -> list[FieldResult]:
    """One of each action on a page."""
    size = max(4, height // 30)
    boxes = (
        Box(width // 10, height // 10, width // 10 + max(4, width // 5), height // 10 + size),
        Box(width // 2, height // 2, width // 2 + max(4, width // 4), height // 2 + size),
        Box(width // 3, height * 85 // 100, width * 2 // 3, height * 85 // 100 + size),
    )
    return [
        FieldResult(
            f"/p{number}/{action.name}", '"1.00"', "number", status, action,
            (Reason("VALUE_DIFFERS", "It is another one."),),
            (Evidence(number, ("L1.W1",), (box,), (quad_of(box),), "2.00", "", Method.EXACT, 1, 1),),
            "2.00",
        )
        for box, (status, action) in zip(boxes, LOOKS, strict=True)
    ]  # fmt: skip


def reported(pages: list[Page]) -> tuple[Document, Report]:
    document = number_document("d" * 32, "a" * 64, "reader/1", OPTIONS, tuple(pages))
    results = [r for p in pages if not p.failure for r in three_values(p.number, p.width, p.height)]
    return document, Report("d", "a", "r", "1", tuple(results), (), Action.BLOCK)


def planned(path: Path, password: str = "", most: int = 3) -> list[Page]:
    """The pages of a PDF as the reader sees them, at 100 dpi."""
    pages = []
    with open_pdf(path, password) as pdf:
        for number in range(1, min(len(pdf), most) + 1):
            plan = plan_pdf_page(pdf, number, 100, PageLimits())
            pages.append(
                Page(
                    number,
                    plan.label,
                    plan.width,
                    plan.height,
                    plan.width_pt,
                    plan.height_pt,
                    plan.rotation,
                    plan.dpi,
                    Source.OCR,
                    pdf_transform=plan.pdf_transform,
                )
            )
    return pages


def rendered(pdf: bytes, number: int, page: Page) -> NDArray[Any]:
    with pypdfium2.PdfDocument(pdf) as document:
        document.init_forms()
        shown = document[number - 1]
        scale = page.width / shown.get_size()[0]
        return np.asarray(shown.render(scale=scale).to_numpy()[:, :, :3].astype(int))


def without_marks(pdf: bytes) -> bytes:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        for page in opened.pages:
            if "/Annots" in page.obj:
                kept = [a for a in page.obj.Annots if str(a.get("/T", "")) != "visualproof"]
                page.obj.Annots = pikepdf.Array(kept)
        opened.save(out)
    return out.getvalue()


def assert_colour_lies_on_the_frames(made: bytes, document: Document, report: Report) -> None:
    plain = without_marks(made)
    first = document.pages[0].number
    for page in document.pages:
        if page.failure:
            continue
        marked = rendered(made, page.number - first + 1, page)
        ground = rendered(plain, page.number - first + 1, page)
        changed = np.abs(marked - ground).max(2) > 12
        assert abs(changed.shape[0] - page.height) <= 2
        near = np.zeros(changed.shape, bool)
        for result in report.results:
            (evidence,) = result.evidence
            if evidence.page != page.number:
                continue
            (box,) = evidence.boxes
            air = 3 + round(0.15 * box.height)
            near[
                max(0, box.top - air) : box.bottom + air, max(0, box.left - air) : box.right + air
            ] = True
            inside = slice(box.top, box.bottom), slice(box.left, box.right)
            # A highlight multiplies colours: on black nothing shows.
            if ground[inside].mean() > 80:
                assert changed[inside].mean() > 0.1, (page.number, result.path)
        assert not (changed & ~near).any(), page.number


def blank(rotate: int, user_unit: float = 1.0) -> bytes:
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=(300, 500))
        page = pdf.pages[0].obj
        page.CropBox = pikepdf.Array([40, 60, 260, 420])
        page.Rotate = rotate
        if user_unit != 1:
            page.UserUnit = user_unit
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("user_unit", [1.0, 2.5])
def test_turned_cropped_and_scaled_pages(tmp_path: Path, rotate: int, user_unit: float) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(blank(rotate, user_unit))
    before = path.read_bytes()
    document, report = reported(planned(path))
    made = annotated_pdf(path, "", document, report, lambda _: b"")
    assert_colour_lies_on_the_frames(made, document, report)
    assert path.read_bytes() == before
    assert made == annotated_pdf(path, "", document, report, lambda _: b"")


def test_notes_say_all_of_a_value(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(blank(0))
    document, report = reported(planned(path))
    made = annotated_pdf(path, "", document, report, lambda _: b"")
    with pikepdf.open(io.BytesIO(made)) as pdf:
        notes = [str(a.Contents) for a in pdf.pages[0].obj.Annots]
        assert {str(a.Subtype) for a in pdf.pages[0].obj.Annots} == {"/Highlight"}
        assert {int(a.F) for a in pdf.pages[0].obj.Annots} == {4}
    assert notes[2] == (
        'Field: p1.BLOCK\nExtracted: "1.00"\nPrinted: 2.00\nStatus: mismatch (block)\n'
        "VALUE_DIFFERS: It is another one."
    )


def test_annotations_that_pages_share_stay_with_their_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as pdf:
        for _ in range(2):
            pdf.add_blank_page(page_size=(300, 500))
        shared = pdf.make_indirect(pikepdf.Array([]))
        for page in pdf.pages:
            page.obj.Annots = shared
        pdf.save(path)
    document, report = reported(planned(path))
    made = annotated_pdf(path, "", document, report, lambda _: b"")
    with pikepdf.open(io.BytesIO(made)) as pdf:
        assert [len(p.obj.Annots) for p in pdf.pages] == [3, 3]


def jpeg(page: Page) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((page.height, page.width), 255, np.uint8))[1])


def test_images_become_a_pdf() -> None:
    pages = [
        Page(n, str(n), 600, 800, 432, 576, 0, 100, Source.OCR, pdf_transform=()) for n in (3, 4)
    ]
    document, report = reported(pages)
    made = annotated_pdf(None, "", document, report, lambda _: jpeg(pages[0]))
    assert_colour_lies_on_the_frames(made, document, report)


def test_an_encrypted_original_needs_its_password(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.open(io.BytesIO(blank(90))) as pdf:
        pdf.save(path, encryption=pikepdf.Encryption(user="secret", owner="other"))
    document, report = reported(planned(path, "secret"))
    copy = annotated_pdf(path, "secret", document, report, lambda _: b"")
    assert_colour_lies_on_the_frames(copy, document, report)
    images = annotated_pdf(path, "", document, report, lambda _: jpeg(document.pages[0]))
    assert_colour_lies_on_the_frames(images, document, report)


@pytest.mark.slow
@pytest.mark.skipif(not EDGE, reason="../shared is not there")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", EDGE, ids=lambda p: p.stem.removeprefix("edge_"))
def test_every_edge_pdf_that_opens(path: Path) -> None:
    try:
        count_pages(path, MediaType.PDF, "")
        pages = planned(path)
    except VisualProofError as error:
        pytest.skip(f"it does not open: {error.code}")
    document, report = reported(pages)

    def image_of(number: int) -> bytes:
        with open_pdf(path, "") as pdf:
            plan = plan_pdf_page(pdf, number, 100, PageLimits())
        return bytes(cv2.imencode(".jpg", raster_pdf(path, plan, "", PageLimits().raster).image)[1])

    made = annotated_pdf(path, "", document, report, image_of)
    assert_colour_lies_on_the_frames(made, document, report)
