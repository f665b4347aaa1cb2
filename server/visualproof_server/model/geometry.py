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


def quad_of(box: Box) -> Quad:
    return (
        (box.left, box.top),
        (box.right, box.top),
        (box.right, box.bottom),
        (box.left, box.bottom),
    )


def span_quad(first: Quad, last: Quad) -> Quad:
    """The outline of a run of words, from its first and last word's outlines."""
    return (first[0], last[1], last[2], first[3])


def x_overlap(a: Box, b: Box) -> int:
    """Shared width in pixels, 0 when apart."""
    return max(0, min(a.right, b.right) - max(a.left, b.left))


def y_overlap(a: Box, b: Box) -> int:
    """Shared height in pixels, 0 when apart."""
    return max(0, min(a.bottom, b.bottom) - max(a.top, b.top))
