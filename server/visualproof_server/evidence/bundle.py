"""The sealed bundle: a zip whose bytes follow from its files, so that every changed byte shows.

Entries are stored, not compressed, in a fixed order with a fixed date (APPNOTE.TXT 6.3.10, 4.3.7):
packing the same files gives the same bytes on every machine, whatever its zlib.
"""

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from visualproof_server.evidence.signing import Signer, checked_signature
from visualproof_server.model import codec
from visualproof_server.model.document import Document, Page, ReadOptions
from visualproof_server.model.numbering import number_document

FORMAT = "visualproof-evidence/1"
MANIFEST = "manifest.json"
# In the form of sha256sum, so that `sha256sum -c manifest.sha256` checks it too.
SEAL = "manifest.sha256"
SIGNATURE = "manifest.sig"
_FRONT = (MANIFEST, SEAL, SIGNATURE)
# Names of entries: none is a path out of the bundle.
_NAME = re.compile(r"(pages/)?[a-z0-9_]+(\.[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Unsealed:
    """What a bundle holds. changed says what is not as it was sealed, each with its name.

    signed_by is the signer's public key in hex, empty if it is not signed.
    """

    files: dict[str, bytes]
    manifest: dict[str, Any]
    changed: tuple[str, ...]
    signed_by: str = ""


def seal(files: Mapping[str, bytes], facts: Mapping[str, Any]) -> bytes:
    """A bundle of files; facts go into the manifest, beside each file's hash and size."""
    listed = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in sorted(files.items())
    }
    manifest = _json({"format": FORMAT, **facts, "files": listed})
    return _packed({MANIFEST: manifest, SEAL: _seal_of(manifest), **files})


def signed(data: bytes, signer: Signer) -> bytes:
    """A sealed bundle with a signature of its manifest; ValueError if it is no bundle."""
    files, _ = _entries(data)
    if MANIFEST not in files:
        raise ValueError("it has no manifest.json")
    return _packed({**files, SIGNATURE: signer.sign(files[MANIFEST])})


def unseal(data: bytes) -> Unsealed:
    """Reads a bundle and compares it with its manifest; ValueError if it is no bundle at all."""
    files, crcs = _entries(data)
    changed: list[str] = []
    if MANIFEST not in files:
        raise ValueError("it has no manifest.json")
    if files.get(SEAL) != _seal_of(files[MANIFEST]):
        # Either may have been changed; the checksum of the container tells which.
        names = [n for n in (MANIFEST, SEAL) if n in files and zlib.crc32(files[n]) != crcs[n]]
        changed.append(f"{' and '.join(names) or MANIFEST}: the seal does not fit the manifest")
    try:
        manifest = json.loads(files[MANIFEST])
        listed = {str(n): (str(f["sha256"]), int(f["bytes"])) for n, f in manifest["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return Unsealed(files, {}, (*changed, f"{MANIFEST}: it cannot be read"))
    if manifest.get("format") != FORMAT:
        changed.append(f"{MANIFEST}: the format is not {FORMAT}")
    for name, (sha256, _) in listed.items():
        if name not in files:
            changed.append(f"{name}: missing")
        elif hashlib.sha256(files[name]).hexdigest() != sha256:
            changed.append(f"{name}: the bytes are not those that were sealed")
    changed += [f"{n}: not in the manifest" for n in files if n not in listed and n not in _FRONT]
    signed_by = ""
    if SIGNATURE in files:
        signed_by, trouble = checked_signature(files[MANIFEST], files[SIGNATURE])
        if trouble:
            changed.append(f"{SIGNATURE}: {trouble}")
    if not changed and (again := _packed(files)) != data:
        at = next((i for i, (a, b) in enumerate(zip(data, again)) if a != b), len(again))
        changed.append(f"byte {at} of the zip: the container is not as it was sealed")
    return Unsealed(files, manifest, tuple(changed), signed_by)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


def _seal_of(manifest: bytes) -> bytes:
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


def _packed(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    names = [n for n in _FRONT if n in files] + sorted(n for n in files if n not in _FRONT)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])
    return out.getvalue()


def _entries(data: bytes) -> tuple[dict[str, bytes], dict[str, int]]:
    """Contents and stated checksums by name; contents are cut out, so that a wrong one is no end."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise ValueError(f"the zip container cannot be read ({error})") from None
    files: dict[str, bytes] = {}
    for entry in entries:
        at = entry.header_offset
        head = data[at : at + 30]
        odd = entry.compress_type != zipfile.ZIP_STORED or not _NAME.fullmatch(entry.filename)
        if len(head) < 30 or odd or entry.filename in files:
            raise ValueError(f"the zip entry {entry.filename!r} is not as a bundle's are")
        begin = (
            at + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:], "little")
        )
        files[entry.filename] = data[begin : begin + entry.file_size]
    return files, {e.filename: e.CRC for e in entries}


def blocks(document: Document) -> bytes:
    """What was read: a line of identity, then each page as the store keeps it (model.codec)."""
    lines = [_line(identity(document)), *(codec.dumps(page) for page in document.pages)]
    return b"\n".join(lines) + b"\n"


def identity(document: Document) -> dict[str, Any]:
    """What binds a report to bytes, options and reader."""
    return {
        "document_id": document.document_id,
        "source_sha256": document.source_sha256,
        "reader_version": document.reader_version,
        "options": codec.plain(replace(document.options, password="")),
    }


def document_of(data: bytes) -> Document:
    """The document that `blocks` wrote; ValueError, KeyError or TypeError if it is none."""
    head, *pages = data.splitlines()
    about = json.loads(head)
    return number_document(
        about["document_id"],
        about["source_sha256"],
        about["reader_version"],
        codec.loads(ReadOptions, _line(about["options"])),
        tuple(codec.loads(Page, page) for page in pages),
    )


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode()
