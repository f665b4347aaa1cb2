"""From places to a status: the case that was built for a value, and the gate that decides."""

from dataclasses import dataclass, replace

from visualproof_server.model.report import Anchor, Reason, Status
from visualproof_server.proving.places.stream import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the search for one value came to, before confidence is looked at. It does not change:
    who decides otherwise makes another.

    places prove it or print something else; others are candidates or the places elsewhere. equal
    are all places that print the value, where a list of items may choose between them. anchor says
    how the place was told. needs_second_reading asks for one however sure the first was.
    """

    status: Status
    reasons: tuple[Reason, ...] = ()
    places: tuple[Run, ...] = ()
    others: tuple[Run, ...] = ()
    equal: tuple[Run, ...] = ()
    printed: str = ""
    nearest: Run | None = None
    similarity: float = 1.0
    exact: bool = False
    cited: bool = False
    needs_second_reading: bool = False
    anchor: Anchor = Anchor.NONE

    def because(self, *notes: Reason) -> "Finding":
        """The same with more reasons, these first."""
        return replace(self, reasons=(*notes, *self.reasons))

    def demoted(self, status: Status, *notes: Reason) -> "Finding":
        """The same places with another status, and why."""
        return replace(self, status=status, reasons=(*notes, *self.reasons))


def gate(finding: Finding, doubt: Reason | None, stale: Reason | None) -> Status:
    """The rule by which a value turns green.

    VERIFIED needs all of: the answer was made for these bytes and this reader; the kind can be
    checked here; the value is equal, by its kind's exact comparison, to the whole of what is
    printed where its proof points, its caption or role is, or where it alone is printed; nothing
    around it bounds, negates, scales or continues it; the place is the only one, or equal prints
    cannot mean another thing; and the words were read by two readings that agree, or with good
    confidence where two are not to be had. Likeness is not among the conditions.
    """
    if stale is not None:
        return Status.STALE
    if finding.status is Status.VERIFIED and doubt is not None:
        return Status.UNCERTAIN
    return finding.status
