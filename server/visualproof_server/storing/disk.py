"""A store on the local disk: a folder a document, a file a blob, written atomically."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from visualproof_server.model.errors import VisualProofError

_ID = re.compile(r"[0-9a-f]{8,64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class DiskStore:
    """Implements DocumentStore under `root`."""

    shared = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._bin = root.parent / "deleting"
        root.mkdir(parents=True, exist_ok=True)
        self._bin.mkdir(exist_ok=True)

    def sweep(self) -> None:
        """Finishes deletions and removes half-written files that a crash left."""
        shutil.rmtree(self._bin, ignore_errors=True)
        self._bin.mkdir(exist_ok=True)
        for left_over in self._root.glob("*/.tmp-*"):
            left_over.unlink(missing_ok=True)

    def put(self, document_id: str, name: str, data: bytes) -> None:
        path = self._path(document_id, name)
        try:
            self._make(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path)
                _sync(path.parent)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _full(error) from None

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        path = self._path(document_id, name)
        try:
            self._make(path.parent)
            os.replace(file, path)
            _sync(path.parent)
        except OSError as error:
            raise _full(error) from None

    def get(self, document_id: str, name: str) -> bytes | None:
        try:
            return self._path(document_id, name).read_bytes()
        except FileNotFoundError:
            return None

    def has(self, document_id: str, name: str) -> bool:
        return self._path(document_id, name).exists()

    def names(self, document_id: str) -> set[str]:
        try:
            entries = os.listdir(self._folder(document_id))
        except FileNotFoundError:
            return set()
        return {name for name in entries if not name.startswith(".")}

    def documents(self) -> list[str]:
        return sorted(p.name for p in self._root.iterdir() if _ID.fullmatch(p.name))

    def remove(self, document_id: str, names: Iterable[str]) -> None:
        for name in names:
            self._path(document_id, name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            # An empty folder is no document.
            self._folder(document_id).rmdir()

    def delete(self, document_id: str) -> None:
        # A rename takes it out of sight at once, whatever happens to the removal.
        folder = self._folder(document_id)
        try:
            grave = Path(tempfile.mkdtemp(dir=self._bin))
            with contextlib.suppress(FileNotFoundError):
                os.replace(folder, grave / "document")
        except OSError as error:
            raise _full(error) from None
        shutil.rmtree(grave, ignore_errors=True)

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        source, target = self._root / checked(document_id), folder / document_id
        wanted = self.names(document_id) if names is None else names
        target.mkdir(exist_ok=True)
        for name in wanted:
            # A link costs no copy; folder lies on the same disk.
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                os.link(source / checked(document_id, name).name, target / name)

    def _make(self, folder: Path) -> None:
        """A document's folder, there also after a crash."""
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            _sync(self._root)

    def _folder(self, document_id: str) -> Path:
        return self._root / checked(document_id)

    def _path(self, document_id: str, name: str) -> Path:
        return self._root / checked(document_id, name)


def _sync(folder: Path) -> None:
    """Makes the names in a folder last: a file's own fsync does not (fsync(2))."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _full(error: OSError) -> VisualProofError:
    return VisualProofError(
        "DISK_FULL", f"The store cannot be written ({error.strerror}); free disk space."
    )


def checked(document_id: str, name: str | None = None) -> Path:
    """The relative path of a document or blob; error DOCUMENT_ID_INVALID."""
    if not _ID.fullmatch(document_id):
        raise VisualProofError("DOCUMENT_ID_INVALID", "That is no document id of this server.")
    if name is None:
        return Path(document_id)
    if not _NAME.fullmatch(name):
        raise ValueError(f"no blob name: {name!r}")
    return Path(document_id) / name
