"""A value that nothing tells where to look for: the one place that prints it, or a choice."""

from visualproof_server.model.report import REASONS, Anchor, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.roles import SUMS
from visualproof_server.proving.decide.sought import Sought, ambiguous, reason_of
from visualproof_server.proving.kinds.kind import Match
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt

# Doubts that say "the same words, but not the whole of it": there is evidence, and nothing to choose.
_NOT_WHOLE = frozenset(
    {
        Doubt.CASE_DIFFERS,
        Doubt.PUNCTUATION_DIFFERS,
        Doubt.SIGN_DIFFERS,
        Doubt.UNIT_DIFFERS,
        Doubt.PART_OF_TEXT,
        Doubt.NEGATION_DIFFERS,
    }
)


class Anywhere:
    """What the places of one value come to, wherever they are."""

    def __init__(self, sought: Sought) -> None:
        self._sought = sought

    def not_too_short(self, found: Finding) -> Finding:
        """What is so short that it stands anywhere wants to be all that stands at some caption."""
        if found.status is not Status.VERIFIED:
            return found
        run = found.places[0]
        if not self._sought.kind.needs_context(self._sought.parsed, run, self._sought.index):
            return found
        if self._sought.role is None and self._sought.captions.is_whole_value(run):
            return found
        return found.demoted(Status.AMBIGUOUS, reason_of("ANCHOR_MISSING"))

    def find(self, matches: list[Match], reasons: list[Reason]) -> Finding:
        """What some places come to if nothing but themselves decides."""
        sure = [m for m in matches if not m.doubt]
        if not sure:
            if matches:
                return self.doubtful(matches, reasons)
            return self._sought.misses.nowhere(reasons)
        runs = [m.run for m in sure]
        if self._sought.opposite_printed():
            return self.counter_entry(runs, reasons)
        if self._sought.kind.repeats_by_chance and len(runs) > 1:
            runs = self._sums_among(runs)
        if self._sought.kind.repeats_by_chance and len(runs) > 1 and not self._all_sums(runs):
            note = Reason("SEVERAL_PLACES", f"Printed at {len(runs)} places; nothing decides.")
            return ambiguous(runs, [note, *reasons])
        lower = sure[0].ranked_lower_because
        if lower is not None:
            return ambiguous(runs, [lower, *reasons])
        return Finding(
            status=Status.VERIFIED,
            reasons=tuple(reasons),
            places=tuple(runs[:1]),
            others=tuple(runs[1:]),
            equal=tuple(runs),
            printed=runs[0].text,
            exact=True,
            anchor=Anchor.UNIQUE if len(runs) == 1 else Anchor.REPEATED,
        )

    def _sums_among(self, runs: list[Run]) -> list[Run]:
        """Of equal amounts for a field whose name says nothing, those that a caption calls a sum."""
        if not self._sought.kind.is_amount or (
            self._sought.role is not None and self._sought.role.name
        ):
            return runs
        return [r for r in runs if self._sought.roles.at(r) & SUMS] or runs

    def _all_sums(self, runs: list[Run]) -> bool:
        unnamed = self._sought.role is None or not self._sought.role.name
        return (
            self._sought.kind.is_amount
            and unnamed
            and all(self._sought.roles.at(r) & SUMS for r in runs)
        )

    def counter_entry(self, runs: list[Run], reasons: list[Reason]) -> Finding:
        """A choice between an amount and its counter-entry."""
        text = "The same amount is printed with the other sign too; nothing decides."
        return ambiguous(runs, [Reason("SEVERAL_PLACES", text), *reasons])

    def doubtful(self, matches: list[Match], reasons: list[Reason]) -> Finding:
        """What places that are equal but for a doubt come to."""
        code = matches[0].doubt
        runs = [m.run for m in matches]
        notes = [Reason(code, REASONS[code]), *reasons]
        if code in _NOT_WHOLE:
            return Finding(
                status=Status.EVIDENCE_ONLY,
                reasons=tuple(notes),
                places=tuple(runs[:1]),
                printed=runs[0].text,
                exact=True,
            )
        return ambiguous(runs, notes)

    def elsewhere(self, reasons: list[Reason]) -> Finding | None:
        """The value away from where its proofs point; None where it is printed nowhere."""
        sure = [m.run for m in self._sought.matches if not m.doubt]
        if not sure:
            return None
        codes = {r.code for r in reasons}
        notes = list(reasons)
        wrong = self._wrong_cell(sure)
        if wrong is not None:
            note, run = wrong
            notes.insert(0, note)
            sure = [run, *(r for r in sure if r is not run)]
        elif not codes & {"WRONG_PAGE", "PROOF_ID_UNKNOWN", "PROOF_NOT_SHOWN"}:
            notes.insert(0, Reason("NOT_AT_PROOF", "Printed, but not where the proof points."))
        return Finding(
            status=Status.FOUND_ELSEWHERE,
            reasons=tuple(notes),
            places=tuple(sure[:1]),
            others=tuple(sure[1:50]),
            printed=sure[0].text,
            exact=True,
        )

    def _wrong_cell(self, sure: list[Run]) -> tuple[Reason, Run] | None:
        """Why the value is not in the cell that a proof names, if it is in its row or column."""
        for proof in self._sought.claim.proofs:
            if proof.form != "CELL" or not proof.row or not proof.column:
                continue
            for run in sure:
                cell = self._sought.index.cells[run.words[0]]
                if cell is None or self._sought.index.table_of(run.words[0]) != proof.id:
                    continue
                level = cell.stands_at(proof.row, None)
                if not level and not cell.stands_at(None, proof.column):
                    continue
                code = "WRONG_COLUMN" if level else "WRONG_ROW"
                text = " ".join(
                    self._sought.index.words[w].text
                    for w in self._sought.index.table_words(proof.id or 0)
                    if (c := self._sought.index.cells[w]) and c.stands_at(proof.row, proof.column)
                )
                there = f'prints "{text}"' if text else "is empty"
                message = (
                    f"Row {proof.row}, column {proof.column} of table {proof.id} {there};"
                    f" the value stands in row {cell.row}, column {cell.column}."
                )
                return Reason(code, message), run
        return None
