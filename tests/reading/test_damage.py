"""Pages that lack something are found out, and sound ones are left alone."""

import io
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from conftest import EXAMPLE, SHARED
from documents.damaged import DAMAGED, sound
from PIL import Image
from visualproof_server.model.document import TextLayer
from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading import source
from visualproof_server.reading.damage import is_damaged
from visualproof_server.reading.jpeg import is_broken_jpeg
from visualproof_server.reading.raster import is_doubted_by_poppler, raster_image, raster_pdf

LIMITS = source.PageLimits()
# Sound files of the shared data that are marked, and why.
KNOWN = {
    # Its content is not in the file.
    ("edge_blank_page__qpdf_incremental_3.pdf", 1),
    # Korean text in a font that is not embedded, where poppler has no data for it.
    ("edge_covered_text__pdfjs_bug1771477.pdf", 1),
    # A content stream whose length is wrong.
    ("edge_tiny_or_extreme_page__pdfium_form_object.pdf", 1),
    # Its attachments are encrypted; pikepdf does not open it without their password.
    ("edge_encrypted_open_password_unknown__pdfjs_auth_event_ef_open.pdf", 1),
}


def doubted(path: Path, number: int = 1, layer: TextLayer = TextLayer.IGNORED) -> bool:
    """As reader.read_page finds it, without reading."""
    with source.open_pdf(path, "") as pdf:
        plan = source.plan_pdf_page(pdf, number, 72, LIMITS)
    if layer is TextLayer.VISIBLE:
        said = is_doubted_by_poppler(path, number, "", LIMITS.raster)
    else:
        said = raster_pdf(path, plan, "", LIMITS.raster).doubtful
    return said or is_damaged(path, number, "", plan.of_pages)


@pytest.mark.parametrize("layer", [TextLayer.IGNORED, TextLayer.VISIBLE])
@pytest.mark.parametrize("made", DAMAGED, ids=lambda made: made.__name__)
def test_a_page_that_lacks_something_is_doubted(
    tmp_path: Path, made: Callable[[], bytes], layer: TextLayer
) -> None:
    path = tmp_path / "file.pdf"
    path.write_bytes(made())
    assert doubted(path, layer=layer)


@pytest.mark.parametrize("layer", [TextLayer.IGNORED, TextLayer.VISIBLE])
def test_sound_pages_are_not(tmp_path: Path, layer: TextLayer) -> None:
    path = tmp_path / "file.pdf"
    path.write_bytes(sound())
    assert not doubted(path, layer=layer)
    assert not doubted(EXAMPLE / "invoice.pdf", layer=layer)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
def test_real_files_are_marked_for_a_reason_only() -> None:
    marked, seen = set(), 0
    for path in sorted((SHARED / "data").rglob("*.pdf")):
        try:
            with pypdfium2.PdfDocument(path) as pdf:
                pages = range(1, min(len(pdf), 5) + 1)
        except pypdfium2.PdfiumError:
            continue
        for number in pages:
            try:
                seen += 1
                if doubted(path, number, TextLayer.VISIBLE):
                    marked.add((path.name, number))
            except VisualProofError:
                continue
    assert seen > 150
    assert marked <= KNOWN


def _doubted_image(path: Path) -> bool:
    with source.open_image(path) as image:
        return raster_image(path, image, source.plan_image(image, 1, LIMITS)).doubtful


def test_a_fax_with_codes_that_are_none_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "fax.tif"
    with Image.open(EXAMPLE / "scan.jpg") as scan:
        scan.convert("1").save(path, compression="group4")
    assert not _doubted_image(path)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + b"\xff\x00" * 20 + data[middle + 40 :])
    assert _doubted_image(path)


def test_a_jpeg_with_codes_that_are_none_is_doubted(tmp_path: Path) -> None:
    data = (EXAMPLE / "scan.jpg").read_bytes()
    path = tmp_path / "scan.jpg"
    path.write_bytes(data)
    assert not _doubted_image(path)
    middle = len(data) // 2
    path.write_bytes(data[:middle] + b"\0" * 200 + data[middle + 200 :])
    assert _doubted_image(path)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_sound_jpegs_of_all_kinds_are_whole(mode: str, progressive: bool) -> None:
    out = io.BytesIO()
    Image.effect_noise((300, 200), 60).convert(mode).save(out, "JPEG", progressive=progressive)
    assert not is_broken_jpeg(out.getvalue())
    assert is_broken_jpeg(out.getvalue()[:-500])
    assert is_broken_jpeg(b"")
