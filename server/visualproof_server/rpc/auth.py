"""Who calls: bearer tokens decide the tenant, never a message.

A tokens file has one line a token: the tenant's name, then the token's SHA-256 in hex. It is read
again when it changes, so that tokens can be added and withdrawn while the service runs.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from pathlib import Path

from visualproof_server.model.errors import VisualProofError

_LINE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,62})\s+([0-9a-f]{64})")


class Tokens:
    """The tokens of a file; without one, every caller is the same tenant, named ""."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._stamp: tuple[int, int] = (0, 0)
        self._known: list[tuple[str, bytes]] = []
        if file is not None:
            self._known = read_tokens(file)
            self._stamp = self._stamp_of(file)

    def tenant_of(self, metadata: Iterable[tuple[str, str | bytes]]) -> str:
        """The caller's tenant; error TOKEN_INVALID."""
        if self._file is None:
            return ""
        self._refresh(self._file)
        given = next((v for k, v in metadata if k == "authorization"), "")
        scheme, _, token = str(given).partition(" ")
        digest = hashlib.sha256(token.strip().encode()).hexdigest().encode()
        found = ""
        # All are compared, so that time tells nothing about which is near.
        for tenant, known in self._known:
            if hmac.compare_digest(digest, known):
                found = tenant
        if scheme.lower() != "bearer" or not found:
            raise VisualProofError("TOKEN_INVALID", "Send a valid bearer token.")
        return found

    def _refresh(self, file: Path) -> None:
        try:
            stamp = self._stamp_of(file)
            if stamp != self._stamp:
                self._known = read_tokens(file)
                self._stamp = stamp
        except (OSError, ValueError):
            # A file that is just being written: the tokens known so far stay.
            return

    @staticmethod
    def _stamp_of(file: Path) -> tuple[int, int]:
        stat = file.stat()
        return stat.st_mtime_ns, stat.st_size


def read_tokens(file: Path) -> list[tuple[str, bytes]]:
    """(tenant, SHA-256 in hex) by line; ValueError names a line that is neither token nor comment."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise ValueError(f"{file}, line {number}: a tenant and a SHA-256 in hex")
        found.append((match[1], match[2].encode()))
    return found
