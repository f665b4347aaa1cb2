"""PDFs that open and say less than they were made to: each lacks one thing that its page asks for."""

import io
import zlib
from collections.abc import Callable

from PIL import Image, ImageDraw

from .bombs import pdf, stream

# What every page prints, so that none is blank: the rest is what it lacks.
_SOUND = b"BT /F 24 Tf 40 250 Td (Invoice 4711) Tj ET\n"
_LATER = b"BT /F 24 Tf 40 100 Td (Total 119.00) Tj ET\n"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_IMAGE = b"/Type /XObject /Subtype /Image /Width 200 /Height 50 /BitsPerComponent 8 /ColorSpace /DeviceGray"
_FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 300 300] /Resources << /Font << /F 5 0 R >> >>"
_DRAW = b"q 200 0 0 50 40 100 cm /X Do Q\n"


def _page(content: bytes, resources: bytes = b"", *more: bytes, page: bytes = b"") -> bytes:
    """One page with a font at object 5 and more objects from number 6."""
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R"
            b" /Resources << /Font << /F 5 0 R >> %s >> %s >>" % (resources, page),
            content,
            _FONT,
            *more,
        ]
    )


def _picture(data: bytes, entries: bytes) -> bytes:
    return _page(stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(data, _IMAGE + entries))


def _drawn(kind: str = "") -> bytes:
    """A picture of the total, as raw pixels or as a file."""
    image = Image.new("L", (200, 50), 255)
    ImageDraw.Draw(image).text((5, 5), "Total 119.00", fill=0, font_size=28)
    if not kind:
        return image.tobytes()
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def _flipped(data: bytes) -> bytes:
    """With some bytes of its middle turned over."""
    middle = len(data) // 2
    return data[:middle] + bytes(b ^ 0xFF for b in data[middle : middle + 40]) + data[middle + 40 :]


def sound() -> bytes:
    """Nothing is wrong with this one."""
    return _picture(zlib.compress(_drawn()), b"/Filter /FlateDecode")


def image_cut() -> bytes:
    packed = zlib.compress(_drawn())
    return _picture(packed[: len(packed) // 2], b"/Filter /FlateDecode")


def image_flipped() -> bytes:
    return _picture(_flipped(zlib.compress(_drawn())), b"/Filter /FlateDecode")


def image_no_flate() -> bytes:
    return _picture(b"this is not packed", b"/Filter /FlateDecode")


def image_empty() -> bytes:
    return _picture(b"", b"/Filter /FlateDecode")


def image_short() -> bytes:
    """Packed well, and holds half the rows."""
    return _picture(zlib.compress(_drawn()[:5000]), b"/Filter /FlateDecode")


def image_raw_short() -> bytes:
    return _picture(_drawn()[:2000], b"")


def filter_unknown() -> bytes:
    return _picture(zlib.compress(_drawn()), b"/Filter /NoSuchDecode")


def filter_wrong() -> bytes:
    return _picture(zlib.compress(_drawn()), b"/Filter /LZWDecode")


def jpeg_cut() -> bytes:
    data = _drawn("JPEG")
    return _picture(data[: len(data) // 2], b"/Filter /DCTDecode")


def jpeg_flipped() -> bytes:
    data = _drawn("JPEG")
    middle = len(data) // 2
    return _picture(data[:middle] + b"\xfe" * 200 + data[middle + 200 :], b"/Filter /DCTDecode")


def jpeg_garbage() -> bytes:
    return _picture(b"\xff\xd8\xff\xe0 no picture", b"/Filter /DCTDecode")


def jpx_garbage() -> bytes:
    return _picture(b"\0\0\0\x0cjP  \r\n\x87\n no picture", b"/Filter /JPXDecode")


def jpx_cut() -> bytes:
    data = _drawn("JPEG2000")
    return _picture(data[: len(data) // 2], b"/Filter /JPXDecode")


def jbig2_garbage() -> bytes:
    entries = _IMAGE.replace(b"Component 8", b"Component 1") + b"/Filter /JBIG2Decode"
    return _page(
        stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(b"no picture" * 9, entries)
    )


def ccitt_garbage() -> bytes:
    entries = _IMAGE.replace(b"Component 8", b"Component 1") + (
        b"/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 200 /Rows 50 >>"
    )
    return _page(
        stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(b"\x0f\xa5" * 40, entries)
    )


def image_without_size() -> bytes:
    entries = _IMAGE.replace(b"/Width 200", b"") + b"/Filter /FlateDecode"
    return _page(
        stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(zlib.compress(_drawn()), entries)
    )


def image_without_colours() -> bytes:
    entries = _IMAGE.replace(b"/DeviceGray", b"/NoSuchSpace") + b"/Filter /FlateDecode"
    return _page(
        stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(zlib.compress(_drawn()), entries)
    )


def inline_image_cut() -> bytes:
    begun = b"q 200 0 0 50 40 100 cm BI /W 200 /H 50 /BPC 8 /CS /G /F /Fl ID "
    packed = zlib.compress(_drawn())
    return _page(stream(_SOUND + begun + packed[: len(packed) // 2] + b"\nEI Q\n"))


def content_cut() -> bytes:
    packed = zlib.compress(_SOUND + b"0 g\n" * 400 + _LATER)
    return _page(stream(packed[: len(packed) - 12], b"/Filter /FlateDecode"))


def content_flipped() -> bytes:
    return _page(stream(_flipped(zlib.compress(_SOUND * 9 + _LATER)), b"/Filter /FlateDecode"))


def content_no_flate() -> bytes:
    return _page(stream(b"this is not packed", b"/Filter /FlateDecode"))


def content_unknown_filter() -> bytes:
    return _page(stream(zlib.compress(_SOUND + _LATER), b"/Filter /NoSuchDecode"))


def content_unknown_operators() -> bytes:
    return _page(stream(_SOUND + _LATER.replace(b"Tj", b"Tz9")))


def content_cut_within() -> bytes:
    """Unpacked, and ends in the middle of a text."""
    return _page(stream(_SOUND + _LATER[: len(_LATER) - 9]))


def content_missing() -> bytes:
    return _page(stream(_SOUND)).replace(b"/Contents 4 0 R", b"/Contents 99 0 R")


def content_no_stream() -> bytes:
    return _page(b"<< /Length 20 >>")


def content_part_missing() -> bytes:
    return _page(b"[6 0 R 7 0 R 99 0 R]", b"", stream(_SOUND), stream(b"0 g"))


def xobject_unnamed() -> bytes:
    return _page(stream(_SOUND + _DRAW))


def xobject_missing() -> bytes:
    return _page(stream(_SOUND + _DRAW), b"/XObject << /X 99 0 R >>")


def xobject_no_stream() -> bytes:
    return _page(stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", b"<< /Subtype /Form >>")


def xobject_no_kind() -> bytes:
    return _page(
        stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(_LATER, b"/Type /XObject")
    )


def form_cut() -> bytes:
    packed = zlib.compress(b"0 g\n" * 400 + _LATER)
    return _page(
        stream(_SOUND + b"/X Do"),
        b"/XObject << /X 6 0 R >>",
        stream(packed[: len(packed) - 12], _FORM + b"/Filter /FlateDecode"),
    )


def form_of_form_missing() -> bytes:
    inner = _FORM.replace(b"/Font", b"/XObject << /Y 99 0 R >> /Font")
    return _page(stream(_SOUND + b"/X Do"), b"/XObject << /X 6 0 R >>", stream(b"/Y Do", inner))


def font_unnamed() -> bytes:
    return _page(stream(_SOUND + _LATER.replace(b"/F ", b"/G ")))


def font_missing() -> bytes:
    return _page(stream(_SOUND + _LATER.replace(b"/F ", b"/G ")), b"/Font << /F 5 0 R /G 99 0 R >>")


def _embedded(data: bytes, subtype: bytes, key: bytes, entries: bytes = b"") -> bytes:
    descriptor = (
        b"<< /Type /FontDescriptor /FontName /AAAAAA+Odd /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0"
        b" /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 /%s 8 0 R >>" % key
    )
    font = (
        b"<< /Type /Font /Subtype /%s /BaseFont /AAAAAA+Odd /FirstChar 32 /LastChar 126 /Widths [%s]"
        b" /FontDescriptor 7 0 R >>" % (subtype, b"500 " * 95)
    )
    objects = [b"/Font << /F 5 0 R /G 6 0 R >>", font, descriptor, stream(data, entries)]
    made = _page(stream(_SOUND + _LATER.replace(b"/F ", b"/G ")), *objects)
    return made.replace(b"/Font << /F 5 0 R >> /Font", b"/Font")


def font_file_garbage() -> bytes:
    return _embedded(b"no font at all", b"TrueType", b"FontFile2")


def font_file_cut() -> bytes:
    return _embedded(
        zlib.compress(b"no font" * 99)[:30], b"TrueType", b"FontFile2", b"/Filter /FlateDecode"
    )


def font_file_empty() -> bytes:
    return _embedded(b"", b"Type1", b"FontFile3", b"/Subtype /Type1C")


def glyphs_missing() -> bytes:
    """A font of drawings, whose drawings are not there."""
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [0.1 0 0 0.1 0 0] /FirstChar 65"
        b" /LastChar 65 /Widths [9] /Encoding << /Differences [65 /a] >> /CharProcs << /a 99 0 R >>"
        b" /Resources << >> >>"
    )
    return _in_font(font, b"(AAAA)")


def descendant_missing() -> bytes:
    font = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Odd /Encoding /Identity-H"
        b" /DescendantFonts [99 0 R] >>"
    )
    return _in_font(font, b"<00410042>")


def _in_font(font: bytes, text: bytes) -> bytes:
    """A sound page with a text in one more font."""
    shown = b"BT /G 24 Tf 40 100 Td " + text + b" Tj ET\n"
    made = _page(stream(_SOUND + shown), b"/Font << /F 5 0 R /G 6 0 R >>", font)
    return made.replace(b"/Font << /F 5 0 R >> /Font", b"/Font")


def pattern_missing() -> bytes:
    return _page(stream(_SOUND + b"/Pattern cs /P scn 40 90 200 50 re f\n"))


def shading_missing() -> bytes:
    return _page(stream(_SOUND + b"q 40 90 200 50 re W n /S sh Q\n"))


def mask_cut() -> bytes:
    """A picture that is seen through a mask, which is broken."""
    packed = zlib.compress(_drawn())
    entries = _IMAGE + b"/Filter /FlateDecode /SMask 7 0 R"
    mask = stream(packed[: len(packed) // 2], _IMAGE + b"/Filter /FlateDecode")
    return _page(stream(_SOUND + _DRAW), b"/XObject << /X 6 0 R >>", stream(packed, entries), mask)


def appearance_missing() -> bytes:
    """A stamp whose looks are not there."""
    note = b"<< /Type /Annot /Subtype /Stamp /Rect [40 90 240 140] /F 4 /AP << /N 99 0 R >> >>"
    return _page(stream(_SOUND), b"", note, page=b"/Annots [6 0 R]")


def appearance_cut() -> bytes:
    note = b"<< /Type /Annot /Subtype /Stamp /Rect [40 90 240 140] /F 4 /AP << /N 7 0 R >> >>"
    packed = zlib.compress(b"0 g\n" * 400 + _LATER)
    looks = stream(packed[: len(packed) - 12], _FORM + b"/Filter /FlateDecode")
    return _page(stream(_SOUND), b"", note, looks, page=b"/Annots [6 0 R]")


def annotation_missing() -> bytes:
    return _page(stream(_SOUND), page=b"/Annots [99 0 R]")


def graphics_state_missing() -> bytes:
    return _page(stream(b"/E gs\n" + _SOUND))


def pages_missing() -> bytes:
    """A tree of pages that counts two and has one."""
    return sound().replace(b"/Count 1 /Kids [3 0 R]", b"/Count 2 /Kids [3 0 R 99 0 R]")


def resources_missing() -> bytes:
    return _page(stream(_SOUND + _LATER)).replace(b"/Resources << ", b"/Resourced << ")


DAMAGED: list[Callable[[], bytes]] = [
    made
    for made in list(globals().values())
    if callable(made)
    and getattr(made, "__module__", "") == __name__
    and not made.__name__.startswith("_")
    and made.__name__ != "sound"
]
