"""What values of a request may be: known names, finite places on the page."""

import math
from enum import IntEnum
from typing import TypeVar

from visualproof.v1 import block_pb2

from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, Point, Quad, clipped_point
from visualproof_server.model.summary import PageFrame

E = TypeVar("E", bound=IntEnum)
# Boxes are fractions of the page; what leaves it by more than this is no place on it.
_SLACK = 1.0


def refused(path: str, message: str, code: str = "OPTIONS_INVALID") -> VisualProofError:
    return VisualProofError(code, message, field_path=path)


def known(kind: type[E], value: int, path: str) -> E:
    """A member of an enum; error OPTIONS_INVALID for one that this server does not know."""
    try:
        return kind(value)
    except ValueError:
        raise refused(path, f"This server does not know the {kind.__name__} {value}.") from None


def finite(value: float, path: str) -> float:
    """Error OPTIONS_INVALID for NaN and infinity."""
    if not math.isfinite(value):
        raise refused(path, "A number must be finite.")
    return value


def box_from_wire(box: block_pb2.BoundingBox, page: PageFrame, path: str) -> Box:
    """At least one pixel of the page; error OPTIONS_INVALID where it is no place on it."""
    for value in (box.left, box.top, box.width, box.height):
        _near_page(value, path)
    left, top = _pixel((box.left, box.top), page)
    left, top = min(left, page.width - 1), min(top, page.height - 1)
    right = left + max(1, round(box.width * page.width))
    bottom = top + max(1, round(box.height * page.height))
    return Box(left, top, min(right, page.width), min(bottom, page.height))


def quads_from_wire(points: list[block_pb2.Point], page: PageFrame, path: str) -> tuple[Quad, ...]:
    """Four points each; errors as box_from_wire's."""
    for point in points:
        _near_page(point.x, path)
        _near_page(point.y, path)
    pixels = [_pixel((p.x, p.y), page) for p in points]
    return tuple(
        (pixels[i], pixels[i + 1], pixels[i + 2], pixels[i + 3]) for i in range(0, len(pixels), 4)
    )


def _near_page(value: float, path: str) -> None:
    # NaN is between nothing.
    if not -_SLACK <= value <= 1.0 + _SLACK:
        raise refused(path, "Places are fractions of the page, from 0 to 1.")


def _pixel(point: Point, page: PageFrame) -> tuple[int, int]:
    x, y = round(point[0] * page.width), round(point[1] * page.height)
    return clipped_point((x, y), page.width, page.height)
