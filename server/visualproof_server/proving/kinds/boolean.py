"""boolean: true and false as printed words."""

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.marks import mark_before, option_doubt
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.vocabulary.words import vocabulary


class Boolean:
    """Many yes and no stand on a page: only a label or a proof makes one of them the value's."""

    name = "boolean"
    repeats_by_chance = True
    is_text = False
    is_amount = False
    is_code = False
    is_literal = False

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> bool | None:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            word = fold_text(value).strip()
            return next((key for key in (True, False) if word in _words(key)), None)
        return None

    def needs_context(self, claim: bool, run: Run, index: Index) -> bool:
        return True

    def find(self, claim: bool, field: FieldSpec, index: Index) -> list[Match]:
        return [
            Match(Run((number,), word.text), self._doubt(number, claim, index))
            for number, word in enumerate(index.words)
            if _bare(word.text) in _words(claim)
        ]

    def _doubt(self, number: int, claim: bool, index: Index) -> str:
        """Whether the other answer stands beside it, or it is no answer: no more than, No. 5."""
        if mark_before(Run((number,), ""), index) is not None:
            # What is ticked says it, not the option's word.
            return option_doubt(Run((number,), ""), index)
        row = index.rows[index.row_of[number]]
        for step in (1, -1):
            at = number + step
            while row.start <= at < row.end and len(_bare(index.words[at].text)) < 2:
                at += step
            if row.start <= at < row.end and _bare(index.words[at].text) in _words(not claim):
                return Doubt.SEVERAL_PLACES
        if _box_beside(number, index):
            return Doubt.SEVERAL_PLACES
        alone = index.parted(number) or index.words[number].text.endswith((",", ";", "."))
        alone = alone or index.words[number + 1].text.endswith(":")
        if not alone or (index.words[number].text.endswith(".") and not index.parted(number)):
            # The clause goes on, or the word counts: no more than 2, Policy No. 12345.
            return Doubt.PART_OF_TEXT
        before = index.words[number - 1].text if number > row.start else ":"
        begins = number == row.start or index.parted(number - 1)
        told = before.endswith((":", "?", ".", ",", "-", "=", ")"))
        return "" if begins or told or self._labelled(number, index) else Doubt.PART_OF_TEXT

    def _labelled(self, number: int, index: Index) -> bool:
        """Whether a yes or no ends a short line of its own: Insured yes."""
        segment = index.segments[index.segment_of[number]]
        return (
            number == segment.end - 1
            and segment.end - segment.start <= 5
            and (
                _bare(index.words[number - 1].text)
                not in vocabulary().single("functional", "connectors")
            )
        )

    def misread(self, claim: bool, field: FieldSpec, index: Index) -> list[Run]:
        return []

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        known = _words(True) | _words(False)
        found = [
            Run((w,), index.words[w].text) for w in words if _bare(index.words[w].text) in known
        ]
        # Of options with boxes those that are ticked.
        options = [run for run in found if mark_before(run, index) is not None]
        return [run for run in options if not option_doubt(run, index)] if options else found

    def differs(self, claim: bool, run: Run, field: FieldSpec, index: Index) -> Difference:
        return Difference("VALUE_DIFFERS")


def _words(value: bool) -> frozenset[str]:
    return vocabulary().single("yes" if value else "no")


def _bare(text: str) -> str:
    return fold_text(text).strip(".,;:()[]?")


def _box_beside(number: int, index: Index) -> bool:
    """Whether a word has a box before it, empty or not."""
    row = index.rows[index.row_of[number]]
    before = "".join(index.words[w].text for w in range(max(row.start, number - 2), number))
    return (before.endswith(("]", ")")) and len(before) <= 3) or (
        before[-1:] in "☐□☑☒✓✔✗✘@" and bool(before)
    )
