"""One value that is looked for in one document, with all that the search for it asks."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from visualproof_server.model.answer import Claim
from visualproof_server.model.report import REASONS, FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.misses import Misses
from visualproof_server.proving.decide.printed_roles import PrintedRoles
from visualproof_server.proving.decide.roles import role_of
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places.captions import Captions, has_context
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run


@dataclass(frozen=True, slots=True)
class Page:
    """One document as it is searched for one request."""

    index: Index
    captions: Captions
    roles: PrintedRoles


class Sought:
    """One value in one document: every place that may print it, and what its field's name asks for."""

    def __init__(
        self, claim: Claim, spec: FieldSpec, kind: ValueKind, parsed: Any, page: Page
    ) -> None:
        self.claim, self.spec, self.kind, self.index = claim, spec, kind, page.index
        self.captions, self.roles = page.captions, page.roles
        self.parsed = parsed
        self.text = claim.value if isinstance(claim.value, str) else claim.value_json
        self.misses = Misses(self.text, spec, kind, parsed, page.index)
        self.every = kind.find(parsed, spec, page.index)
        # Looks order places without context; a caption or a proof is context.
        self.matches = [m for m in self.every if m.ranked_lower_because is None] or self.every
        self.role = None if has_context(spec) else role_of(spec, kind)

    def opposite_printed(self) -> bool:
        """Whether a negative amount may be the counter-entry of the same positive one."""
        value = self.claim.value
        if not isinstance(value, Decimal) or value >= 0:
            return False
        opposite = self.kind.parse(-value, self.spec, self.index)
        return bool(self.kind.find(opposite, self.spec, self.index))


def reason_of(code: str) -> Reason:
    """A reason in its usual words."""
    return Reason(code, REASONS[code])


def ambiguous(runs: list[Run], reasons: list[Reason]) -> Finding:
    """Equally good places: the first is shown, all are candidates."""
    return Finding(
        status=Status.AMBIGUOUS,
        reasons=tuple(reasons),
        places=tuple(runs[:1]),
        others=tuple(runs),
        equal=tuple(runs),
        printed=runs[0].text,
        exact=True,
    )


def share_words(a: Run, b: Run) -> bool:
    return bool(set(a.words) & set(b.words))
