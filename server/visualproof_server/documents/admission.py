"""Whether one more document is taken: what the machine has left, and what waits already."""

import asyncio
from collections.abc import Mapping

from visualproof_server.documents.resource_guard import ResourceGuard
from visualproof_server.model.errors import VisualProofError


class Admission:
    """Bounds of what waits, of all and of one tenant, and what the machine must have left."""

    def __init__(
        self, waiting: int, tenant_waiting: int, guard: ResourceGuard | None = None
    ) -> None:
        self._waiting = waiting
        self._tenant_waiting = tenant_waiting
        self._guard = guard

    async def check(self, tenants: Mapping[str, str], tenant: str) -> None:
        """tenants names the owner of each document that waits.

        Errors QUEUE_FULL, of all or of this tenant, and those of ResourceGuard.
        """
        if self._guard is not None:
            await asyncio.to_thread(self._guard.check)
        mine = sum(owner == tenant for owner in tenants.values())
        if tenant and mine >= self._tenant_waiting:
            raise _full(mine, "of your documents")
        if len(tenants) >= self._waiting:
            raise _full(len(tenants), "documents")


def _full(count: int, whose: str) -> VisualProofError:
    return VisualProofError(
        "QUEUE_FULL",
        f"{count} {whose} are waiting; try again shortly.",
        {"waiting": str(count)},
        retry_after_s=2.0 + count,
    )
