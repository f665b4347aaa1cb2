"""Places on a page: integer pixels of the page as a viewer shows it, origin top left."""

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


def span_quad(first: Quad, last: Quad) -> Quad:
    """The outline of a run of words, from its first and last word's outlines."""
    return (first[0], last[1], last[2], first[3])


def x_overlap(a: Box, b: Box) -> int:
    """Shared width in pixels, 0 when apart."""
    return max(0, min(a.right, b.right) - max(a.left, b.left))


def y_overlap(a: Box, b: Box) -> int:
    """Shared height in pixels, 0 when apart."""
    return max(0, min(a.bottom, b.bottom) - max(a.top, b.top))
