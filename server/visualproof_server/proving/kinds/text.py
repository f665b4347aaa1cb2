"""text, quote and choice: token by token, and a quote verbatim."""

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.marks import mark_before, option_doubt
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.places.wholes import text_doubt
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import compact, fold, tokens

# Texts of up to so many letters are words of everything: they need a proof, a caption or a role.
_SHORT = 3


class Text:
    """Equal words, numbers, signs and symbols; case, spacing and other punctuation are folded."""

    name = "text"
    repeats_by_chance = False
    is_text = True
    is_amount = False
    is_code = False
    is_literal = True
    verbatim = False

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> str | None:
        if isinstance(value, bool) or value is None:
            return None
        text = str(value)
        return text if any(c.isalnum() for c in fold(text).text) else None

    def needs_context(self, claim: str, run: Run, index: Index) -> bool:
        said = [c for c in claim if c.isalnum()]
        alone = claim.strip().isalnum()
        if any(c > "\u2e80" for c in said):
            return len(said) < 2
        return alone and (
            (len(said) <= _SHORT and all(c.isalpha() for c in said)) or len(said) == 1
        )

    def find(self, claim: str, field: FieldSpec, index: Index) -> list[Match]:
        return [
            Match(
                run,
                _edge(claim, run)
                or index.part(run)
                or self._doubt(claim, run, index)
                or text_doubt(claim, run, index, self.verbatim),
                verbatim=run.text == claim,
            )
            for run in locate.exact(claim, index)
        ]

    def misread(self, claim: str, field: FieldSpec, index: Index) -> list[Run]:
        return locate.confused(claim, index)

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        runs: list[list[int]] = []
        for word in words:
            if not any(c.isalnum() for c in index.words[word].text):
                continue
            if runs and self._together(runs[-1][-1], word, index):
                runs[-1].append(word)
            else:
                runs.append([word])
        return [Run(tuple(r), " ".join(index.words[w].text for w in r)) for r in runs]

    def differs(self, claim: str, run: Run, field: FieldSpec, index: Index) -> Difference:
        return Difference(locate.difference(claim, run.text))

    def _together(self, left: int, right: int, index: Index) -> bool:
        """Whether two words are of one text: marks alone may stand between them, no gap or cell."""
        same = index.row_of[left] == index.row_of[right] and right - left <= 2
        return same and not any(index.parted(w) for w in range(left, right))

    def _doubt(self, claim: str, run: Run, index: Index) -> str:
        mark = mark_before(run, index)
        return Doubt.NOT_TICKED if mark is not None and not mark[0] else ""


class Quote(Text):
    """Verbatim after conservative folding: case and punctuation count."""

    name = "quote"
    verbatim = True

    def _doubt(self, claim: str, run: Run, index: Index) -> str:
        ours, theirs = _verbatim(claim), _verbatim(_joined(run, index))
        if ours in theirs:
            return ""
        if ours.casefold() in theirs.casefold():
            return Doubt.CASE_DIFFERS
        return Doubt.PUNCTUATION_DIFFERS


class Choice(Text):
    """One of a list; printed like a text, or only supported by its proof."""

    name = "choice"

    def _doubt(self, claim: str, run: Run, index: Index) -> str:
        return option_doubt(run, index)

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        found = super().printed(words, field, index)
        # Of options with boxes those that are ticked.
        options = [run for run in found if mark_before(run, index) is not None]
        return [run for run in options if not option_doubt(run, index)] if options else found


def _edge(claim: str, run: Run) -> str:
    """Why a sign, per cent or currency at the edge of the print makes it another text: 0 is not 0%."""
    ours, theirs = tokens(claim), tokens(run.text)
    # Grades and names such as A+, C#.
    closing = run.text[-1:]
    if closing in "+-#*" and len(theirs[-1].text) <= 4 and claim.rstrip()[-1:] not in "+-#*":
        return Doubt.SIGN_DIFFERS
    if run.partial or compact(ours) == compact(theirs):
        return ""
    signed = theirs[0].text in ("-", "(") and ours[0].text != theirs[0].text
    return Doubt.SIGN_DIFFERS if signed else Doubt.UNIT_DIFFERS


def _verbatim(text: str) -> str:
    return "".join(fold(text, keep_case=True).text.split())


def _joined(run: Run, index: Index) -> str:
    """The printed text with words that were broken at a line end put together."""
    out = ""
    for position, word in enumerate(run.words):
        text = fold(index.words[word].text, keep_case=True).text
        broken = out.endswith("-") and text[:1].islower()
        if position and broken and index.row_of[run.words[position - 1]] != index.row_of[word]:
            out = out[:-1]
        out += text
    return out
