"""text_layer=VISIBLE: words whose ink is proven, the rest by OCR, values again from pixels."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from proving.pages import OPTIONS
from reading.sheet import FONT
from reading.test_textlayer import TRICKS, VISIBLE, pdf
from visualproof_server.model.document import Page, Source, TextLayer
from visualproof_server.model.geometry import x_overlap, y_overlap
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldResult, FieldSpec, Status
from visualproof_server.model.request import ProveRequest
from visualproof_server.proving.prove import Index, prove
from visualproof_server.reading import reader
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.second_reading import second_readings
from visualproof_server.reading.source import PageLimits
from visualproof_server.reading.tesseract import Tesseract
from visualproof_server.reading.visible import NAME

READ = replace(OPTIONS, text_layer=TextLayer.VISIBLE)
ENGINE = Tesseract()


def read(tmp_path: Path, content: bytes) -> reader.ReadPage:
    (tmp_path / "x.pdf").write_bytes(content)
    return reader.read_page(tmp_path / "x.pdf", 1, READ, PageLimits(), ENGINE)


def verified(made: reader.ReadPage, value: object, kind: str) -> FieldResult:
    """The value asked of the page, with second readings of its pixels."""
    document = number_document("d" * 16, "a" * 64, "reader/1", READ, (made.page,))
    image = reader.decode(made.image)
    answer = json.dumps({"a": value}).encode()
    report = prove(
        Index(document), answer, ProveRequest(fields=(FieldSpec("/a", kind),)),
        lambda places: second_readings(image, places, ("eng",), {"tesseract": ENGINE}),
    )  # fmt: skip
    return report.results[0]


def texts(page: Page) -> list[str]:
    return [line.text for line in page.lines]


def test_visible_words_come_from_the_layer_and_prove_values(tmp_path: Path) -> None:
    made = read(tmp_path, pdf(VISIBLE))
    assert texts(made.page) == ["Total due 90.00"]
    assert {w.engine for w in made.page.words} == {NAME}
    assert (made.page.source, made.page.hidden) == (Source.TEXT_LAYER, "")
    assert verified(made, 90, "money").status is Status.VERIFIED


@pytest.mark.parametrize("extra", ["", "/CropBox[20 150 380 280]", "/UserUnit 2"])
@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_lie_on_the_ink_at_any_turn(tmp_path: Path, rotate: int, extra: str) -> None:
    content = pdf(VISIBLE, rotate).replace(b"/Rotate", extra.encode() + b"/Rotate")
    made = read(tmp_path, content)
    image = reader.decode(made.image)
    assert sorted(w.text for w in made.page.words) == ["90.00", "Total", "due"]
    for word in made.page.words:
        b = word.box
        inside = image[b.top : b.bottom, b.left : b.right]
        around = image[b.top - 6 : b.bottom + 6, b.left - 6 : b.right + 6]
        assert (inside < 128).sum() > 0.85 * (around < 128).sum() > 0
    # The same places by OCR, from the other renderer.
    (tmp_path / "y.pdf").write_bytes(content)
    ocr = reader.read_page(tmp_path / "y.pdf", 1, OPTIONS, PageLimits(), ENGINE).page
    sides = (made.page.width, made.page.height)
    # Print that stands on its side is turned upright.
    assert (ocr.width, ocr.height) == sides[:: -1 if (ocr.rotation - rotate) % 180 else 1]
    if rotate == 0:
        seen = {w.text: w.box for w in made.page.words}
        for word in ocr.words:
            b = seen[word.text]
            shared = x_overlap(b, word.box) * y_overlap(b, word.box)
            assert shared > 0.7 * b.width * b.height


@pytest.mark.parametrize("name", TRICKS)
def test_hidden_text_is_no_word(tmp_path: Path, name: str) -> None:
    made = read(tmp_path, pdf(VISIBLE + TRICKS[name]))
    assert texts(made.page) == ["Total due 90.00"]
    assert made.page.hidden == "Secret 77.00"
    assert verified(made, 77, "money").status is Status.NOT_FOUND


def test_text_hidden_under_other_text_is_read_from_pixels(tmp_path: Path) -> None:
    # Covered first, then other words printed on top: both leave a trace in the layer.
    under = "BT /F1 24 Tf 40 120 Td (Sum 77.00) Tj ET 1 g 30 110 300 40 re f 0 g "
    over = "BT /F1 24 Tf 40 120 Td (Sum 99.00) Tj ET"
    made = read(tmp_path, pdf(VISIBLE + under + over))
    assert texts(made.page) == ["Total due 90.00", "Sum 99.00"]
    assert verified(made, 77, "money").status is not Status.VERIFIED
    assert verified(made, 99, "money").status is Status.VERIFIED


def remapped(content: str = VISIBLE) -> bytes:
    """A page whose font draws 9 and 0 and tells the layer 7, by its ToUnicode map."""
    plain = pdf(content)
    ranges = b"2 beginbfchar <39> <0037> <30> <0037> endbfchar"
    whole = b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <31> <38> <0031> endbfrange "
    letters = b"1 beginbfrange <41> <7A> <0041> endbfrange 1 beginbfchar <2E> <002E> endbfchar "
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        + whole + letters + ranges + b" endcmap CMapName currentdict /CMap defineresource pop end end"
    )  # fmt: skip
    head, _, _ = plain.partition(b"xref\n")
    head = head.replace(b"/BaseFont/Helvetica>>", b"/BaseFont/Helvetica/ToUnicode 6 0 R>>")
    return (
        head
        + b"6 0 obj<</Length %d>>stream\n%s\nendstream endobj\n" % (len(cmap), cmap)
        + b"trailer<</Root 1 0 R/Size 7>>\n%%EOF"
    )


def test_a_font_that_says_other_digits_than_it_draws(tmp_path: Path) -> None:
    made = read(tmp_path, remapped())
    assert "90.00" not in " ".join(texts(made.page))
    claimed = texts(made.page)[0].split()[-1]
    result = verified(made, claimed, "money")
    assert (result.status, [r.code for r in result.reasons]) == (
        Status.UNCERTAIN,
        ["PIXELS_DIFFER"],
    )


class FromZero:
    """An engine that numbers its lines from 0, as the text layer's could be."""

    name, version = "zero", "1"

    @property
    def scout(self) -> OcrEngine:
        return self

    def languages(self) -> tuple[str, ...]:
        return ENGINE.languages()

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        return [replace(w, line=0) for w in ENGINE.read(image, languages, dpi)]

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        return ENGINE.read_lines(images, languages)


def test_lines_of_the_layer_and_of_an_engine_stay_apart(tmp_path: Path) -> None:
    under = "BT /F1 24 Tf 40 120 Td (Sum 77.00) Tj ET 1 g 30 110 300 40 re f 0 g "
    over = "BT /F1 24 Tf 40 120 Td (Paid 99.00) Tj ET"
    (tmp_path / "x.pdf").write_bytes(pdf(VISIBLE + under + over))
    page = reader.read_page(tmp_path / "x.pdf", 1, READ, PageLimits(), FromZero()).page
    assert texts(page) == ["Total due 90.00", "Paid 99.00"]


def test_a_layer_that_differs_from_the_page_is_warned_of(tmp_path: Path) -> None:
    lines = "".join(
        f"BT /F1 18 Tf 40 {250 - 30 * n} Td (Item {n} costs {90 + n}09.{n}0) Tj ET "
        for n in range(6)
    )
    for content, expected in ((pdf(lines), []), (remapped(lines), ["TEXT_MISMATCH"])):
        (tmp_path / "x.pdf").write_bytes(content)
        page = reader.read_page(tmp_path / "x.pdf", 1, OPTIONS, PageLimits(), ENGINE).page
        assert [w.code for w in page.warnings] == expected
        assert "Item 1 costs 9109.10" in texts(page)


def test_pictures_of_text_are_read_beside_the_layer(tmp_path: Path) -> None:
    picture = Image.new("L", (900, 120), 255)
    font = ImageFont.truetype(FONT.path, 64)
    ImageDraw.Draw(picture).text((20, 20), "Paid 12.50", 0, font)
    stamp = io.BytesIO()
    picture.save(stamp, "PDF", resolution=216)
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(VISIBLE)))
    writer.pages[0].merge_translated_page(pypdf.PdfReader(stamp).pages[0], 40, 100)
    out = io.BytesIO()
    writer.write(out)
    made = read(tmp_path, out.getvalue())
    assert texts(made.page) == ["Total due 90.00", "Paid 12.50"]
    assert [w.engine for w in made.page.words][-2:] == ["tesseract", "tesseract"]
