"""A value at captions: proven if nothing else stands there and it is the whole."""

from decimal import Decimal

from visualproof_server.model.report import Anchor, Reason, Status
from visualproof_server.proving.decide.anywhere import Anywhere
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.roles import SUMS
from visualproof_server.proving.decide.sought import Sought, share_words
from visualproof_server.proving.kinds.kind import Match
from visualproof_server.proving.places.captions import Labelled
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt


class AtCaption:
    """What equal prints at some captions come to, whether a label or a name gave the captions."""

    def __init__(self, sought: Sought, anywhere: Anywhere) -> None:
        self._sought, self._anywhere = sought, anywhere

    def stands_at(self, run: Run, place: Labelled) -> bool:
        """Whether a run is what stands at a caption: a text begins there, a value is among it."""
        if self._sought.kind.is_text:
            return bool(place.words) and bool(set(run.words) & set(place.words))
        return any(share_words(run, value) for value in place.values)

    def told(
        self,
        sure: list[tuple[Labelled, Match]],
        places: list[Labelled],
        reasons: list[Reason],
        anchor: Anchor,
    ) -> Finding:
        """Equal prints at captions: proven if nothing else stands there and they are the whole."""
        if self._is_part(sure):
            note = Reason(
                Doubt.PART_OF_TEXT, "The value at its label has more words than the claim."
            )
            runs = (sure[0][1].run,)
            text = sure[0][0].values[0].text if sure[0][0].values else sure[0][1].run.text
            return Finding(
                status=Status.EVIDENCE_ONLY,
                reasons=(note, *reasons),
                places=runs,
                printed=text,
                exact=True,
            )
        rivals = self._rivals(sure, places)
        chosen = tuple(dict.fromkeys(m.run for _, m in sure))
        if rivals:
            note = Reason("SEVERAL_PLACES", "Several values stand at this label.")
            return Finding(
                status=Status.AMBIGUOUS,
                reasons=(note, *reasons),
                places=chosen,
                others=(*chosen, *rivals),
                equal=chosen,
                printed=chosen[0].text,
                exact=True,
            )
        return Finding(
            status=Status.VERIFIED,
            reasons=tuple(reasons),
            places=chosen[:1],
            others=chosen[1:],
            equal=chosen,
            printed=chosen[0].text,
            exact=True,
            anchor=anchor,
        )

    def _rivals(self, sure: list[tuple[Labelled, Match]], places: list[Labelled]) -> list[Run]:
        """Other values at captions that are as good."""
        here = [m.run for _, m in sure]
        rivals = []
        for place in places:
            own = [m.run for p, m in sure if p is place]
            if self._is_sum_of_column(place, own):
                continue
            for value in place.values:
                if any(share_words(value, run) for run in here):
                    continue
                if self._is_amount_beside(value, own):
                    continue
                rivals.append(value)
                if self._sought.kind.is_text:
                    break
        if self._sought.kind.is_text:
            # Text right of a label is one value.
            rivals = [r for r in rivals if not any(self._same_region(r, p) for p, _ in sure)]
        return rivals

    def _is_sum_of_column(self, place: Labelled, own: list[Run]) -> bool:
        """Whether the claim is the last of a column, the sum of all over it, and asked for as a sum."""
        role = self._sought.role
        if role is None or role.name not in SUMS or place.side != "under" or len(place.values) < 3:
            return False
        if not any(share_words(place.values[-1], run) for run in own):
            return False
        sizes = [self._size(run) for run in place.values]
        known = [s for s in sizes if s is not None]
        return len(known) == len(sizes) and sum(known[:-1]) == known[-1]

    def _size(self, run: Run) -> Decimal | None:
        """The one amount that a run prints."""
        hits = self._sought.index.numbers_by_word.get(run.words[0], ())
        found = {value for at, read in hits if at.words == run.words for value in read.values()}
        return found.pop() if len(found) == 1 else None

    def _same_region(self, run: Run, place: Labelled) -> bool:
        return bool(set(run.words) & set(place.words))

    def _is_amount_beside(self, value: Run, own: list[Run]) -> bool:
        """Whether a value beside an amount is only its count: TOTAL 3 12.00."""
        if not self._sought.kind.is_amount or not own:
            return False
        return value.text.strip("() ").isdigit() and any(
            "." in run.text or "," in run.text for run in own
        )

    def _is_part(self, sure: list[tuple[Labelled, Match]]) -> bool:
        """Whether a text is only a part of what stands at its label, wherever that is."""
        if not self._sought.kind.is_text:
            return False
        return not any(
            place.values
            and set(place.values[0].words) <= set(match.run.words)
            and not match.run.partial
            for place, match in sure
        ) and not any(self._begins_and_closes(p, m.run) for p, m in sure)

    def _begins_and_closes(self, place: Labelled, run: Run) -> bool:
        """Whether a run is a whole part that marks close: `12 (2023: 15)`, `Name, Street`."""
        if not place.values or run.words[0] != place.values[0].words[0] or run.partial:
            return False
        return self._sought.index.words[run.words[-1]].text.endswith((",", ";")) or (
            run.words[-1] + 1 in place.values[0].words
            and self._sought.index.words[run.words[-1] + 1].text.startswith(("(", "["))
        )

    def find(self, places: list[Labelled], reasons: list[Reason]) -> Finding | None:
        """What equal prints at some captions come to; None where none is equal."""
        equal = [(p, m) for p in places for m in self._sought.every if self.stands_at(m.run, p)]
        sure = [(p, m) for p, m in equal if not m.doubt]
        if sure:
            return self.told(sure, places, reasons, Anchor.ROLE)
        return self._anywhere.doubtful([m for _, m in equal], reasons) if equal else None
