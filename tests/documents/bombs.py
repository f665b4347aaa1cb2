"""Files made to hurt, each from a few lines: none is checked in as bytes."""

import io
import struct
import zlib
from collections.abc import Callable

from PIL import Image

_PNG = b"\x89PNG\r\n\x1a\n"


def pdf(objects: list[bytes], root: int = 1) -> bytes:
    """A PDF of numbered objects with a right cross-reference table."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % at for at in places)
    size = len(objects) + 1
    trailer = b"trailer << /Size %d /Root %d 0 R >>" % (size, root)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s%s\nstartxref\n%d\n%%%%EOF\n" % (
        size, table, trailer, len(out),
    )  # fmt: skip


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def one_page(content: bytes, box: bytes = b"0 0 300 300", more: bytes = b"") -> list[bytes]:
    """Catalog, pages, a page, its content; further objects may follow from number 5."""
    return [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 4 0 R %s >>" % (box, more),
        content,
    ]


def huge_box() -> bytes:
    return pdf(one_page(stream(b""), b"0 0 1000000000 1000000000"))


def wide_box() -> bytes:
    return pdf(one_page(stream(b""), b"0 0 14400 20"))


def no_box() -> bytes:
    return pdf(one_page(stream(b""), b"0 0 0 0"))


def infinite_box() -> bytes:
    return pdf(one_page(stream(b""), b"0 0 1e308 1e400"))


def flate_bomb() -> bytes:
    """A content stream of 1 GB in 1 MB."""
    packer = zlib.compressobj(9)
    million = b" 0 0 m" * 170_000
    data = b"".join([packer.compress(million) for _ in range(1000)] + [packer.flush()])
    return pdf(one_page(stream(data, b"/Filter /FlateDecode")))


def double_flate_bomb() -> bytes:
    inner = zlib.compress(b"\0" * 50_000_000, 9)
    data = zlib.compress(zlib.compress(inner, 9), 9)
    return pdf(one_page(stream(data, b"/Filter [/FlateDecode /FlateDecode /FlateDecode]")))


def nested_forms() -> bytes:
    """Each form draws the next twice: 2 to the 40 drawings."""
    levels = 40
    objects = one_page(stream(b"/X Do"), more=b"/Resources << /XObject << /X 5 0 R >> >>")
    for level in range(levels):
        last = level == levels - 1
        draw = b"0 0 m 1 1 l S" if last else b"/X Do /X Do"
        resources = b"" if last else b"/Resources << /XObject << /X %d 0 R >> >>" % (6 + level)
        objects.append(stream(draw, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] " + resources))
    return pdf(objects)


def form_of_itself() -> bytes:
    objects = one_page(stream(b"/X Do"), more=b"/Resources << /XObject << /X 5 0 R >> >>")
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
    return pdf([*objects, stream(b"/X Do", form)])


def image_bomb() -> bytes:
    """An image of 900 megapixels in a few bytes."""
    data = zlib.compress(b"\0" * (30_000 * 30_000 // 8), 9)
    entries = (
        b"/Type /XObject /Subtype /Image /Width 30000 /Height 30000 /BitsPerComponent 1"
        b" /ColorSpace /DeviceGray /Filter /FlateDecode"
    )
    objects = one_page(
        stream(b"q 300 0 0 300 0 0 cm /X Do Q"), more=b"/Resources << /XObject << /X 5 0 R >> >>"
    )
    return pdf([*objects, stream(data, entries)])


def pattern_bomb() -> bytes:
    """A tiling of 10 to the 10 tiles."""
    objects = one_page(
        stream(b"/Pattern cs /P scn 0 0 300 300 re f"),
        more=b"/Resources << /Pattern << /P 5 0 R >> >>",
    )
    tile = (
        b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 0.003"
        b" /YStep 0.003 /Resources << >>"
    )
    return pdf([*objects, stream(b"0 0 1 1 re f", tile)])


def page_loop() -> bytes:
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 9 /Kids [3 0 R 2 0 R] >>",
            b"<< /Type /Pages /Parent 2 0 R /Count 9 /Kids [2 0 R 3 0 R] >>",
        ]
    )


def lying_count() -> bytes:
    objects = one_page(stream(b""))
    objects[1] = b"<< /Type /Pages /Count 2000000000 /Kids [3 0 R] >>"
    return pdf(objects)


def many_pages() -> bytes:
    kids = b" ".join(b"3 0 R" for _ in range(20_000))
    objects = one_page(stream(b""))
    objects[1] = b"<< /Type /Pages /Count 20000 /Kids [%s] >>" % kids
    return pdf(objects)


def deep_nesting() -> bytes:
    return pdf([*one_page(stream(b"")), b"[" * 200_000 + b"]" * 200_000])


def deep_content() -> bytes:
    return pdf(one_page(stream(b"q " * 1_000_000 + b"[" * 100_000)))


def many_annotations() -> bytes:
    refs = b" ".join(b"5 0 R" for _ in range(50_000))
    objects = one_page(stream(b""), more=b"/Annots [%s]" % refs)
    return pdf([*objects, b"<< /Type /Annot /Subtype /Square /Rect [0 0 9 9] /C [1 0 0] >>"])


def labelled(label: bytes) -> bytes:
    objects = one_page(stream(b"0 0 50 50 re f"))
    objects[0] = (
        b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /P (%s) >>] >> >>" % label
    )
    return pdf(objects)


def label_of_spaces() -> bytes:
    return labelled(b"<" + b" " * 60_000)


def label_of_megabytes() -> bytes:
    return labelled(b"<LINE 7>" * 500_000)


def actions() -> bytes:
    objects = one_page(stream(b""))
    objects[0] = (
        b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (/bin/sh) >>"
        b" /AA << /O << /S /JavaScript /JS (while(1){}) >> >> >>"
    )
    return pdf(objects)


def no_pages() -> bytes:
    return pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 0 /Kids [] >>"])


def cut_pdf() -> bytes:
    return flate_bomb()[:5000]


def only_a_header() -> bytes:
    return b"%PDF-1.7\n" + b"\0" * 5000


def png_of(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return _PNG + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_of_billions() -> bytes:
    return png_of(100_000, 100_000, zlib.compress(b"\0" * 10_000_000, 9))


def png_that_lies() -> bytes:
    """Small by its header, 1 GB by its data."""
    packer = zlib.compressobj(9)
    data = b"".join([packer.compress(b"\0" * 10**7) for _ in range(100)] + [packer.flush()])
    return png_of(64, 64, data)


def png_text_bomb() -> bytes:
    whole = png_of(200, 200, zlib.compress(b"\0" * 201 * 200))
    body = b"Comment\0\0" + zlib.compress(b"A" * 200_000_000, 9)
    text = struct.pack(">I", len(body)) + b"zTXt" + body
    text += struct.pack(">I", zlib.crc32(b"zTXt" + body))
    return whole[:33] + text + whole[33:]


def tiff_of_frames() -> bytes:
    frame = Image.new("1", (16, 16), 1)
    out = io.BytesIO()
    frame.save(out, "TIFF", save_all=True, append_images=[frame] * 4999)
    return out.getvalue()


def tiff_loop() -> bytes:
    """A directory whose next is itself."""
    out = io.BytesIO()
    Image.new("L", (64, 64), 255).save(out, "TIFF")
    data = bytearray(out.getvalue())
    (first,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, first)
    struct.pack_into("<I", data, first + 2 + 12 * entries, first)
    return bytes(data)


def cut_jpeg() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((800, 800), 50).save(out, "JPEG")
    return out.getvalue()[:3000]


def cut_webp() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((400, 400), 50).save(out, "WEBP")
    return out.getvalue()[:500]


def gif_of_huge_frames() -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0, 0, 0) + b"\x2c" + b"\0" * 40


def one_byte() -> bytes:
    return b"%"


def laughing_hocr() -> bytes:
    """Entities that expand to a billion words."""
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)
    )
    return f"<!DOCTYPE html [{entities}]><html><div class='ocr_page'>&a9;</div></html>".encode()


def deep_json() -> bytes:
    return b'{"Blocks":' + b"[" * 500_000


def wide_json() -> bytes:
    return b'{"pages":[{"id":"p","width":1e308,"height":1e308}]}'


BOMBS: list[Callable[[], bytes]] = [
    huge_box, wide_box, no_box, infinite_box, flate_bomb, double_flate_bomb, nested_forms,
    form_of_itself, image_bomb, pattern_bomb, page_loop, lying_count, many_pages, deep_nesting,
    deep_content, many_annotations, actions, no_pages, cut_pdf, only_a_header, png_of_billions,
    png_that_lies, png_text_bomb, tiff_of_frames, tiff_loop, cut_jpeg, cut_webp,
    gif_of_huge_frames, one_byte, laughing_hocr, deep_json, wide_json, label_of_spaces,
    label_of_megabytes,
]  # fmt: skip
