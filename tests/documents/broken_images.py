"""Images with the right first bytes and a broken rest, each from a few lines."""

import io
import struct
import zlib
from collections.abc import Callable

from PIL import Image

PNG = b"\x89PNG\r\n\x1a\n"


def image(format: str, size: tuple[int, int] = (64, 48)) -> bytearray:
    out = io.BytesIO()
    Image.effect_noise(size, 60).save(out, format)
    return bytearray(out.getvalue())


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def jpeg_segment(marker: int, body: bytes) -> bytes:
    """A JPEG with one more segment after its start."""
    whole = bytes(image("JPEG"))
    return whole[:2] + struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body + whole[2:]


def tiff_entry(tag: int, kind: int, count: int, value: int) -> bytes:
    """A TIFF of one directory with one odd entry among sound ones."""
    entries = [
        (256, 3, 1, 64), (257, 3, 1, 48), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
        (273, 4, 1, 200), (277, 3, 1, 1), (278, 3, 1, 48), (279, 4, 1, 64 * 48),
    ]  # fmt: skip
    made = {t: (t, k, c, v) for t, k, c, v in entries} | {tag: (tag, kind, count, value)}
    rows = b"".join(struct.pack("<HHII", *made[t]) for t in sorted(made))
    head = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(made)) + rows + bytes(4)
    return head.ljust(200, b"\0") + bytes(64 * 48)


def multi_picture() -> bytes:
    """A JPEG that says it holds further pictures, in a directory that is none."""
    return jpeg_segment(0xE2, b"MPF\0" + b"II*\0" + struct.pack("<I", 8) + b"\xff" * 40)


BROKEN: dict[str, Callable[[], bytes]] = {
    "three bytes of JPEG": lambda: b"\xff\xd8\xff",
    "JPEG and noughts": lambda: b"\xff\xd8\xff" + bytes(2000),
    "JPEG and noise": lambda: b"\xff\xd8\xff\xe0" + zlib.compress(b"noise") * 50,
    "JPEG of no size": lambda: b"\xff\xd8\xff\xc0\x00\x0b\x08\0\0\0\0\x01\x01\x11\0\xff\xd9",
    "JPEG with a short segment": lambda: b"\xff\xd8\xff\xe0\x00\x01" + bytes(20),
    "JPEG with a picture directory": multi_picture,
    "JPEG with odd EXIF": lambda: jpeg_segment(0xE1, b"Exif\0\0" + b"MM\0*" + b"\xff" * 60),
    "JPEG with EXIF of a loop": lambda: jpeg_segment(
        0xE1, b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHII", 1, 0x8769, 4, 1, 8) + bytes(4)
    ),
    "JPEG with an odd profile": lambda: jpeg_segment(0xE2, b"ICC_PROFILE\0\x01\xff" + b"\xff" * 40),
    "JPEG with odd Photoshop data": lambda: jpeg_segment(0xED, b"Photoshop 3.0\x008BIM\xff\xff\xff"),
    "PNG and nothing": lambda: PNG,
    "PNG and noughts": lambda: PNG + bytes(100),
    "PNG with a short head": lambda: PNG + chunk(b"IHDR", b"\0\0"),
    "PNG of no size": lambda: PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 0, 8, 0, 0, 0, 0)),
    "PNG of an odd depth": lambda: PNG + chunk(
        b"IHDR", struct.pack(">IIBBBBB", 64, 64, 99, 77, 0, 0, 0)
    ),
    "PNG of a wrong check": lambda: bytes(image("PNG")[:29]) + b"\0\0\0\0" + bytes(image("PNG")[33:]),
    "PNG without data": lambda: PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0)),
    "PNG of a huge chunk": lambda: bytes(image("PNG")[:33]) + b"\xff\xff\xff\xffIDAT",
    "PNG with odd animation": lambda: bytes(image("PNG")[:33]) + chunk(b"acTL", b"\xff" * 8)
    + chunk(b"fcTL", b"\xff" * 3) + bytes(image("PNG")[33:]),
    "PNG with odd EXIF": lambda: bytes(image("PNG")[:33]) + chunk(b"eXIf", b"MM\0*\xff\xff\xff\xff")
    + bytes(image("PNG")[33:]),
    "WebP and noughts": lambda: b"RIFF\x40\0\0\0WEBP" + bytes(60),
    "WebP of an odd chunk": lambda: b"RIFF\xff\xff\xff\xffWEBPVP8X\x0a\0\0\0" + b"\xff" * 10,
    "WebP cut": lambda: bytes(image("WEBP")[:40]),
    "TIFF and nothing": lambda: b"II*\0",
    "TIFF and noughts": lambda: b"MM\0*" + bytes(200),
    "TIFF of a far directory": lambda: b"II*\0\xff\xff\xff\xff" + bytes(20),
    "big TIFF of a far directory": lambda: b"II+\0\x08\0\0\0" + b"\xff" * 8,
    "TIFF of an odd type": lambda: tiff_entry(256, 99, 1, 64),
    "TIFF of many widths": lambda: tiff_entry(256, 3, 2**31, 8),
    "TIFF of a negative width": lambda: tiff_entry(256, 9, 1, 2**32 - 5),
    "TIFF without width": lambda: tiff_entry(256, 7, 0, 0),
    "TIFF of an odd compression": lambda: tiff_entry(259, 3, 1, 65000),
    "TIFF of odd samples": lambda: tiff_entry(277, 3, 1, 200),
    "TIFF of far strips": lambda: tiff_entry(273, 4, 2**30, 2**31),
    "TIFF of odd orientation": lambda: tiff_entry(274, 2, 4, 0x41414141),
    "TIFF of a resolution by nought": lambda: tiff_entry(282, 5, 1, 8),
    "GIF and noughts": lambda: b"GIF89a" + bytes(100),
    "GIF of no frame": lambda: b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0, 0, 0) + b"\x3b",
    "GIF of an odd extension": lambda: b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0, 0, 0)
    + b"\x21\xf9\xff" + b"\xff" * 300,
    "GIF cut": lambda: bytes(image("GIF")[:60]),
}  # fmt: skip
