"""A store on the local disk: a folder a document, a file a blob, written atomically."""

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from visualproof_server.model.errors import VisualProofError, of_system
from visualproof_server.storing.sealed import damaged, opened, sealed

_ID = re.compile(r"[0-9a-f]{8,64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class DiskStore:
    """Implements DocumentStore under `root`."""

    shared = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._bin = root.parent / "deleting"
        for folder in (root, self._bin):
            own_folder(folder)

    def sweep(self) -> int:
        """Finishes deletions and removes half-written files that a crash left; how many things it
        found that are none of its own, and left alone."""
        shutil.rmtree(self._bin, ignore_errors=True)
        self._bin.mkdir(exist_ok=True)
        odd = 0
        for entry in self._root.iterdir():
            if not _is_document(entry):
                odd += 1
                continue
            for left_over in entry.glob(".tmp-*"):
                with contextlib.suppress(IsADirectoryError, PermissionError):
                    left_over.unlink(missing_ok=True)
        return odd

    def put(self, document_id: str, name: str, data: bytes) -> None:
        path = self._path(document_id, name)
        try:
            self._make(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tmp-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(sealed(document_id, name, data))
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
        return read(self._path(document_id, name), document_id)

    def has(self, document_id: str, name: str) -> bool:
        return self._path(document_id, name).exists()

    def names(self, document_id: str) -> set[str]:
        try:
            entries = os.listdir(self._folder(document_id))
        except FileNotFoundError:
            return set()
        except NotADirectoryError:
            raise damaged() from None
        return {name for name in entries if not name.startswith(".")}

    def documents(self) -> list[str]:
        try:
            return sorted(p.name for p in self._root.iterdir() if _is_document(p))
        except OSError as error:
            raise VisualProofError(
                "STORE_UNREACHABLE", f"The store cannot be read ({error.strerror})."
            ) from None

    def remove(self, document_id: str, names: Iterable[str]) -> None:
        try:
            for name in names:
                self._path(document_id, name).unlink(missing_ok=True)
        except OSError as error:
            raise _full(error) from None
        with contextlib.suppress(OSError):
            # An empty folder is no document.
            self._folder(document_id).rmdir()

    def delete(self, document_id: str) -> None:
        # A rename takes it out of sight at once, whatever happens to the removal.
        folder = self._folder(document_id)
        try:
            try:
                grave = Path(tempfile.mkdtemp(dir=self._bin))
            except OSError:
                # No room even for a name: then what says that there is a document goes first.
                for first in ("state.json", "source"):
                    (folder / first).unlink(missing_ok=True)
                if folder.exists():
                    shutil.rmtree(folder)
                return
            with contextlib.suppress(FileNotFoundError):
                os.replace(folder, grave / "document")
        except OSError as error:
            raise _full(error) from None
        shutil.rmtree(grave, ignore_errors=True)

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        source, target = self._root / checked(document_id), folder / document_id
        wanted = self.names(document_id) if names is None else names
        try:
            target.mkdir(exist_ok=True)
            for name in wanted:
                # A link costs no copy; folder lies on the same disk.
                with contextlib.suppress(FileNotFoundError, FileExistsError):
                    os.link(source / checked(document_id, name).name, target / name)
        except (PermissionError, IsADirectoryError, NotADirectoryError):
            # Nothing that can be linked: it is no file.
            raise damaged() from None
        except OSError as error:
            raise _full(error) from None

    def _make(self, folder: Path) -> None:
        """A document's folder, there also after a crash."""
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            _sync(self._root)

    def _folder(self, document_id: str) -> Path:
        return self._root / checked(document_id)

    def _path(self, document_id: str, name: str) -> Path:
        return self._root / checked(document_id, name)


def own_folder(path: Path) -> None:
    """Makes a folder of the server's own; what else has its name is moved aside."""
    if path.exists() and not path.is_dir():
        number = 1
        while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
            number += 1
        path.rename(aside)
    path.mkdir(parents=True, exist_ok=True)


def _is_document(entry: Path) -> bool:
    return _ID.fullmatch(entry.name) is not None and entry.is_dir()


def _sync(folder: Path) -> None:
    """Makes the names in a folder last: a file's own fsync does not (fsync(2))."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _full(error: OSError) -> VisualProofError:
    text = f"The store cannot be written ({error.strerror}); free disk space."
    return of_system(error) or VisualProofError("DISK_FULL", text, retry_after_s=15.0)


def read(path: Path, document_id: str) -> bytes | None:
    """A blob in a file, None if there is none; errors DOCUMENT_DAMAGED, STORE_UNREACHABLE."""
    try:
        return opened(document_id, path.name, path.read_bytes())
    except FileNotFoundError:
        return None
    except (IsADirectoryError, NotADirectoryError):
        raise damaged() from None
    except OSError as error:
        if error.errno == errno.EIO:
            raise damaged() from None
        raise VisualProofError(
            "STORE_UNREACHABLE", f"The store cannot be read ({error.strerror}).", retry_after_s=5.0
        ) from None


def checked(document_id: str, name: str | None = None) -> Path:
    """The relative path of a document or blob; error DOCUMENT_ID_INVALID."""
    if not _ID.fullmatch(document_id):
        raise VisualProofError("DOCUMENT_ID_INVALID", "That is no document id of this server.")
    if name is None:
        return Path(document_id)
    if not _NAME.fullmatch(name):
        raise ValueError(f"no blob name: {name!r}")
    return Path(document_id) / name
