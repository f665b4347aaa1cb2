"""Images with the right first bytes and a broken rest: a page, or an error that says what is wrong."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from visualproof_server.model.errors import VisualProofError
from visualproof_server.reading.raster import raster_image
from visualproof_server.reading.reader import file_type
from visualproof_server.reading.source import PageLimits, count_pages, open_image, plan_image

from documents.broken_images import BROKEN, image

CODES = {"FILE_CORRUPT", "NO_PAGES", "PAGE_TOO_SMALL", "PAGE_TOO_LARGE", "RASTER_FAILED"}


def looked_at(data: bytes, folder: Path) -> str:
    """What becomes of an image, as the worker goes through it: READ or a code."""
    file = folder / "image"
    file.write_bytes(data)
    try:
        media = file_type(file)
        for number in range(1, min(count_pages(file, media, ""), 3) + 1):
            with open_image(file) as opened:
                raster_image(file, opened, plan_image(opened, number, PageLimits()))
    except VisualProofError as error:
        return error.code
    return "READ"


# Pillow warns of what it mends; a worker does not mind.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_image_is_read_or_has_a_code(name: str, tmp_path: Path) -> None:
    assert looked_at(BROKEN[name](), tmp_path) in CODES | {"READ"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "TIFF", "GIF"])
def test_any_damage_is_read_or_has_a_code(format: str, tmp_path: Path) -> None:
    whole = image(format)

    @given(st.lists(st.tuples(st.integers(4, 200), st.integers(0, 255)), min_size=1, max_size=6))
    @settings(max_examples=150, deadline=None)
    def run(changes: list[tuple[int, int]]) -> None:
        data = bytearray(whole)
        for place, value in changes:
            data[place % len(data)] = value
        assert looked_at(bytes(data), tmp_path) in CODES | {"READ", "UNSUPPORTED_TYPE"}

    run()
