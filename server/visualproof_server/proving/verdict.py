"""From places to a status: the case that was built for a value, and the gate that decides."""

from dataclasses import dataclass, field

from visualproof_server.model.report import Reason, Status
from visualproof_server.proving.index import Run


@dataclass(slots=True)
class Finding:
    """What the search for one value came to, before confidence is looked at.

    places prove it or print something else; others are candidates or the places elsewhere. equal
    are all places that print the value, where a list of items may choose between them.
    suspect asks for a second reading however confident the first reading was.
    """

    status: Status
    reasons: list[Reason] = field(default_factory=list)
    places: list[Run] = field(default_factory=list)
    others: list[Run] = field(default_factory=list)
    equal: list[Run] = field(default_factory=list, kw_only=True)
    printed: str = ""
    nearest: Run | None = None
    similarity: float = 1.0
    exact: bool = False
    cited: bool = False
    suspect: bool = False


def gate(finding: Finding, doubt: Reason | None, stale: Reason | None) -> Status:
    """The rule by which a value turns green.

    VERIFIED needs all of: the answer was made for these bytes and this reader; the kind can be
    checked here; the value is equal, by its kind's exact comparison, to what is printed where its
    proof points or its context is; the place is the only one, or equal prints cannot mean another
    thing; and the words were read with good confidence, or a second, independent reading of the
    same pixels agreed. Likeness is not among the conditions.
    """
    if stale is not None:
        return Status.STALE
    if finding.status is Status.VERIFIED and doubt is not None:
        return Status.UNCERTAIN
    return finding.status
