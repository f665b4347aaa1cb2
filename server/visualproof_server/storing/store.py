"""Where documents are kept: named blobs under a document's id."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class DocumentReader(Protocol):
    """Blobs by (document id, name), to be read only. Error DOCUMENT_DAMAGED for a blob that is not
    what was put there."""

    @property
    def shared(self) -> bool:
        """Whether others may use it at the same time."""
        ...

    def get(self, document_id: str, name: str) -> bytes | None:
        """A blob's bytes, None if there is none."""
        ...

    def names(self, document_id: str) -> set[str]:
        """Names of a document's blobs."""
        ...


class LocalReader(DocumentReader, Protocol):
    """Blobs that lie on the local disk."""

    def local(self, document_id: str, name: str) -> Path:
        """The file with a blob's bytes, for programs that need one."""
        ...


class DocumentStore(DocumentReader, Protocol):
    """A blob is there whole or not at all, also after a crash. Error STORE_UNREACHABLE."""

    def has(self, document_id: str, name: str) -> bool:
        """Whether there is a blob, without fetching it."""
        ...

    def put(self, document_id: str, name: str, data: bytes) -> None:
        """Writes or replaces a blob."""
        ...

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        """Moves a finished local file into the store."""
        ...

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        """Lays some blobs, or all, as files into a local folder, beside those laid there before; what
        is not there is left out."""
        ...

    def documents(self) -> list[str]:
        """Ids of all documents, sorted; an object store may still name one that is gone."""
        ...

    def remove(self, document_id: str, names: Iterable[str]) -> None:
        """Removes some blobs; nothing happens if they are not there."""
        ...

    def delete(self, document_id: str) -> None:
        """Removes a document; nothing happens if there is none."""
        ...
