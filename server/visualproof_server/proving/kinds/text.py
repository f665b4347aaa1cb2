"""text, quote and choice: token by token, and a quote verbatim."""

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.folding import compact, fold, tokens

# The rest of a row up to a gap this wide (in heights) is one printed text.
_TEXT_GAP = 3.0


class Text:
    """Equal words, numbers, signs and symbols; case, spacing and other punctuation are folded."""

    name = "text"
    chance = False

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> str | None:
        if isinstance(value, bool) or value is None:
            return None
        text = str(value)
        return text if any(c.isalnum() for c in fold(text).text) else None

    def find(self, claim: str, field: FieldSpec, index: Index) -> list[Match]:
        return [
            Match(
                run,
                _edge(claim, run) or index.part(run) or self._doubt(claim, run, index),
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
            if runs and runs[-1][-1] == word - 1 and index.gap_after(word - 1) < _TEXT_GAP:
                runs[-1].append(word)
            else:
                runs.append([word])
        return [Run(tuple(r), " ".join(index.words[w].text for w in r)) for r in runs]

    def differs(self, claim: str, run: Run, field: FieldSpec, index: Index) -> Difference:
        return Difference(locate.difference(claim, run.text))

    def _doubt(self, claim: str, run: Run, index: Index) -> str:
        return ""


class Quote(Text):
    """Verbatim after conservative folding: case and punctuation count."""

    name = "quote"

    def _doubt(self, claim: str, run: Run, index: Index) -> str:
        ours, theirs = _verbatim(claim), _verbatim(_joined(run, index))
        if ours in theirs:
            return ""
        if ours.casefold() in theirs.casefold():
            return "CASE_DIFFERS"
        return "PUNCTUATION_DIFFERS"


class Choice(Text):
    """One of a list; printed like a text, or only supported by its proof."""

    name = "choice"


def _edge(claim: str, run: Run) -> str:
    """Why a sign, per cent or currency at the edge of the print makes it another text: 0 is not 0%."""
    ours, theirs = tokens(claim), tokens(run.text)
    # Grades and names such as A+, C#.
    closing = run.text[-1:]
    if closing in "+-#" and len(theirs[-1].text) <= 2 and claim.rstrip()[-1:] not in "+-#":
        return "SIGN_DIFFERS"
    if run.partial or compact(ours) == compact(theirs):
        return ""
    signed = theirs[0].text in ("-", "(") and ours[0].text != theirs[0].text
    return "SIGN_DIFFERS" if signed else "UNIT_DIFFERS"


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
