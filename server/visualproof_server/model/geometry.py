"""Places on a page: integer pixels of the page as a viewer shows it, origin top left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle in pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Vertical centre."""
        return (self.top + self.bottom) / 2


Quad = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]
"""Four corners in pixels, clockwise from the top left of the text."""
Point = tuple[float, float]


def union(boxes: tuple[Box, ...] | list[Box]) -> Box:
    """The smallest box around at least one box."""
    return Box(
        min(b.left for b in boxes),
        min(b.top for b in boxes),
        max(b.right for b in boxes),
        max(b.bottom for b in boxes),
    )


def clipped(box: Box, width: int, height: int) -> Box:
    """The part of a box that lies on a page of that size."""
    left, top = clipped_point((box.left, box.top), width, height)
    right, bottom = clipped_point((box.right, box.bottom), width, height)
    return Box(left, top, right, bottom)


def clipped_point(point: tuple[int, int], width: int, height: int) -> tuple[int, int]:
    return min(max(point[0], 0), width), min(max(point[1], 0), height)


def clipped_quad(quad: Quad, width: int, height: int) -> Quad:
    a, b, c, d = (clipped_point(point, width, height) for point in quad)
    return a, b, c, d


def quad_of(box: Box) -> Quad:
    return (
        (box.left, box.top),
        (box.right, box.top),
        (box.right, box.bottom),
        (box.left, box.bottom),
    )


def box_of(quad: Quad) -> Box:
    """The smallest upright box around an outline."""
    xs, ys = [x for x, _ in quad], [y for _, y in quad]
    return Box(min(xs), min(ys), max(xs), max(ys))


def span_quad(quads: Sequence[Quad]) -> Quad:
    """The outline of a run of words, along their common direction."""
    if all(quad == quad_of(box_of(quad)) for quad in quads):
        return quad_of(union([box_of(quad) for quad in quads]))
    # Corners are whole pixels: the upper and lower sides of all words together err least.
    dx = sum(b[0] - a[0] + c[0] - d[0] for a, b, c, d in quads)
    dy = sum(b[1] - a[1] + c[1] - d[1] for a, b, c, d in quads)
    length = math.hypot(dx, dy) or 1.0
    cos, sin = dx / length, dy / length
    along = [x * cos + y * sin for quad in quads for x, y in quad]
    across = [y * cos - x * sin for quad in quads for x, y in quad]
    corners = (
        (min(along), min(across)),
        (max(along), min(across)),
        (max(along), max(across)),
        (min(along), max(across)),
    )
    a, b, c, d = ((round(u * cos - v * sin), round(u * sin + v * cos)) for u, v in corners)
    return a, b, c, d


def moved_out(corners: Sequence[Point], by: float) -> list[Point]:
    """Four corners, in a quad's order, of the outline whose sides lie `by` further out."""
    (ax, ay), (bx, by_), _, (dx, dy) = corners
    across, down = math.dist((ax, ay), (bx, by_)) or 1.0, math.dist((ax, ay), (dx, dy)) or 1.0
    rx, ry = (bx - ax) / across * by, (by_ - ay) / across * by
    ux, uy = (dx - ax) / down * by, (dy - ay) / down * by
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [
        (x + i * rx + j * ux, y + i * ry + j * uy)
        for (x, y), (i, j) in zip(corners, signs, strict=True)
    ]


def grown(quad: Quad, by: float) -> Quad:
    """A quad whose sides lie `by` pixels further out."""
    a, b, c, d = ((round(x), round(y)) for x, y in moved_out(quad, by))
    return a, b, c, d


def x_overlap(a: Box, b: Box) -> int:
    """Shared width in pixels, 0 when apart."""
    return max(0, min(a.right, b.right) - max(a.left, b.left))


def y_overlap(a: Box, b: Box) -> int:
    """Shared height in pixels, 0 when apart."""
    return max(0, min(a.bottom, b.bottom) - max(a.top, b.top))
