"""Blobs with their digest before them: what comes back is what was put there, or it is damaged.

The digest is over document, name and bytes, so that a blob at another's place is damage, too. Files
that programs open as they are have none: the document's id and state name theirs.
"""

import hashlib
from pathlib import PurePath

from visualproof_server.model.errors import VisualProofError

_MARK = b"sealed "
_HEAD = len(_MARK) + 64 + 1
AS_THEY_ARE = frozenset({"source", "reading"})
# How blobs begin that a server before this wrote, by the end of their names.
_BEFORE: dict[str, tuple[bytes, ...]] = {
    ".json": (b"{", b"["), ".jpg": (b"\xff\xd8",), ".webp": (b"RIFF",), ".z": (b"\x78",),
}  # fmt: skip


def sealed(document_id: str, name: str, data: bytes) -> bytes:
    """A blob as it is stored."""
    if name in AS_THEY_ARE:
        return data
    return _MARK + _digest(document_id, name, data) + b"\n" + data


def opened(document_id: str, name: str, stored: bytes) -> bytes:
    """The blob that `sealed` stored; error DOCUMENT_DAMAGED."""
    if name in AS_THEY_ARE:
        return stored
    data = stored[_HEAD:]
    if stored[:_HEAD] == _MARK + _digest(document_id, name, data) + b"\n":
        return data
    if stored.startswith(_BEFORE.get(PurePath(name).suffix, ())):
        # Whoever reads it finds out whether it is whole.
        return stored
    raise damaged()


def damaged() -> VisualProofError:
    """The same for what is missing and for what is not what was put there."""
    return VisualProofError(
        "DOCUMENT_DAMAGED",
        "The stored document is damaged: its files are not as they were written. Upload it again.",
    )


def _digest(document_id: str, name: str, data: bytes) -> bytes:
    digest = hashlib.sha256(f"{document_id}/{name}\n".encode())
    digest.update(data)
    return digest.hexdigest().encode()
