"""A value at the labels of its field: there, elsewhere, or another value in its place."""

from dataclasses import replace

from visualproof_server.model.report import REASONS, Anchor, Reason, Status
from visualproof_server.proving.decide.anywhere import Anywhere
from visualproof_server.proving.decide.at_caption import AtCaption
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.sought import Sought, ambiguous, reason_of
from visualproof_server.proving.places.caption_phrases import Tier
from visualproof_server.proving.places.captions import Labelled, misplaced
from visualproof_server.proving.places.marks import mark_before
from visualproof_server.proving.places.stream import Run


class AtLabel:
    """What stands at the labels of one value's field."""

    def __init__(self, sought: Sought, anywhere: Anywhere, captions: AtCaption) -> None:
        self._sought, self._anywhere, self._captions = sought, anywhere, captions

    def find(self, reasons: list[Reason]) -> Finding:
        """What the labels come to, whatever stands at them."""
        if isinstance(self._sought.parsed, bool) and (marked := self._marked(reasons)) is not None:
            return marked
        places = self._sought.captions.labelled(self._sought.spec, self._sought.kind)
        whole = [p for p in places if p.tier < Tier.PART]
        if not whole:
            return self._without_label(places, reasons)
        equal = [
            (p, m) for p in whole for m in self._sought.every if self._captions.stands_at(m.run, p)
        ]
        sure = [(p, m) for p, m in equal if not m.doubt]
        if sure:
            return self._captions.told(sure, whole, reasons, Anchor.LABEL)
        if equal:
            return self._anywhere.doubtful([m for _, m in equal], reasons)
        return self._other_at_label(whole, reasons)

    def _marked(self, reasons: list[Reason]) -> Finding | None:
        """A boolean by the mark before its option's words; None where there is none."""
        found = [
            mark
            for caption in self._sought.captions.of(self._sought.spec.labels, False)
            if (mark := mark_before(caption.run, self._sought.index)) is not None
        ]
        if not found:
            return None
        ticked = {mark for mark, _ in found}
        if len(ticked) > 1:
            return ambiguous([run for _, run in found], [reason_of("SEVERAL_PLACES"), *reasons])
        run, same = found[0][1], ticked == {self._sought.parsed}
        return Finding(
            status=Status.VERIFIED if same else Status.MISMATCH,
            reasons=tuple(reasons) if same else (reason_of("VALUE_DIFFERS"), *reasons),
            places=(run,),
            printed=run.text,
            exact=True,
            anchor=Anchor.LABEL,
        )

    def _without_label(self, places: list[Labelled], reasons: list[Reason]) -> Finding:
        """No label is printed whole: a value that stands elsewhere is no more than a place."""
        finding = self._anywhere.find(self._sought.matches, reasons)
        code, text = "LABEL_NOT_FOUND", "No label of the field is printed with a value."
        if places and any(p.values for p in places):
            code, text = "CAPTION_DIFFERS", REASONS["CAPTION_DIFFERS"]
        if finding.status in (Status.VERIFIED, Status.AMBIGUOUS):
            finding = replace(
                finding,
                status=Status.FOUND_ELSEWHERE,
                others=finding.others or finding.places,
                anchor=Anchor.NONE,
            )
        return finding.because(Reason(code, text))

    def _other_at_label(self, whole: list[Labelled], reasons: list[Reason]) -> Finding:
        """What stands at the label is another value, no value of the kind, or nothing."""
        words = {w for p in whole for w in p.words}
        confused = self._sought.misses.confused(words) if words else None
        if confused is not None:
            return confused.because()
        filled = [p for p in whole if p.values]
        every = [m.run for m in self._sought.every]
        if not filled:
            return self._nothing_of_kind(whole, every, reasons)
        value = filled[0].values[0]
        if self._sought.kind.is_text:
            unsure = self._sought.misses.unsure(value)
            if unsure is not None:
                return replace(unsure, reasons=(*unsure.reasons, *reasons))
        code = misplaced(self._sought.spec, filled, every, self._sought.index)
        code = (
            code
            or self._sought.kind.differs(
                self._sought.parsed, value, self._sought.spec, self._sought.index
            ).code
        )
        note = Reason(code, f"{REASONS[code]} At its label is printed something else.")
        status = self._sought.misses.sure_status(value, len(filled) > 1)
        return Finding(
            status=status,
            reasons=(note, *reasons),
            places=(value,),
            others=tuple(m.run for m in self._sought.matches)[:10],
            printed=value.text,
            exact=True,
        )

    def _nothing_of_kind(
        self, whole: list[Labelled], every: list[Run], reasons: list[Reason]
    ) -> Finding:
        """The label is printed, with nothing or with words that are no value of the kind."""
        held = next((p for p in whole if p.words), None)
        if held is None:
            note = reason_of("LABEL_BLANK")
            if every:
                return Finding(
                    status=Status.FOUND_ELSEWHERE,
                    reasons=(note, *reasons),
                    places=tuple(every[:1]),
                    others=tuple(every[1:10]),
                    printed=every[0].text,
                    exact=True,
                )
            return Finding(
                status=Status.MISMATCH,
                reasons=(note, *reasons),
                places=(whole[0].label,),
                printed="",
                exact=True,
            )
        text = self._sought.index.text_of(held.words[0], held.words[-1] + 1)
        run = Run(tuple(held.words), text)
        code = "VALUE_DIFFERS"
        note = Reason(code, f"{REASONS[code]} At its label stand words that are not read as one.")
        return Finding(
            status=Status.UNCERTAIN,
            reasons=(note, *reasons),
            places=(run,),
            others=tuple(every[:10]),
            printed=text,
            exact=True,
        )
