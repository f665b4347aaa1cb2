"""What a worker sees of the store: one document's blobs, laid there for one task."""

from pathlib import Path

from visualproof_server.storing.disk import checked


class View:
    """Implements DocumentReader over a folder that `DocumentStore.stage` filled."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, document_id: str, name: str) -> bytes | None:
        try:
            return self.local(document_id, name).read_bytes()
        except FileNotFoundError:
            return None

    def local(self, document_id: str, name: str) -> Path:
        return self._root / checked(document_id, name)

    def names(self, document_id: str) -> set[str]:
        folder = self._root / checked(document_id)
        return {p.name for p in folder.iterdir()} if folder.is_dir() else set()
