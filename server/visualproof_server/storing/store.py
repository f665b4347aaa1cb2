"""Where documents are kept: named blobs under a document's id."""

from pathlib import Path
from typing import Protocol


class DocumentStore(Protocol):
    """Blobs by (document id, name). A blob is there whole or not at all, also after a crash."""

    def put(self, document_id: str, name: str, data: bytes) -> None:
        """Writes or replaces a blob."""
        ...

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        """Moves a finished local file into the store."""
        ...

    def get(self, document_id: str, name: str) -> bytes | None:
        """A blob's bytes, None if there is none."""
        ...

    def local(self, document_id: str, name: str) -> Path:
        """A local file with the blob's bytes, for programs that need one."""
        ...

    def names(self, document_id: str) -> set[str]:
        """Names of a document's blobs."""
        ...

    def documents(self) -> list[str]:
        """Ids of all documents, sorted."""
        ...

    def delete(self, document_id: str) -> None:
        """Removes a document; nothing happens if there is none."""
        ...
