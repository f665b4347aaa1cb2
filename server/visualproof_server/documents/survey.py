"""What is in the store, looked at again and again: what has expired goes, and what nobody reads is
taken up."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from visualproof_server.metrics import DOCUMENTS_ASIDE
from visualproof_server.model.document import DocumentState, State
from visualproof_server.model.errors import VisualProofError
from visualproof_server.storing.asynchronous import AsyncStore

# A state that was final is looked at again after this long: the document may have been deleted and
# sent again, or its server is gone.
_AGAIN_S = 60.0
# Calls to the store at once.
_AT_ONCE, _AT_START = 8, 16
# How long blobs may be there without a state: an upload into a slow store takes its time.
REMAINS_S = 3600.0
UNREAD = (State.QUEUED, State.READING)
# What is not served, not deleted, and said: another version's state, or a damaged one.
ASIDE = ("STATE_UNKNOWN", "DOCUMENT_DAMAGED")


@dataclass(frozen=True, slots=True)
class Found:
    """Documents on their way; ids of those that have expired; ids that have blobs and no state; ids of
    those that were set aside for so long that they have expired."""

    unread: list[DocumentState]
    expired: list[str]
    remains: list[str]
    forlorn: list[str]


@dataclass(slots=True)
class _Aside:
    """A document that cannot be served: since when that is known, when it was looked at last
    (monotonic seconds), and why."""

    since: float
    at: float
    code: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """A document as it stood at a time (monotonic seconds)."""

    state: DocumentState
    at: float


class Survey:
    """Remembers final states, so that a look costs one listing and the documents on their way."""

    def __init__(
        self, store: AsyncStore, on_aside: Callable[[str, str], None], retention_s: float
    ) -> None:
        self._store = store
        self._retention_s = retention_s
        self._seen: dict[str, _Seen] = {}
        # Since when an id has had no state that can be had.
        self._stateless: dict[str, float] = {}
        self._aside: dict[str, _Aside] = {}
        # Told of documents that are set aside, once: (id, code).
        self._on_aside = on_aside

    async def look(self) -> Found:
        """What is in the store now; error STORE_UNREACHABLE."""
        names = await self._store.documents()
        for known in (self._seen, self._stateless, self._aside):
            for gone in known.keys() - set(names):
                known.pop(gone)
        now = time.monotonic()
        await for_each(self._see, [name for name in names if self._is_due(name, now)])
        DOCUMENTS_ASIDE.set(len(self._aside))
        states = [seen.state for seen in self._seen.values()]
        return Found(
            [s for s in states if s.state in UNREAD],
            [s.document_id for s in states if s.expire_time < time.time()],
            [name for name, since in self._stateless.items() if now - since > REMAINS_S],
            [name for name, aside in self._aside.items() if self._is_forlorn(aside, now)],
        )

    def _is_forlorn(self, aside: _Aside, now: float) -> bool:
        """Whether nobody else will delete it: a newer server on a shared store does."""
        others = self._store.shared and aside.code == "STATE_UNKNOWN"
        return not others and now - aside.since > max(self._retention_s, REMAINS_S)

    def _is_due(self, name: str, now: float) -> bool:
        if name in self._aside:
            return now - self._aside[name].at > _AGAIN_S
        seen = self._seen.get(name)
        return seen is None or seen.state.state in UNREAD or now - seen.at > _AGAIN_S

    async def _see(self, name: str) -> None:
        now = time.monotonic()
        try:
            state = await self._store.state(name)
        except VisualProofError as error:
            self._seen.pop(name, None)
            if error.code == "DOCUMENT_NOT_FOUND":
                # An upload may be on its way: it is looked for at each look.
                self._stateless.setdefault(name, now)
            elif error.code in ASIDE:
                if name not in self._aside:
                    self._on_aside(name, error.code)
                since = self._aside[name].since if name in self._aside else now
                self._aside[name] = _Aside(since, now, error.code)
            else:
                raise
        else:
            self._seen[name] = _Seen(state, now)
            self._stateless.pop(name, None)
            self._aside.pop(name, None)


async def for_each(work: Callable[[str], Awaitable[None]], names: list[str]) -> None:
    """Does the same for each name, a few at once; the first error ends it."""
    left = iter(names)

    async def run() -> None:
        for name in left:
            await work(name)

    await asyncio.gather(*(run() for _ in range(min(_AT_ONCE, len(names)))))


async def states_of(
    store: AsyncStore, names: list[str]
) -> AsyncIterator[tuple[str, DocumentState | VisualProofError]]:
    """Each document's state, or why it cannot be had; a few are asked for at once."""
    for at in range(0, len(names), _AT_START):
        some = names[at : at + _AT_START]
        found = await asyncio.gather(*(store.state(n) for n in some), return_exceptions=True)
        for name, state in zip(some, found, strict=True):
            if isinstance(state, DocumentState | VisualProofError):
                yield name, state
            else:
                raise state
