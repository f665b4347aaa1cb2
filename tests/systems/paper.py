"""Documents for the tests: printed by this file, and scanned by it."""

import io
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
WIDTH, HEIGHT = 1654, 2339  # A4 at 200 dpi


@dataclass(frozen=True)
class Text:
    """A text at pixels of a 200 dpi page; grey 0 is black."""

    x: int
    y: int
    text: str
    size: int = 30
    grey: int = 0


def lines(*texts: str, top: int = 200, pitch: int = 60) -> list[Text]:
    """One text a line; two spaces or more make a column gap."""
    placed = []
    for row, text in enumerate(texts):
        x = 150
        for part in text.split("  "):
            if part.strip():
                placed.append(Text(x, top + row * pitch, part.strip()))
            x += 420
    return placed


def printed(texts: list[Text]) -> Image.Image:
    page = Image.new("L", (WIDTH, HEIGHT), 255)
    pen = ImageDraw.Draw(page)
    for t in texts:
        pen.text((t.x, t.y), t.text, fill=t.grey, font=ImageFont.truetype(FONT, t.size))
    return page


def pdf(*pages: list[Text]) -> bytes:
    """A clean PDF of page images."""
    images = [printed(page) for page in pages]
    out = io.BytesIO()
    images[0].save(out, "PDF", resolution=200, save_all=True, append_images=images[1:])
    return out.getvalue()


def scan(*pages: list[Text]) -> bytes:
    """The same pages tilted, soft, noisy and compressed: a multi-page TIFF."""
    rng = np.random.default_rng(5)
    images = []
    for page in pages:
        grey: NDArray[Any] = np.asarray(printed(page)).astype(np.float32)
        turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), -1.2, 1.0)
        grey = cv2.warpAffine(grey, turn, (WIDTH, HEIGHT), borderValue=(255.0,))
        soft = cv2.GaussianBlur(grey, (0, 0), 0.7) + rng.normal(0, 5, grey.shape)
        _, jpeg = cv2.imencode(
            ".jpg", np.clip(soft, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 60]
        )
        images.append(Image.fromarray(np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_GRAYSCALE))))
    out = io.BytesIO()
    images[0].save(out, "TIFF", save_all=True, append_images=images[1:])
    return out.getvalue()
