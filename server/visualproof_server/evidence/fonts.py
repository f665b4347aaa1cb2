"""Text in any script: each part in the first font that has its characters."""

from functools import lru_cache
from pathlib import Path

from fontTools.ttLib import TTFont
from PIL import ImageDraw, ImageFont

from visualproof_server.evidence.presentation import Colour

# Latin, Greek, Cyrillic, Arabic, Hebrew; then Chinese, Japanese and Korean; then all of Unicode.
_FILES = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
    "/usr/share/fonts/opentype/unifont/unifont_upper.otf",
)


def width(text: str, size: int) -> float:
    """Of one line, in pixels."""
    return sum(_font(file, size).getlength(part) for file, part in _parts(text))


def write(
    pen: ImageDraw.ImageDraw, left: float, middle: float, text: str, fill: Colour, size: int
) -> None:
    """Writes one line from `left`, centred on `middle`."""
    for file, part in _parts(text):
        font = _font(file, size)
        pen.text((left, middle), part, fill=fill, font=font, anchor="lm")
        left += font.getlength(part)


def _parts(text: str) -> list[tuple[str, str]]:
    """Runs of characters with the file of their font."""
    known = _known()
    parts: list[tuple[str, str]] = []
    for char in text:
        last = parts[-1][0] if parts else ""
        # A space or mark stays with what is before it, if that font has it.
        stays = not char.isalnum() and ord(char) in known.get(last, ())
        file = (
            last if stays else next((f for f in known if ord(char) in known[f]), next(iter(known)))
        )
        if parts and file == last:
            parts[-1] = (file, parts[-1][1] + char)
        else:
            parts.append((file, char))
    return parts


@lru_cache(maxsize=1)
def _known() -> dict[str, frozenset[int]]:
    """Installed fonts and the characters they have; Pillow's own font if there is none."""
    found = {}
    for file in _FILES:
        if Path(file).exists():
            with TTFont(file, lazy=True) as font:
                found[file] = frozenset(font.getBestCmap())
    return found or {"": frozenset()}


@lru_cache(maxsize=32)
def _font(file: str, size: int) -> ImageFont.FreeTypeFont:
    if file:
        return ImageFont.truetype(file, size)
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
