"""Text that a file holds and the page does not show."""

from pathlib import Path

import pytest
from proving.pages import OPTIONS
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits
from visualproof_server.reading.tesseract import Tesseract


def pdf(content: str, rotate: int = 0) -> bytes:
    """One page of 400 x 300 points with a content stream, Helvetica as /F1."""
    stream = content.encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Rotate %d/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>" % rotate,
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % o for o in offsets)
    return out + b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n%d\n%%%%EOF" % start


VISIBLE = "BT /F1 24 Tf 40 220 Td (Total due 90.00) Tj ET "
TRICKS = {
    "white": "1 g BT /F1 24 Tf 40 120 Td (Secret 77.00) Tj ET",
    "almost white": "0.99 g BT /F1 24 Tf 40 120 Td (Secret 77.00) Tj ET",
    "invisible mode": "BT 3 Tr /F1 24 Tf 40 120 Td (Secret 77.00) Tj ET",
    "covered": "BT /F1 24 Tf 40 120 Td (Secret 77.00) Tj ET 0 g 30 110 300 40 re f",
    "off the page": "BT /F1 24 Tf 900 120 Td (Secret 77.00) Tj ET",
    "tiny": "BT /F1 0.5 Tf 40 120 Td (Secret 77.00) Tj ET",
}


@pytest.mark.parametrize("rotate", [0, 90])
@pytest.mark.parametrize("name", TRICKS)
def test_hidden_text_is_warned_of_and_never_read(tmp_path: Path, name: str, rotate: int) -> None:
    (tmp_path / "x.pdf").write_bytes(pdf(VISIBLE + TRICKS[name], rotate))
    page = read_page(tmp_path / "x.pdf", 1, OPTIONS, PageLimits(), Tesseract()).page
    assert page.hidden == "Secret 77.00"
    assert [w.code for w in page.warnings] == ["HIDDEN_TEXT"]
    text = " ".join(line.text for line in page.lines)
    assert "77" not in text
    if rotate == 0:
        assert "Total due 90.00" in text


def test_visible_text_is_no_alarm(tmp_path: Path) -> None:
    (tmp_path / "x.pdf").write_bytes(pdf(VISIBLE))
    page = read_page(tmp_path / "x.pdf", 1, OPTIONS, PageLimits(), Tesseract()).page
    assert (page.hidden, page.warnings) == ("", ())


def test_an_invisible_layer_over_a_scan_is_no_alarm(tmp_path: Path) -> None:
    over = "BT 3 Tr /F1 24 Tf 40 220 Td (Total due 90.00) Tj ET"
    (tmp_path / "x.pdf").write_bytes(pdf(VISIBLE + over))
    page = read_page(tmp_path / "x.pdf", 1, OPTIONS, PageLimits(), Tesseract()).page
    assert page.hidden == ""
