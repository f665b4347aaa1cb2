"""What is said of a value that is equal nowhere: what its place prints, or the nearest print."""

from typing import Any

from visualproof_server.model.report import REASONS, FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.citations import Area
from visualproof_server.proving.places.index import Index, Run, word_tokens
from visualproof_server.proving.text.folding import contains, tokens

# Alike by this much, and different only in words read with low confidence: the reading may be wrong.
_ALIKE = 0.75
_SURE = 0.8


class Misses:
    """One value in one document."""

    def __init__(
        self, text: str, spec: FieldSpec, kind: ValueKind, parsed: Any, index: Index
    ) -> None:
        self.text, self.spec, self.kind = text, spec, kind
        self.parsed, self.index = parsed, index

    def printed_instead(
        self, areas: list[Area], whole: list[Run], reasons: list[Reason]
    ) -> Finding:
        """Nothing equal anywhere: what is printed where the proof points."""
        cited_words = {w for a in areas for w in a.words}
        confused = self.confused(cited_words)
        if confused is not None:
            confused.reasons += reasons
            return confused
        printed = whole or self._of_kind(areas)
        if not printed:
            printed = [a.nearest for a in areas if a.nearest is not None]
        if not printed:
            return self.nowhere(reasons)
        value = max(printed, key=lambda r: locate.likeness(self.text, r.text))
        if self.kind.name in ("text", "quote", "choice"):
            unsure = self._unsure(value)
            if unsure is not None:
                unsure.reasons += reasons
                return unsure
        code = self.kind.differs(self.parsed, value, self.spec, self.index).code
        return Finding(
            Status.MISMATCH,
            [Reason(code, sentence(code)), *reasons],
            [value],
            printed=value.text,
            similarity=locate.likeness(self.text, value.text),
            cited=True,
        )

    def _of_kind(self, areas: list[Area]) -> list[Run]:
        if self.kind.name in ("text", "quote", "choice"):
            return []
        return [
            run
            for area in areas
            for row in area.rows
            for run in self.kind.printed(
                [
                    w
                    for w in range(self.index.rows[row].start, self.index.rows[row].end)
                    if w in area.words
                ],
                self.spec,
                self.index,
            )
        ]

    def confused(self, within: set[int] | None) -> Finding | None:
        """Equal but for look-alike characters: a place, never a proof."""
        runs = [
            run
            for run in self.kind.misread(self.parsed, self.spec, self.index)
            if within is None or within & set(run.words)
        ]
        if not runs:
            return None
        return Finding(
            Status.UNCERTAIN,
            [Reason("OCR_CONFUSION", sentence("OCR_CONFUSION"))],
            runs[:1],
            runs[1:10],
            runs[0].text,
            similarity=0.99,
        )

    def _unsure(self, run: Run) -> Finding | None:
        """Alike, and different only in words that were read with low confidence."""
        likeness = locate.likeness(self.text, run.text)
        if likeness < _ALIKE:
            return None
        ours = {t.text for t in tokens(self.text)}
        different = [
            w
            for w in run.words
            if any(t.text not in ours for t in word_tokens(self.index.words[w].text))
        ]
        low = [w for w in different if (self.index.words[w].confidence or 0.0) < _SURE]
        if different and len(low) == len(different):
            return Finding(
                Status.UNCERTAIN,
                [Reason("LOW_CONFIDENCE", "The words that differ were read with low confidence.")],
                [run],
                printed=run.text,
                similarity=likeness,
            )
        return None

    def _is_hidden(self) -> bool:
        """Whether the value stands in the file's text where the page shows nothing."""
        wanted = [t.text for t in tokens(self.text)]
        pages = (page.hidden for page in self.index.document.pages if page.hidden)
        return any(contains([t.text for t in tokens(text)], wanted) for text in pages)

    def nowhere(self, reasons: list[Reason]) -> Finding:
        confused = self.confused(None)
        if confused is not None:
            confused.reasons += reasons
            return confused
        near = locate.nearest(self.text, self.index)
        if near is not None and self.kind.name in ("text", "quote", "choice"):
            unsure = self._unsure(near.run)
            if unsure is not None:
                unsure.reasons += reasons
                return unsure
        finding = Finding(Status.NOT_FOUND, list(reasons))
        if self._is_hidden():
            finding.reasons.insert(0, Reason("HIDDEN_TEXT", sentence("HIDDEN_TEXT")))
        if near is not None:
            finding.nearest, finding.similarity = near.run, near.similarity
            code = locate.difference(self.text, near.run.text)
            finding.reasons.append(Reason(code, f"{sentence(code)} That is the nearest print."))
        return finding


def sentence(code: str) -> str:
    """What a reason code means."""
    return REASONS[code]
