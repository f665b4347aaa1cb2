"""Prints an invoice and scans it: writes invoice.pdf (clean) and scan.jpg (as a scanner gives it).

Our own document, made by this script. Run from anywhere: python examples/invoice/make.py
"""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
FONTS = Path("/usr/share/fonts/truetype/dejavu")
DPI = 200
WIDTH, HEIGHT = 1654, 2339  # A4 at 200 dpi

LINES = [
    (150, 140, 46, True, "Northgate Kitchen Supply Ltd"),
    (150, 205, 28, False, "Unit 7, Holbeck Works, Leeds LS11 9YJ"),
    (150, 245, 28, False, "accounts@northgate-kitchens.example"),
    (1080, 140, 46, True, "INVOICE"),
    (1080, 215, 28, False, "Invoice number: INV-2026-0417"),
    (1080, 255, 28, False, "Invoice date: October 15, 2026"),
    (1080, 295, 28, False, "Due date: November 14, 2026"),
    (1080, 335, 28, False, "PO number: PO-88213"),
    (150, 380, 28, True, "Bill to"),
    (150, 420, 28, False, "Harbour Hotels PLC, 12 Quay Street, Hull HU1 2PN"),
    (150, 520, 30, True, "Description"),
    (870, 520, 30, True, "Qty"),
    (1080, 520, 30, True, "Unit price"),
    (1350, 520, 30, True, "Amount"),
    (150, 590, 28, False, "Six-burner range, 6 x 7000 Watts"),
    (870, 590, 28, False, "2"),
    (1080, 590, 28, False, "4,975.00"),
    (1350, 590, 28, False, "9,950.00"),
    (150, 640, 28, False, "Refrigerated counter, holds at 4°C"),
    (870, 640, 28, False, "1"),
    (1080, 640, 28, False, "2,200.00"),
    (1350, 640, 28, False, "2,200.00"),
    (150, 690, 28, False, "Delivery and installation"),
    (870, 690, 28, False, "1"),
    (1080, 690, 28, False, "1,200.00"),
    (1350, 690, 28, False, "1,200.00"),
    (1000, 800, 30, False, "Subtotal"),
    (1350, 800, 30, False, "13,350.00"),
    (1000, 850, 30, False, "VAT (20%)"),
    (1350, 850, 30, False, "2,670.00"),
    (1000, 905, 32, True, "Total due (GBP)"),
    (1350, 905, 32, True, "16,020.00"),
    (
        150,
        1060,
        28,
        False,
        "Payment within 30 days to account number 40817712, sort code 20-45-45.",
    ),
    (
        150,
        1105,
        28,
        False,
        "Goods remain our property until paid in full. The supplier shall not be",
    ),
    (150, 1145, 28, False, "liable for delay caused by events beyond its control."),
]


def printed() -> Image.Image:
    """The page as printed, grey, 200 dpi."""
    page = Image.new("L", (WIDTH, HEIGHT), 255)
    pen = ImageDraw.Draw(page)
    for x, y, size, bold, text in LINES:
        name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
        pen.text((x, y), text, fill=20, font=ImageFont.truetype(str(FONTS / name), size))
    for y in (565, 745):
        pen.line((150, y, 1520, y), fill=60, width=3)
    return page


def scanned(page: Image.Image) -> NDArray[Any]:
    """The page tilted, unevenly lit, noisy and soft; the same on every run."""
    rng = np.random.default_rng(2026)
    image: NDArray[Any] = np.asarray(page).astype(np.float32)
    matrix = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 1.4, 1.0)
    image = cv2.warpAffine(image, matrix, (WIDTH, HEIGHT), borderValue=(255.0,))
    image = cv2.GaussianBlur(image, (0, 0), 0.8)
    shade = np.linspace(1.0, 0.86, WIDTH, dtype=np.float32)[None, :]
    image = image * shade + rng.normal(0, 6, image.shape).astype(np.float32)
    scan: NDArray[Any] = np.clip(image, 0, 255).astype(np.uint8)
    return scan


def main() -> None:
    page = printed()
    page.save(HERE / "invoice.pdf", resolution=DPI)
    cv2.imwrite(str(HERE / "scan.jpg"), scanned(page), [cv2.IMWRITE_JPEG_QUALITY, 60])
    print(HERE / "invoice.pdf", HERE / "scan.jpg")


if __name__ == "__main__":
    main()
