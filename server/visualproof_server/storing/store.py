"""Where documents are kept: named blobs under a document's id."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class DocumentReader(Protocol):
    """Blobs by (document id, name), to be read only."""

    def get(self, document_id: str, name: str) -> bytes | None:
        """A blob's bytes, None if there is none."""
        ...

    def local(self, document_id: str, name: str) -> Path:
        """A local file with the blob's bytes, for programs that need one."""
        ...

    def names(self, document_id: str) -> set[str]:
        """Names of a document's blobs."""
        ...


class DocumentStore(DocumentReader, Protocol):
    """A blob is there whole or not at all, also after a crash."""

    def put(self, document_id: str, name: str, data: bytes) -> None:
        """Writes or replaces a blob."""
        ...

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        """Moves a finished local file into the store."""
        ...

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        """Lays some blobs, or all, as files into a local folder; what is not there is left out."""
        ...

    def documents(self) -> list[str]:
        """Ids of all documents, sorted."""
        ...

    def delete(self, document_id: str) -> None:
        """Removes a document; nothing happens if there is none."""
        ...
