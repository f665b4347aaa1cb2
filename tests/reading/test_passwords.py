"""Passwords beyond ASCII open what they were set for, however the file's revision spells them."""

import io
from pathlib import Path

import pikepdf
import pikepdf.codec
import pytest
from conftest import SHARED
from proving.pages import printed
from visualproof_server.evidence.pdf import annotated_pdf
from visualproof_server.model.document import MediaType
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.passwords import spellings
from visualproof_server.model.report import Action, Report
from visualproof_server.reading.children import RASTER
from visualproof_server.reading.raster import raster_pdf
from visualproof_server.reading.source import (
    PageLimits,
    count_pages,
    open_pdf,
    plan_pdf_page,
)

EURO = SHARED / "cases" / "pages" / "password-pdfdoc-euro.pdf"


def encrypted(folder: Path, password: str, revision: int) -> Path:
    pdf = pikepdf.new()
    pdf.add_blank_page(page_size=(200, 200))
    # qpdf takes a revision's own bytes only as Latin-1 text.
    raw = password if revision > 4 else password.encode("pdfdoc").decode("latin-1")
    file = folder / "file.pdf"
    pdf.save(
        file,
        encryption=pikepdf.Encryption(
            owner="owner", user=raw, R=revision,  # type: ignore[arg-type]
            aes=revision > 3, metadata=revision > 3
        ),
    )  # fmt: skip
    return file


def test_our_table_is_pdfs() -> None:
    for code in range(256):
        try:
            char = bytes([code]).decode("pdfdoc")
        except UnicodeDecodeError:
            continue
        assert bytes([code]) in spellings(char)


CASES = [
    *((text, revision) for revision in (2, 3, 4, 6) for text in ("secret", "pässwört", "ÿ¡ÿ", "Ã¼")),
    *((text, 6) for text in ("süß€1", "日本語", "пароль", "a\u0308", "🔒", "ﬁ", "€" * 42)),
]  # fmt: skip


@pytest.mark.parametrize(("password", "revision"), CASES)
def test_the_right_password_opens(password: str, revision: int, tmp_path: Path) -> None:
    file = encrypted(tmp_path, password, revision)
    assert count_pages(file, MediaType.PDF, password) == 1
    for wrong in (f"{password}x", "€"):
        with pytest.raises(VisualProofError) as caught:
            count_pages(file, MediaType.PDF, wrong)
        assert caught.value.code == "PDF_PASSWORD_WRONG"
    with pytest.raises(VisualProofError) as caught:
        count_pages(file, MediaType.PDF, "")
    assert caught.value.code == "PDF_ENCRYPTED"


@pytest.mark.skipif(not EURO.exists(), reason="../shared is not there")
def test_a_euro_sign_opens_revision_4() -> None:
    password = "süß€1"
    with open_pdf(EURO, password) as pdf:
        plan = plan_pdf_page(pdf, 1, 100, PageLimits())
    assert int(raster_pdf(EURO, plan, password, RASTER).image.min()) < 100
    report = Report("d", "", "", "", (), (), Action.BLOCK)
    document = printed(["x"])
    made = annotated_pdf(EURO, password, document, report, lambda number: b"")
    with pikepdf.open(io.BytesIO(made)) as copy:
        assert len(copy.pages) == 1
