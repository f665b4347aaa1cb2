"""Which pictures are wanted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """Which pictures: pages (all with evidence if empty), or crops of one value or all."""

    pages: tuple[int, ...] = ()
    side: int = 0
    media: str = "image/jpeg"
    crops: bool = False
    path: str = ""
    context_lines: int = 0


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What is said of an encoded image; path is the value of a crop."""

    page: int
    path: str
    media: str
    width: int
    height: int
