"""Whether the clause that a text stands in denies what it says."""

from collections.abc import Iterator

from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary

ENDS = (".", "!", "?", ";")
_BEFORE_WORDS, _AFTER_WORDS = 12, 4


def is_short(text: str) -> bool:
    """Whether a period may be an abbreviation's: No., St., K."""
    return text.endswith(".") and (len(text) <= 4 or text.count(".") > 1 or text[:-1].isdigit())


def negated(claim: str, run: Run, index: Index) -> str:
    """Whether the clause denies what the run says: not refundable, neither party is liable."""
    phrases = vocabulary().negations
    before = [w for w, _ in _clause_before(run, index)][::-1]
    if _has_phrase(before, phrases):
        return Doubt.NEGATION_DIFFERS
    after = list(_clause_after(run, index))
    if after and (after[0],) in phrases and after[0] not in ("no", "non", "none"):
        return Doubt.NEGATION_DIFFERS
    # German denies at the clause's end.
    return Doubt.NEGATION_DIFFERS if any(w in ("nicht", "niet") for w in after) else ""


def _has_phrase(words: list[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    return any(
        tuple(words[at : at + size]) in phrases
        for at in range(len(words))
        for size in (1, 2, 3)
        if at + size <= len(words)
    )


def _clause_before(run: Run, index: Index) -> Iterator[tuple[str, int]]:
    """Words before a run back to the start of its clause, nearest first."""
    word = run.words[0] - 1
    for _ in range(_BEFORE_WORDS):
        if word < 0 or index.page_of(word) != index.page_of(run.words[0]):
            return
        text = index.words[word].text
        new_row = index.row_of[word] != index.row_of[word + 1]
        if not new_row and index.parted(word):
            return
        if new_row and not _wraps_into(word, index):
            return
        if text.endswith((*ENDS, ":")) and not (is_short(text) and not text.endswith(":")):
            return
        folded = fold_text(text).strip(".,()[]\"'“”")
        following = index.words[word + 1].text
        if folded in ("no", "nr", "non") and (text.endswith(".") or following[:1].isdigit()):
            # "No." counts, it does not deny.
            return
        yield folded, word
        word -= 1


def _wraps_into(word: int, index: Index) -> bool:
    """Whether the line that a word ends may go on in the next: it does not end a block or field."""
    row, below = index.rows[index.row_of[word]], index.rows[index.row_of[word + 1]]
    if row.table or below.table:
        return False
    one, other = index.words[word].box, index.words[word + 1].box
    height = max(1, one.height, other.height)
    first = index.words[word + 1].text[:1]
    return other.middle - one.middle < 2.5 * height and (
        first.islower() or index.words[word].text.endswith("-")
    )


def _clause_after(run: Run, index: Index) -> Iterator[str]:
    word = run.words[-1]
    if index.words[word].text.endswith((",", *ENDS, ":")):
        return
    for _ in range(_AFTER_WORDS):
        if index.parted(word):
            return
        word += 1
        text = index.words[word].text
        yield fold_text(text).strip(".,()[]\"'“”")
        if text.endswith((*ENDS, ":", ",")):
            return
