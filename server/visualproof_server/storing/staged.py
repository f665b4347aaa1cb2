"""What a worker sees of the store: one document's blobs, laid there for one task."""

from collections.abc import Callable
from pathlib import Path

from visualproof_server.storing.disk import checked, read


class StagedDocument:
    """Implements LocalReader over a folder that `DocumentStore.stage` filled.

    fetch(document id, name) has one more blob laid there, if there is one and the task may see it.
    """

    shared = True

    def __init__(self, root: Path, fetch: Callable[[str, str], None] = lambda *_: None) -> None:
        self._root = root
        self._fetch = fetch

    def get(self, document_id: str, name: str) -> bytes | None:
        return read(self.local(document_id, name), document_id)

    def local(self, document_id: str, name: str) -> Path:
        file = self._root / checked(document_id, name)
        if not file.exists():
            self._fetch(document_id, name)
        return file

    def names(self, document_id: str) -> set[str]:
        """Names of what was laid there so far."""
        folder = self._root / checked(document_id)
        return {p.name for p in folder.iterdir()} if folder.is_dir() else set()
