"""boolean: true and false as printed words."""

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.folding import fold_text

_WORDS = {
    True: frozenset(
        ["yes", "true", "ja", "oui", "sí", "si", "sim", "y", "x", "✓", "✔", "☑", "☒", "selected"]
    ),
    False: frozenset(["no", "false", "nein", "non", "não", "nee", "n", "☐", "unselected"]),
}


class Boolean:
    """Many yes and no stand on a page: only a label or a proof makes one of them the value's."""

    name = "boolean"
    chance = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> bool | None:
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            word = fold_text(value).strip()
            return next((key for key, words in _WORDS.items() if word in words), None)
        return None

    def find(self, claim: bool, field: FieldSpec, index: Index) -> list[Match]:
        return [
            Match(Run((number,), word.text), self._doubt(number, claim, index))
            for number, word in enumerate(index.words)
            if _bare(word.text) in _WORDS[claim]
        ]

    def _doubt(self, number: int, claim: bool, index: Index) -> str:
        """Whether the other answer stands beside it: then both are printed to choose from."""
        row = index.rows[index.row_of[number]]
        for step in (1, -1):
            at = number + step
            while row.start <= at < row.end and len(_bare(index.words[at].text)) < 2:
                at += step
            if row.start <= at < row.end and _bare(index.words[at].text) in _WORDS[not claim]:
                return "SEVERAL_PLACES"
        return ""

    def misread(self, claim: bool, field: FieldSpec, index: Index) -> list[Run]:
        return []

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        known = _WORDS[True] | _WORDS[False]
        return [
            Run((w,), index.words[w].text) for w in words if _bare(index.words[w].text) in known
        ]

    def differs(self, claim: bool, run: Run, field: FieldSpec, index: Index) -> Difference:
        return Difference("VALUE_DIFFERS")


def _bare(text: str) -> str:
    return fold_text(text).strip(".,;:()[]")
