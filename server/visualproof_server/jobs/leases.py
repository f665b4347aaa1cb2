"""Which of several servers reads a document: the one that says so, as long as it keeps saying it."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

from visualproof_server.model.document import DocumentState, State
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentStore

log = logging.getLogger("visualproof.leases")
# How long a server may be silent before others take up its documents, and how often it speaks.
LEASE_S, RENEW_S = 15.0, 4.0


class Leases:
    """Leases of one server in a shared store. Two servers that take up a document at the same
    moment both read it, and write the same."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)

    async def take(self, name: str) -> None:
        """Says that this server reads a document."""
        until = time.time() + LEASE_S
        await asyncio.to_thread(documents.put_lease, self._store, name, self._owner, until)

    async def keep(
        self, mine: Callable[[], list[str]], begin: Callable[[DocumentState], None]
    ) -> None:
        """Renews the leases of what is read here, and takes up what a silent server left."""
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                for name in mine():
                    await self.take(name)
                for name in await asyncio.to_thread(self._store.documents):
                    if name not in mine() and (left := await self._left(name)) is not None:
                        await self.take(name)
                        log.info("taken over", extra={"document": name})
                        begin(left)
            except VisualProofError as error:
                log.warning("store", extra={"code": error.code})

    async def _left(self, name: str) -> DocumentState | None:
        """A document that nobody reads and somebody should."""
        try:
            state = await asyncio.to_thread(documents.state_of, self._store, name)
            _, until = await asyncio.to_thread(documents.lease_of, self._store, name)
        except (ValueError, KeyError):
            return None
        except VisualProofError as error:
            if error.code == "DOCUMENT_NOT_FOUND":
                return None
            raise
        unread = state.state in (State.QUEUED, State.READING)
        return state if unread and until < time.time() else None
