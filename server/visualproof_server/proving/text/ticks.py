"""What the mark of a check box says."""

from visualproof_server.proving.text.folding import fold_text

_TICKED = frozenset({"✓", "✔", "☑", "☒", "[x]", "(x)", "[✓]", "[✔]", "x", "✗", "✘"})
_UNTICKED = frozenset({"☐", "□", "[]", "[_]", "()", "[ ]"})


def is_ticked(text: str) -> bool | None:
    """True for a ticked box, False for an empty one, None for no box."""
    bare = "".join(fold_text(text).split())
    if bare in _TICKED:
        return True
    return False if bare in _UNTICKED else None


def is_box(text: str) -> bool:
    """Whether a word is a box by itself; a lone x may be anything."""
    return is_ticked(text) is not None and text not in ("x", "X")
