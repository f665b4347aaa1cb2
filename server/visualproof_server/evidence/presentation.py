"""How a result is said and coloured, alike on images, in PDFs and on the page for reviewers."""

from visualproof_server.model.report import Action, Evidence, FieldResult, Status

Colour = tuple[int, int, int]

# Release green, review amber, block red (RGB); each also has a line style of its own.
COLOURS: dict[Action, Colour] = {
    Action.RELEASE: (0, 132, 61),
    Action.REVIEW: (199, 108, 0),
    Action.BLOCK: (200, 16, 46),
}
# The same on dark ground.
ON_DARK: dict[Action, Colour] = {
    Action.RELEASE: (64, 224, 128),
    Action.REVIEW: (255, 184, 77),
    Action.BLOCK: (255, 110, 120),
}


def shown(result: FieldResult) -> tuple[Evidence, ...]:
    """What is drawn for a value: its evidence, and what else could be meant."""
    if result.status is Status.AMBIGUOUS:
        return result.candidates or result.evidence
    return result.evidence


def name_of(result: FieldResult) -> str:
    """The field's name as people say it: `items.0.amount`."""
    return result.path.strip("/").replace("/", ".") or "value"


def said(result: FieldResult) -> str:
    """All of a result in a few lines: field, extracted, printed, status, reasons."""
    lines = [
        f"Field: {name_of(result)}",
        f"Extracted: {result.value_json or '(nothing)'}",
        f"Printed: {result.printed_text or '(nothing)'}",
        f"Status: {result.status.name.replace('_', ' ').lower()} ({result.action.name.lower()})",
    ]
    return "\n".join(lines + [f"{r.code}: {r.message}" for r in result.reasons])
