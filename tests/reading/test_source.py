"""Files as they come: types, geometry, bad ones."""

from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from visualproof_server.model.document import MediaType
from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading import reader, source
from visualproof_server.reading.raster import raster_image, raster_pdf

LIMITS = source.PageLimits()


def blank_pdf(path: Path, *sizes: tuple[float, float]) -> Path:
    pdf = pypdfium2.PdfDocument.new()
    for width, height in sizes:
        pdf.new_page(width, height)
    pdf.save(str(path))
    pdf.close()
    return path


def code_of(action: object, *args: object) -> str:
    with pytest.raises(VisualProofError) as caught:
        action(*args)  # type: ignore[operator]
    return caught.value.code


@pytest.mark.parametrize(
    ("suffix", "media"),
    [
        ("png", MediaType.PNG),
        ("jpg", MediaType.JPEG),
        ("webp", MediaType.WEBP),
        ("tif", MediaType.TIFF),
        ("gif", MediaType.GIF),
    ],
)
def test_types_by_magic_bytes(tmp_path: Path, suffix: str, media: MediaType) -> None:
    file = tmp_path / "misnamed.pdf"
    Image.new("L", (40, 40), 255).save(
        file, format={"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper())
    )
    assert reader.file_type(file) is media


def test_empty_text_truncated_and_pageless(tmp_path: Path) -> None:
    empty, text, cut = tmp_path / "a", tmp_path / "b.pdf", tmp_path / "c"
    empty.write_bytes(b"")
    text.write_text("This is no PDF.")
    cut.write_bytes(b"%PDF-1.7\n1 0 obj")
    pageless = tmp_path / "d"
    pageless.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF"
    )
    assert code_of(reader.pages_of, empty, "") == "EMPTY_FILE"
    assert code_of(reader.pages_of, text, "") == "UNSUPPORTED_TYPE"
    assert code_of(reader.pages_of, cut, "") == "FILE_CORRUPT"
    assert code_of(reader.pages_of, pageless, "") in ("NO_PAGES", "FILE_CORRUPT")


def test_frames_are_pages(tmp_path: Path) -> None:
    frames = [Image.new("L", (50, 60 + n), 255) for n in range(3)]
    frames[0].save(tmp_path / "x.tif", save_all=True, append_images=frames[1:])
    assert reader.pages_of(tmp_path / "x.tif", "") == 3
    with source.open_image(tmp_path / "x.tif") as image:
        assert source.plan_image(image, 3, LIMITS).height == 62


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "code"), [((1, 1), "PAGE_TOO_SMALL"), ((30_000, 30_000), "PAGE_TOO_LARGE")]
)
def test_image_sizes_are_checked_before_decoding(
    tmp_path: Path, size: tuple[int, int], code: str
) -> None:
    Image.new("1", size, 1).save(tmp_path / "x.png")
    with source.open_image(tmp_path / "x.png") as image:
        assert code_of(source.plan_image, image, 1, LIMITS) == code


def test_a_large_page_is_read_at_a_lower_resolution_down_to_72(tmp_path: Path) -> None:
    blank_pdf(tmp_path / "x.pdf", (72 * 40, 72 * 40), (72 * 200, 72 * 200))
    with source.open_pdf(tmp_path / "x.pdf", "") as pdf:
        plan = source.plan_pdf_page(pdf, 1, 300, LIMITS)
        assert plan.lowered
        assert plan.width * plan.height <= LIMITS.pixels * 1.01
        assert code_of(source.plan_pdf_page, pdf, 2, 300, LIMITS) == "PAGE_TOO_LARGE"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (100.0, 150.0, 500.0, 650.0)])
def test_what_is_drawn_lies_where_the_transform_says(
    tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    # A black square in user space, through rotation and crop, against the ink of the raster.
    path = tmp_path / "x.pdf"
    pdf = pypdfium2.PdfDocument.new()
    page = pdf.new_page(600, 800)
    square = Image.new("L", (10, 10), 0)
    drawn = pypdfium2.PdfImage.new(pdf)
    drawn.set_bitmap(pypdfium2.PdfBitmap.from_pil(square))
    drawn.set_matrix(pypdfium2.PdfMatrix().scale(40, 20).translate(200, 300))
    page.insert_obj(drawn)
    page.gen_content()
    page.set_rotation(rotation)
    if crop is not None:
        page.set_cropbox(*crop)
    pdf.save(str(path))
    pdf.close()
    with source.open_pdf(path, "") as opened:
        plan = source.plan_pdf_page(opened, 1, 144, LIMITS)
    ys, xs = np.nonzero(raster_pdf(path, plan, "", LIMITS.raster).image < 128)
    a, b, c, d, e, f = plan.pdf_transform
    corners = [
        (a * x / plan.width + c * y / plan.height + e, b * x / plan.width + d * y / plan.height + f)
        for x, y in ((xs.min(), ys.min()), (xs.max() + 1, ys.max() + 1))
    ]
    us, vs = sorted(p[0] for p in corners), sorted(p[1] for p in corners)
    assert np.allclose([*us, *vs], [200, 240, 300, 320], atol=1.0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_is_applied_once(tmp_path: Path, orientation: int) -> None:
    # Stored so that the displayed page has its ink in the top left corner.
    upright = Image.new("L", (80, 40), 255)
    upright.paste(0, (0, 0, 20, 10))
    back = {1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
            4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90,
            7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270}[orientation]  # fmt: skip
    stored = upright if back is None else upright.transpose(back)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "x.png", exif=exif)
    with source.open_image(tmp_path / "x.png") as image:
        plan = source.plan_image(image, 1, LIMITS)
        grey = raster_image(tmp_path / "x.png", image, plan).image
    assert grey.shape == (40, 80)
    ys, xs = np.nonzero(grey < 128)
    assert (ys.max(), xs.max()) == (9, 19)


def test_alpha_is_white_paper_and_16_bits_are_scaled(tmp_path: Path) -> None:
    Image.new("RGBA", (40, 40), (0, 0, 0, 0)).save(tmp_path / "a.png")
    Image.fromarray(np.full((40, 40), 40_000, np.uint16)).save(tmp_path / "b.png")
    for name, low, high in (("a.png", 255, 255), ("b.png", 150, 160)):
        with source.open_image(tmp_path / name) as image:
            grey = raster_image(tmp_path / name, image, source.plan_image(image, 1, LIMITS)).image
        assert low <= int(grey.min()) <= int(grey.max()) <= high
