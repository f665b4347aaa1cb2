"""Names what decides: a digest of sources and data, and of the versions of libraries."""

import hashlib
import importlib.metadata
import platform
import unicodedata
from collections.abc import Iterable
from pathlib import Path


def digest_of(folders: Iterable[Path], libraries: Iterable[str]) -> str:
    """16 hex digits that change whenever a file in the folders, or a library's version, does.

    Python and its Unicode tables count as libraries.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(p for p in folder.rglob("*") if _counts(p)):
            name = file.relative_to(folder.parent).as_posix()
            digest.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    versions = [f"{name} {_version(name)}" for name in libraries]
    python = ".".join(platform.python_version_tuple()[:2])
    for line in (*versions, f"python {python}", f"unicode {unicodedata.unidata_version}"):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()[:16]


def _counts(file: Path) -> bool:
    return file.is_file() and file.suffix != ".pyc" and not file.name.startswith(".")


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return ""
