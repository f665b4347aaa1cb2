"""Pages whose print stands the wrong way up."""

from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE
from PIL import Image
from proving.pages import OPTIONS
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits, PagePlan
from visualproof_server.reading.tesseract import Tesseract
from visualproof_server.reading.turn import turned, turned_plan

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_scan_is_shown_and_read_upright(tmp_path: Path, degrees: int) -> None:
    scan = Image.open(EXAMPLE / "scan.jpg")
    scan.rotate(degrees, expand=True).save(tmp_path / "x.png")
    read = read_page(tmp_path / "x.png", 1, OPTIONS, PageLimits(), Tesseract())
    assert (read.page.width, read.page.height) == scan.size
    assert read.page.rotation == degrees
    text = " ".join(line.text for line in read.page.lines)
    assert "Invoice number: INV-2026-0417" in text
    assert "16,020.00" in text


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_the_way_back_to_points_follows_the_turn(degrees: int) -> None:
    # A mark at fractions (0.25, 0.1) of the page as displayed, 200 x 100 points, origin below.
    image = np.zeros((100, 200), np.uint8)
    image[10, 50] = 255
    plan = PagePlan(1, "1", 200, 100, 200, 100, 0, 72, (200.0, 0.0, 0.0, -100.0, 0.0, 100.0))
    upright, page = turned(image, degrees), turned_plan(plan, degrees)
    (y,), (x,) = np.nonzero(upright)
    a, b, c, d, e, f = page.pdf_transform
    u, v = (x + 0.5) / page.width, (y + 0.5) / page.height
    assert (a * u + c * v + e, b * u + d * v + f) == pytest.approx((50.5, 89.5))
