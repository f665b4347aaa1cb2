"""Which of several servers reads a document: the one that says so, as long as it keeps saying it."""

import secrets
import time
from collections.abc import Collection, Sequence

from visualproof_server.documents.survey import for_each
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.asynchronous import AsyncStore

# How long a server may be silent before others take up its documents, and how often it speaks.
LEASE_S, RENEW_S = 15.0, 4.0
# A lease that says so is nobody's.
_GIVEN_BACK = 0.0


class Leases:
    """Leases of one server in a shared store. Two servers that take up a document at the same
    moment both read it, and write the same.

    Only this server's own clock counts: a lease has ended when it did not change for LEASE_S.
    """

    def __init__(self, store: AsyncStore) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)
        # Others' leases, and since when they are as they are (monotonic seconds).
        self._seen: dict[str, tuple[tuple[str, float], float]] = {}

    async def take(self, name: str) -> None:
        """Says that this server reads a document."""
        await self._store.put_lease(name, self._owner, time.time() + LEASE_S)

    async def renew(self, mine: Collection[str]) -> None:
        """Says so again, of all that is read here; mine changes meanwhile."""

        async def renew(name: str) -> None:
            # One that was just deleted must not come back by its lease.
            if name in mine:
                await self._renew(name)

        await for_each(renew, list(mine))

    async def give_back(self, mine: Sequence[str]) -> None:
        """Lets others read what was read here, at once."""

        async def give(name: str) -> None:
            await self._store.put_lease(name, self._owner, _GIVEN_BACK)

        await for_each(give, list(mine))

    async def free(self, unread: Sequence[str]) -> list[str]:
        """Those of some documents that no server reads."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in unread}
        found: list[str] = []

        async def look(name: str) -> None:
            if await self._is_free(name):
                found.append(name)

        await for_each(look, list(unread))
        return found

    async def _is_free(self, name: str) -> bool:
        lease = await self._store.lease(name)
        owner, until = lease
        if not owner or until <= _GIVEN_BACK:
            return True
        now = time.monotonic()
        seen, since = self._seen.setdefault(name, (lease, now))
        if seen != lease:
            self._seen[name] = (lease, now)
            return False
        return now - since > LEASE_S

    async def _renew(self, name: str) -> None:
        try:
            await self.take(name)
        except VisualProofError as error:
            # One that was just deleted: the others' leases matter.
            if error.code != "DOCUMENT_NOT_FOUND":
                raise
