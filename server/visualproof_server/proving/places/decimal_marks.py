"""How a document writes its numbers: decimal mark, groups, cents."""

from collections.abc import Iterable

from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.values.number_read import NumberRead

# Doubts under which a number tells nothing of the document's marks.
_NOT_TELLING = frozenset({Doubt.GROUPING_UNKNOWN, Doubt.JOINED, Doubt.SPACED})


def decimal_mark(reads: Iterable[NumberRead]) -> str:
    """The document's own decimal mark; empty where its numbers do not tell or disagree.

    What has both marks or several groups tells for sure. Else what can be read in one way
    only does, unless more numbers than those have three digits after the same mark, as after
    one that groups.
    """
    sure, votes, grouped = set(), {".": 0, ",": 0}, {".": 0, ",": 0}
    for read in reads:
        if read.doubts & _NOT_TELLING:
            continue
        mark = read.readings[0].mark
        if len(read.readings) == 1 and mark in votes:
            marks = read.digits.count(".") + read.digits.count(",")
            if marks > 1:
                sure.add(mark)
            votes[mark] += 1
        elif len(read.readings) == 2:
            grouped[read.readings[1].mark] += 1
    if len(sure) == 1:
        return sure.pop()
    (winner, most), (_, least) = sorted(votes.items(), key=lambda v: -v[1])
    return winner if most > grouped[winner] and not least * 10 > most and not sure else ""


def grouping_mark(reads: Iterable[NumberRead]) -> str:
    """The mark by which the document groups digits, so not by spaces; empty where it shows none, or
    several."""
    marks = set()
    for read in reads:
        if "'" in read.digits:
            marks.add("'")
        elif "." in read.digits and "," in read.digits:
            marks.add(min(".,", key=read.digits.rindex))
    return marks.pop() if len(marks) == 1 else ""


def prints_cents(reads: Iterable[NumberRead]) -> bool:
    """Whether the document's amounts show two decimals, but for a few."""
    amounts = [r for r in reads if r.currencies or r.decimals == 2]
    cents = sum(r.decimals == 2 for r in amounts)
    return cents >= 3 and cents >= 0.8 * len(amounts)
