"""Whose work comes next when several tenants wait: start-time fair queueing (Goyal 1996)."""

import threading


class FairQueue:
    """A tenant's next work begins no earlier than its last, and no earlier than what is served."""

    def __init__(self) -> None:
        self._served = 0.0
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def take(self, tenant: str, cost: float = 1.0) -> float:
        """The start tag of one more piece of a tenant's work; the lowest goes first."""
        with self._lock:
            tag = max(self._served, self._last.get(tenant, 0.0))
            self._last[tenant] = tag + cost
            return tag

    def serve(self, tag: float) -> None:
        """Says that work of this tag has its turn."""
        with self._lock:
            self._served = max(self._served, tag)
