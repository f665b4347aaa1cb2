"""What is said of a value that is equal nowhere: what its place prints, or the nearest print."""

from dataclasses import replace
from typing import Any

from visualproof_server.model.document import Trust
from visualproof_server.model.report import REASONS, FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.citations import CitedSpan
from visualproof_server.proving.places.index import UNSURE, Index
from visualproof_server.proving.places.stream import Run, word_tokens
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
        self, spans: list[CitedSpan], whole: list[Run], reasons: list[Reason]
    ) -> Finding:
        """Nothing equal anywhere: what is printed where the proof points."""
        cited_words = {w for a in spans for w in a.words}
        confused = self.confused(cited_words)
        if confused is not None:
            return replace(confused, reasons=(*confused.reasons, *reasons))
        printed = whole or self._of_kind(spans)
        if not printed:
            printed = [a.nearest for a in spans if a.nearest is not None]
        if not printed:
            return self.nowhere(reasons)
        value = max(printed, key=lambda r: locate.likeness(self.text, r.text))
        unsure = self.unsure(value)
        if unsure is not None:
            return replace(unsure, reasons=(*unsure.reasons, *reasons))
        code = self.kind.differs(self.parsed, value, self.spec, self.index).code
        return Finding(
            status=self.sure_status(value, False),
            reasons=(Reason(code, REASONS[code]), *reasons),
            places=(value,),
            printed=value.text,
            similarity=locate.likeness(self.text, value.text),
            cited=True,
        )

    def sure_status(self, value: Run, several: bool) -> Status:
        """MISMATCH where what is printed was read for sure; else it may be the value after all."""
        if several:
            return Status.AMBIGUOUS
        trust = max(self.index.words[w].trust for w in value.words)
        return Status.UNCERTAIN if trust is Trust.UNCLEAR else Status.MISMATCH

    def _of_kind(self, spans: list[CitedSpan]) -> list[Run]:
        if self.kind.is_text:
            return []
        return [
            run
            for span in spans
            for row in span.rows
            for run in self.kind.printed(
                [
                    w
                    for w in range(self.index.rows[row].start, self.index.rows[row].end)
                    if w in span.words
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
            status=Status.UNCERTAIN,
            reasons=(Reason("OCR_CONFUSION", REASONS["OCR_CONFUSION"]),),
            places=tuple(runs[:1]),
            others=tuple(runs[1:10]),
            printed=runs[0].text,
            similarity=0.99,
        )

    def unsure(self, run: Run) -> Finding | None:
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
        low = [w for w in different if not self._is_sure(w)]
        if different and len(low) == len(different):
            return Finding(
                status=Status.UNCERTAIN,
                reasons=(
                    Reason(
                        "LOW_CONFIDENCE", "The words that differ were read with low confidence."
                    ),
                ),
                places=(run,),
                printed=run.text,
                similarity=likeness,
            )
        return None

    def _is_sure(self, word: int) -> bool:
        read = self.index.words[word]
        return read.trust not in UNSURE and (read.confidence or 0.0) >= _SURE

    def _is_hidden(self) -> bool:
        """Whether the value stands in the file's text where the page shows nothing."""
        wanted = [t.text for t in tokens(self.text)]
        pages = (page.hidden for page in self.index.document.pages if page.hidden)
        return any(contains([t.text for t in tokens(text)], wanted) for text in pages)

    def nowhere(self, reasons: list[Reason]) -> Finding:
        confused = self.confused(None)
        if confused is not None:
            return replace(confused, reasons=(*confused.reasons, *reasons))
        near = locate.nearest(self.text, self.index)
        if near is not None:
            unsure = self.unsure(near.run)
            if unsure is not None:
                return replace(unsure, reasons=(*unsure.reasons, *reasons))
        notes = list(reasons)
        if self._is_hidden():
            notes.insert(0, Reason("HIDDEN_TEXT", REASONS["HIDDEN_TEXT"]))
        status = Status.NOT_FOUND
        doubt = "" if self.kind.is_literal else "NOT_LITERAL"
        if any(page.damaged for page in self.index.document.pages):
            doubt = doubt or "PAGE_DAMAGED"
        if doubt or self.index.unclear_page is not None:
            doubt = doubt or "PAGE_UNCLEAR"
            status = Status.UNCERTAIN
            notes.insert(0, Reason(doubt, REASONS[doubt]))
        if near is None:
            return Finding(status=status, reasons=tuple(notes))
        code = locate.difference(self.text, near.run.text)
        notes.append(Reason(code, f"{REASONS[code]} That is the nearest print."))
        return Finding(
            status=status,
            reasons=tuple(notes),
            nearest=near.run,
            similarity=near.similarity,
        )
