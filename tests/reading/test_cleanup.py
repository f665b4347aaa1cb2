"""Clean-up: what it finds, and the way back."""

import cv2
import numpy as np
import pytest
from visualproof_server.reading.cleanup import clean, skew_degrees


def lines_of_text(angle: float) -> np.ndarray:
    page = np.full((1000, 800), 255, np.uint8)
    for row in range(8, 56):
        cv2.putText(page, "The quick brown fox jumps", (60, row * 17), 0, 0.6, 0, 1, cv2.LINE_AA)
    matrix = cv2.getRotationMatrix2D((400, 500), angle, 1)
    return cv2.warpAffine(page, matrix, (800, 1000), borderValue=(255,))


@pytest.mark.parametrize("angle", [-4.0, -1.0, 0.5, 3.0])
def test_skew_is_measured(angle: float) -> None:
    assert skew_degrees(lines_of_text(angle)) == pytest.approx(-angle, abs=0.25)


def test_level_and_empty_pages_are_left_alone() -> None:
    assert abs(skew_degrees(lines_of_text(0.0))) < 0.2
    assert skew_degrees(np.full((500, 500), 255, np.uint8)) == 0.0


def test_points_lead_back_to_the_page() -> None:
    page = lines_of_text(2.0)
    cv2.rectangle(page, (300, 400), (330, 420), 0, -1)
    cleaned = clean(page)
    ys, xs = np.nonzero(cv2.erode(255 - cleaned.image, np.ones((9, 9), np.uint8)) > 200)
    back = cleaned.to_page(np.array([[xs.mean(), ys.mean()]]))[0]
    assert back == pytest.approx([315, 410], abs=2.0)


def test_uneven_light_is_flattened() -> None:
    page = lines_of_text(0.0).astype(np.float32) * np.linspace(1.0, 0.5, 800, dtype=np.float32)
    flat = clean(page.astype(np.uint8)).image
    assert np.percentile(flat[:, -100:], 90) > 240


def test_small_print_is_not_filtered_away() -> None:
    page = lines_of_text(0.0)
    small = cv2.resize(page, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
    assert np.array_equal(clean(small).image, small)
