"""Whether a PDF's page may hold more than its picture shows: what the renderer complains of, and what
of the page cannot be unpacked.

Renderers draw what they can and exit well. Poppler says most of what it leaves out on stderr; what it
takes without a word (a checksum that is wrong, a picture that ends early, a JPEG that breaks off) is
looked for in the file itself.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pikepdf

from visualproof_server.reading.jpeg import is_broken_jpeg

# What poppler's complaints begin with; fontconfig and others speak there, too.
_GRAVE = ("Syntax Error", "Internal Error", "I/O Error", "Config Error", "Unimplemented Feature")
# Complaints after which everything is drawn that was meant to be.
_HARMLESS = re.compile(
    r"No current point in closepath|Restoring state when no valid states to pop"
    r"|Malformed JP2 file format|Expected a SOC marker|Marked Content|annotation destination"
    r"|default config|Invalid Font Weight|Mismatch between font type and embedded font file"
)
# What is unpacked of one page at most, and how many of its parts are looked at.
MAX_BYTES, MAX_PARTS = 1 << 30, 10_000
# The start of a content stream or of packed data, kept to be looked into.
_KEPT = 1 << 26
_CHUNK = 1 << 20
# Under these keys are other parts that are drawn; under the named ones they have names of their own.
_NAMED = {"/XObject", "/Font", "/Pattern", "/Shading", "/ExtGState", "/CharProcs", "/N"}
_PARTS = {
    "/Resources", "/AP", "/SMask", "/Mask", "/G", "/FontDescriptor", "/FontFile", "/FontFile2",
    "/FontFile3", "/DescendantFonts",
}  # fmt: skip
_FLATE = ("/FlateDecode", "/Fl")
_JPEG = ("/DCTDecode", "/DCT")
_NAME = re.compile(rb"/([^\s/<>\[\](){}%]+)")
_HEX = re.compile(rb"#([0-9A-Fa-f]{2})")
_INLINE = re.compile(rb"\bBI\b([^<>]{0,500}?)\bID\s")
_COMPONENTS = {
    "/DeviceGray": 1, "/CalGray": 1, "/G": 1, "/Indexed": 1, "/I": 1, "/Separation": 1,
    "/DeviceRGB": 3, "/CalRGB": 3, "/RGB": 3, "/Lab": 3, "/DeviceCMYK": 4, "/CMYK": 4,
}  # fmt: skip


class _Damaged(Exception):
    """Something of the page cannot be had."""


def complains(said: bytes) -> bool:
    """Whether poppler's stderr tells of something that it may have left out."""
    lines = said.decode("utf-8", "replace").splitlines()
    return any(line.startswith(_GRAVE) and not _HARMLESS.search(line) for line in lines)


def is_damaged(path: Path, number: int, password: str, pages: int) -> bool:
    """Whether something that a page draws cannot be unpacked, or its file has other pages than the
    `pages` that are read; also where that cannot be found out."""
    try:
        with pikepdf.open(path, password=password) as pdf:
            if len(pdf.pages) != pages:
                return True
            _Page(pdf.pages[number - 1].obj).check()
    except _Damaged:
        return True
    except (pikepdf.PdfError, pikepdf.PasswordError, ValueError, TypeError, RuntimeError,
            IndexError, KeyError, AttributeError, OverflowError):  # fmt: skip
        return True
    return False


@dataclass(frozen=True, slots=True)
class _Unpacked:
    """What filters made of a stream: its first bytes, its whole size, and what still packs it."""

    kept: bytes
    size: int
    left: tuple[str, ...]


class _Page:
    """Looks at what one page draws; bounds are for all of it together."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._left = MAX_BYTES
        self._parts = MAX_PARTS
        self._seen: set[tuple[int, int]] = set()

    def check(self) -> None:
        """Error _Damaged."""
        content = b"\n".join(self._content(part) for part in _streams(self._page.get("/Contents")))
        resources = _inherited(self._page, "/Resources")
        if resources is not None:
            self._follow(resources, _names(content))
        notes = self._page.get("/Annots")
        for note in notes if isinstance(notes, pikepdf.Array) else ():
            if isinstance(note, pikepdf.Dictionary) and not int(note.get("/F", 0)) & 2:
                self._follow(note, None)

    def _follow(self, part: Any, used: set[str] | None) -> None:
        """Looks at a part and all that it draws; used are the names that its content draws, None
        for all."""
        pending: list[tuple[Any, set[str] | None]] = [(part, used)]
        while pending:
            found, used = pending.pop()
            if isinstance(found, pikepdf.Array):
                pending += [(child, used) for child in found]
                continue
            if not isinstance(found, pikepdf.Dictionary | pikepdf.Stream):
                continue
            if found.objgen != (0, 0):
                if found.objgen in self._seen:
                    continue
                self._seen.add(found.objgen)
            self._parts -= 1
            if self._parts < 0:
                raise _Damaged
            if isinstance(found, pikepdf.Stream):
                used = self._stream(found)
            for key in found.keys() & (_PARTS | _NAMED):
                child = found.get(key)
                if key in _NAMED and isinstance(child, pikepdf.Dictionary):
                    # Pages share their resources: what others draw is their concern.
                    names = child.keys() if used is None or key == "/N" else child.keys() & used
                    pending += [(child[name], None) for name in names]
                else:
                    pending.append((child, used if key == "/Resources" else None))

    def _stream(self, found: Any) -> set[str] | None:
        """Unpacks a stream, and says which names its content draws."""
        kind = found.get("/Subtype")
        if kind == "/Image":
            self._image(found)
            return None
        content = kind == "/Form" or "/PatternType" in found or not kind
        if content:
            return _names(self._content(found))
        self._unpacked(found)
        return None

    def _content(self, found: Any) -> bytes:
        """A content stream, with the pictures in it looked at."""
        made = self._unpacked(found).kept
        for begun in _INLINE.finditer(made):
            filters = {f"/{name}" for name in re.findall(r"/(\w+)", begun[1].decode("latin-1"))}
            if filters & set(_JPEG):
                data = made[begun.end() :]
                if is_broken_jpeg(data[: data.find(b"\xff\xd9") + 2]):
                    raise _Damaged
            elif filters & set(_FLATE) and not filters & {"/AHx", "/A85"}:
                self._inflated(made[begun.end() :])
        return made

    def _image(self, found: Any) -> None:
        made = self._unpacked(found)
        if made.left and made.left[0] in _JPEG and is_broken_jpeg(made.kept):
            raise _Damaged
        wanted = _image_bytes(found)
        if not made.left and wanted is not None and made.size < wanted:
            raise _Damaged

    def _unpacked(self, found: Any) -> _Unpacked:
        """A stream without the filters that are known here; error _Damaged."""
        filters = [str(name) for name in _several(found.get("/Filter"))]
        data = found.read_raw_bytes()
        size = len(data)
        self._left -= size
        while filters:
            if filters[0] in _FLATE:
                data, size = self._inflated(data)
            elif filters[0] in ("/ASCII85Decode", "/A85"):
                data = _plain85(data)
                size = len(data)
            elif filters[0] in ("/ASCIIHexDecode", "/AHx"):
                data = _plain16(data)
                size = len(data)
            else:
                break
            filters.pop(0)
        if self._left < 0:
            raise _Damaged
        return _Unpacked(data, size, tuple(filters))

    def _inflated(self, data: bytes) -> tuple[bytes, int]:
        """The first bytes of packed data, and how many there are; error _Damaged for data that ends
        early or has another checksum than it says (RFC 1950)."""
        unpacker, kept, size = zlib.decompressobj(), bytearray(), 0
        try:
            while not unpacker.eof:
                part = unpacker.decompress(data, _CHUNK)
                data = unpacker.unconsumed_tail
                size += len(part)
                self._left -= len(part)
                if len(kept) < _KEPT:
                    kept += part
                if self._left < 0 or (not part and not data and not unpacker.eof):
                    raise _Damaged
        except zlib.error:
            raise _Damaged from None
        return bytes(kept), size


def _streams(contents: Any) -> Iterator[Any]:
    for part in _several(contents):
        if isinstance(part, pikepdf.Stream):
            yield part
        elif part is not None:
            raise _Damaged


def _several(value: Any) -> list[Any]:
    """A value that may be one, several or none."""
    if value is None:
        return []
    return list(value) if isinstance(value, pikepdf.Array) else [value]


def _inherited(page: Any, key: str) -> Any:
    for _ in range(50):
        if key in page:
            return page[key]
        page = page.get("/Parent")
        if page is None:
            break
    return None


def _names(content: bytes) -> set[str]:
    """All names that a content stream mentions (ISO 32000-1, 7.3.5)."""
    return {
        "/" + _HEX.sub(lambda m: bytes([int(m[1], 16)]), name).decode("utf-8", "replace")
        for name in set(_NAME.findall(content))
    }


def _image_bytes(image: Any) -> int | None:
    """The least bytes that a picture's pixels take, None where that is not said plainly."""
    if image.get("/ImageMask", False):
        components, bits = 1, 1
    else:
        space = image.get("/ColorSpace")
        name = str(space[0]) if isinstance(space, pikepdf.Array) and len(space) else str(space)
        if name == "/ICCBased":
            known = int(space[1].get("/N", 0))
        elif name == "/DeviceN":
            known = len(space[1])
        else:
            known = _COMPONENTS.get(name, 0)
        components, bits = known, int(image.get("/BitsPerComponent", 0))
    if not components or not bits:
        return None
    row = (int(image.Width) * components * bits + 7) // 8
    return row * int(image.Height)


def _plain85(data: bytes) -> bytes:
    try:
        return base64.a85decode(data.partition(b"~")[0])
    except ValueError:
        raise _Damaged from None


def _plain16(data: bytes) -> bytes:
    digits = b"".join(data.partition(b">")[0].split())
    try:
        return binascii.unhexlify(digits + b"0" * (len(digits) % 2))
    except binascii.Error:
        raise _Damaged from None
