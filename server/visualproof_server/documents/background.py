"""Work that goes on as long as the server does: it fails loudly, and never ends by itself."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from visualproof_server.metrics import BACKGROUND_FAILURES
from visualproof_server.model.errors import VisualProofError

log = logging.getLogger("visualproof.background")


async def every(
    name: str, period_s: float, step: Callable[[], Awaitable[None]], first_s: float = 0.0
) -> None:
    """Does a step each period_s seconds, first after first_s; what fails is said, and tried again.

    A slow step does not put off the next one by its own duration.
    """
    await asyncio.sleep(first_s)
    while True:
        started = time.monotonic()
        try:
            await step()
        except VisualProofError as error:
            BACKGROUND_FAILURES.labels(name, error.code).inc()
            log.warning("step failed", extra={"task": name, "code": error.code})
        except Exception:
            BACKGROUND_FAILURES.labels(name, "INTERNAL").inc()
            log.exception("step failed", extra={"task": name})
        await asyncio.sleep(max(0.0, period_s - (time.monotonic() - started)))
