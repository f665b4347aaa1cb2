"""Check boxes beside words: which is an option's, and which options are rivals."""

from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.ticks import is_box, is_ticked


def mark_before(label: Run, index: Index) -> tuple[bool, Run] | None:
    """The mark that stands directly before an option's words: whether it is ticked, and where."""
    first = label.words[0]
    row = index.rows[index.row_of[first]]
    for size in (1, 2, 3):
        start = first - size
        if start < row.start or index.parted(start):
            return None
        text = "".join(index.words[w].text for w in range(start, first))
        ticked = is_ticked(text)
        if ticked is not None and (text not in ("x", "X") or size > 1):
            return ticked, Run(tuple(range(start, first)), text)
    return None


def option_doubt(run: Run, index: Index) -> str:
    """Why the words of one of several options are not what was chosen: its box is not ticked, it has
    none where others have, or another's is ticked too. "" where its box alone is, or none has one."""
    boxes = index.boxes_of(index.row_of[run.words[0]])
    own = mark_before(run, index)
    if own is None:
        return Doubt.NOT_TICKED if boxes else ""
    if not own[0]:
        return Doubt.NOT_TICKED
    ticked = sum(is_box(index.words[w].text) for w in own[1].words)
    return Doubt.SEVERAL_PLACES if boxes[True] > ticked else ""
