"""A real store on disk that can stand still at a call, be away, or be slow."""

import fnmatch
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.disk import DiskStore


class Gate:
    """Where a call stands still: `reached` is set then, and it goes on when `open` is."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.reached = threading.Event()
        self.open = threading.Event()


class StallingStore(DiskStore):
    """Calls are named `put page-000001.json`, `get state.json`, `documents`, ..."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.delay_s = 0.0
        self.calls: list[str] = []
        self._gates: list[Gate] = []
        self._refused: list[tuple[str, str]] = []

    @contextmanager
    def held(self, pattern: str) -> Iterator[Gate]:
        """The first call that matches stands still until the gate is open, or the block ends."""
        gate = Gate(pattern)
        self._gates.append(gate)
        try:
            yield gate
        finally:
            gate.open.set()

    @contextmanager
    def refusing(self, pattern: str, code: str = "STORE_UNREACHABLE") -> Iterator[None]:
        """Calls that match fail."""
        entry = (pattern, code)
        self._refused.append(entry)
        try:
            yield
        finally:
            self._refused.remove(entry)

    def _pass(self, call: str, name: str = "") -> None:
        text = f"{call} {name}".strip()
        self.calls.append(text)
        if self.delay_s:
            time.sleep(self.delay_s)
        for gate in self._gates:
            if fnmatch.fnmatch(text, gate.pattern) and not gate.reached.is_set():
                gate.reached.set()
                assert gate.open.wait(60)
        for pattern, code in self._refused:
            if fnmatch.fnmatch(text, pattern):
                raise VisualProofError(code, "The store does not answer.")

    def put(self, document_id: str, name: str, data: bytes) -> None:
        self._pass("put", name)
        super().put(document_id, name, data)

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        self._pass("adopt", name)
        super().adopt(document_id, name, file)

    def get(self, document_id: str, name: str) -> bytes | None:
        self._pass("get", name)
        return super().get(document_id, name)

    def has(self, document_id: str, name: str) -> bool:
        self._pass("has", name)
        return super().has(document_id, name)

    def names(self, document_id: str) -> set[str]:
        self._pass("names")
        return super().names(document_id)

    def documents(self) -> list[str]:
        self._pass("documents")
        return super().documents()

    def delete(self, document_id: str) -> None:
        self._pass("delete")
        super().delete(document_id)

    def remove(self, document_id: str, names: Iterable[str]) -> None:
        self._pass("remove")
        super().remove(document_id, names)
