"""A fresh worker for each document: one that a document has taken over never sees another's."""

import threading
from typing import Any

from visualproof_server.workers.slot import Crashed, Slot, Work


class IsolatedSlot:
    """Two slots in turn: one works on a document, the other starts its next worker meanwhile."""

    def __init__(self, working: Slot, spare: Slot) -> None:
        self._slots = (working, spare)
        self._document: str | None = None
        self._renewing: threading.Thread | None = None

    def run(self, work: Work) -> Any:
        """As Slot's."""
        if self._document not in (None, work.document_id):
            self._turn()
        self._document = work.document_id
        return self._slots[0].run(work)

    def kill(self, why: str = "closed") -> None:
        """Ends both workers."""
        self._renewed()
        for slot in self._slots:
            slot.kill(why)

    def remove(self) -> None:
        """Removes the folders of both."""
        self._renewed()
        for slot in self._slots:
            slot.remove()

    def _turn(self) -> None:
        """Takes the spare, and has what worked so far replaced."""
        self._renewed()
        used, spare = self._slots
        self._slots = (spare, used)
        self._renewing = threading.Thread(target=_renew, args=(used,), daemon=True)
        self._renewing.start()

    def _renewed(self) -> None:
        if self._renewing is not None:
            self._renewing.join()
            self._renewing = None


def _renew(slot: Slot) -> None:
    slot.kill("isolated")
    try:
        slot.start()
    except (Crashed, OSError):
        # It is started again, and then said, when it is needed.
        slot.kill("isolated")
