"""What is done to a page before it is read, and the way back to the page as shown."""

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from visualproof_server.model.geometry import Quad
from visualproof_server.reading.raster import Grey

MIN_SKEW_DEGREES = 0.2
MAX_SKEW_DEGREES = 8.0
# Specks (up to 4 pixels) to each letter from which a page counts as speckled.
SPECKS_PER_LETTER = 2.0
# A 3 x 3 median wipes out thinner strokes than those of letters this high.
MIN_LETTER_FOR_MEDIAN_PX = 20.0
# Grey levels of dark ground and of the light print on it.
DARK, LIGHT = 120, 170
# Side of a square that no stroke of a letter fills, as a share of the page's shorter side.
BLOCK_SIDE = 0.008
# Dark share of a block's rim; large letters joined to one have 0.6 at most.
MIN_RIM = 0.65
# Spread of the background (p90 - p10 of its local level) from which light counts as uneven.
UNEVEN_LIGHT = 24.0


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An image for the reader. inverse maps its pixels to the page's: a 2 x 3 affine matrix.

    flattened: its light was evened, which can harm print on stains.
    """

    image: Grey
    inverse: NDArray[Any]
    flattened: bool = False

    def to_page(self, points: NDArray[Any]) -> NDArray[Any]:
        """N x 2 pixels of the cleaned image as pixels of the page."""
        moved: NDArray[Any] = points @ self.inverse[:, :2].T + self.inverse[:, 2]
        return moved

    def quad(self, left: float, top: float, right: float, bottom: float) -> Quad:
        """The outline on the page of an upright rectangle of the cleaned image."""
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        (a, b, c, d) = np.rint(self.to_page(corners)).astype(int).tolist()
        return (tuple(a), tuple(b), tuple(c), tuple(d))


def unchanged(page: Grey) -> Cleaned:
    return Cleaned(page, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))


def clean(page: Grey, flatten: bool = True) -> Cleaned:
    """Flattens light and removes speckle where measured, and deskews; never binarises.

    flatten: False leaves uneven light as it is.

    The figures behind each step are in docs/design.md.
    """
    image = _light_ground(page)
    background = _background(image)
    uneven = flatten and _spread(background) > UNEVEN_LIGHT
    if uneven:
        image = _flattened(image, background)
    if _speckled(image):
        image = cv2.medianBlur(image, 3)
    angle = skew_degrees(image)
    if abs(angle) < MIN_SKEW_DEGREES:
        return replace(unchanged(image), flattened=uneven)
    height, width = image.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    turned = cv2.warpAffine(
        image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return Cleaned(turned, cv2.invertAffineTransform(matrix), uneven)


def skew_degrees(image: Grey) -> float:
    """The turn (degrees, counter-clockwise) that makes text lines level, 0 if none is clear.

    Projection profile: the angle whose row sums of ink vary most (Postl 1986), searched coarse
    to fine on a reduced image.
    """
    scale = min(1.0, 1000.0 / max(image.shape))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    ink = cv2.adaptiveThreshold(small, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 15)
    # Rules and pictures would outvote the text.
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    big = np.nonzero(
        (stats[:, cv2.CC_STAT_WIDTH] > small.shape[1] * 0.2)
        | (stats[:, cv2.CC_STAT_HEIGHT] > small.shape[0] * 0.05)
    )[0]
    if 0 < len(big) < count:
        keep = np.ones(count, dtype=np.uint8)
        keep[big] = 0
        ink = keep[labels]
    ys, xs = np.nonzero(ink)
    if len(xs) < 200:
        return 0.0
    if len(xs) > 60_000:
        every = len(xs) // 60_000 + 1
        ys, xs = ys[::every], xs[::every]

    def sharpness(angle: float) -> float:
        radians = np.deg2rad(angle)
        rows = ys * np.cos(radians) - xs * np.sin(radians)
        profile = np.bincount((rows - rows.min()).astype(np.int64))
        return float(np.sum(np.square(np.diff(profile.astype(np.float64)))))

    level = sharpness(0.0)
    best, best_score = 0.0, level
    for step, reach in ((0.5, MAX_SKEW_DEGREES), (0.1, 0.4)):
        centre = best
        for angle in np.arange(centre - reach, centre + reach + step / 2, step):
            score = sharpness(float(angle))
            if score > best_score:
                best, best_score = float(angle), score
    # Without a clear gain the lines are level, or there are none.
    return best if best_score > level * 1.1 and abs(best) < MAX_SKEW_DEGREES else 0.0


def _light_ground(image: Grey) -> Grey:
    """The image with light print on dark blocks turned to dark print on light ones.

    Engines read the one far better than the other. A block is solid dark over more than the
    strokes of letters, has a dark rim (large letters have none) and holds some light print;
    pictures hardly pass, and hold no words.
    """
    side = max(9, round(min(image.shape) * BLOCK_SIDE))
    dark = (image < DARK).astype(np.uint8)
    kernel = np.ones((side // 2 | 1, side | 1), np.uint8)
    solid = cv2.morphologyEx(dark, cv2.MORPH_OPEN, kernel)
    if not solid.any():
        return image
    # Letters cut a block to pieces: what lies close together is one.
    joined = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((side, 3 * side), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    out = image
    for left, top, width, height, _ in stats[1:count]:
        if width < 2 * side or height < side:
            continue
        block = image[top : top + height, left : left + width]
        light = float((block > LIGHT).mean())
        rim = np.concatenate([block[:2].ravel(), block[-2:].ravel(), block[:, 0], block[:, -1]])
        if (rim < DARK).mean() > MIN_RIM and (block < DARK).mean() > 0.6 and 0.01 < light < 0.35:
            if out is image:
                out = image.copy()
            # White strips between blocks stay white.
            strips = (block > LIGHT).mean(axis=0) > 0.75
            out[top : top + height, left : left + width] = np.where(strips, block, 255 - block)
    return out


def _background(image: Grey) -> Grey:
    scale = min(1.0, 300.0 / max(image.shape))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    opened = cv2.dilate(small, np.ones((5, 5), np.uint8))
    return cv2.medianBlur(opened, 11)


def _spread(background: Grey) -> float:
    low, high = np.percentile(background, [10, 90])
    # Large dark areas are design, not shadow.
    return float(high - low) if low > 90 else 0.0


def _flattened(image: Grey, background: Grey) -> Grey:
    height, width = image.shape
    background = cv2.resize(background, (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.divide(image, np.maximum(background, 1), scale=255)


def _speckled(image: Grey) -> bool:
    """Whether most marks are specks, and letters large enough to survive a median filter."""
    top, left = (max(0, (side - 1000) // 2) for side in image.shape)
    middle = np.ascontiguousarray(image[top : top + 1000, left : left + 1000])
    ink = cv2.adaptiveThreshold(
        middle, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 20
    )
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    areas, heights = stats[1:, cv2.CC_STAT_AREA], stats[1:, cv2.CC_STAT_HEIGHT]
    letters = heights[(heights >= 10) & (heights < 120)]
    if len(letters) < 20 or np.median(letters) < MIN_LETTER_FOR_MEDIAN_PX:
        return False
    return int((areas <= 4).sum()) > SPECKS_PER_LETTER * len(letters)
