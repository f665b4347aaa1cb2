"""How many documents of a tenant are read at once."""

import asyncio
from collections import defaultdict


class TenantSlots:
    """Enough to keep all readers busy, which may become more; the readers are shared out fairly."""

    def __init__(self) -> None:
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))
        # How many each has so far.
        self._given: defaultdict[str, int] = defaultdict(int)

    def of(self, tenant: str, readers: int) -> asyncio.Semaphore:
        while self._given[tenant] < readers + 2:
            self._given[tenant] += 1
            self._slots[tenant].release()
        return self._slots[tenant]
