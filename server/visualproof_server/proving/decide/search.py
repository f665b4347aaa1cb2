"""The search for one value: cited by proofs, at its label, or anywhere."""

from decimal import Decimal
from typing import Any

from visualproof_server.model.answer import Claim
from visualproof_server.model.report import FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.misses import Misses, sentence
from visualproof_server.proving.kinds.kind import Match, ValueKind
from visualproof_server.proving.places import captions as context
from visualproof_server.proving.places.citations import Area
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.numbers import scan_numbers

# Doubts that say "the same words, but not verbatim": there is evidence, and nothing to choose.
_NOT_VERBATIM = {"CASE_DIFFERS", "PUNCTUATION_DIFFERS", "SIGN_DIFFERS", "UNIT_DIFFERS"}


class Search:
    """One value in one document."""

    def __init__(
        self, claim: Claim, spec: FieldSpec, kind: ValueKind, parsed: Any, index: Index
    ) -> None:
        self.claim, self.spec, self.kind, self.index = claim, spec, kind, index
        self.parsed = parsed
        self.text = claim.value if isinstance(claim.value, str) else claim.value_json
        self.misses = Misses(self.text, spec, kind, parsed, index)
        self.matches = kind.find(parsed, spec, index)
        self.matches = [m for m in self.matches if m.lesser is None] or self.matches

    def cited(self, areas: list[Area], reasons: list[Reason]) -> Finding:
        """The value where its proofs point, else what is printed there, else where it stands."""
        inside = [m for m in self._every() if any(_within(m.run, a) for a in areas)]
        sure = [m for m in inside if not m.doubt]
        if sure and not context.has_context(self.spec) and self._opposite_printed():
            return self._counter_entry([m.run for m in sure], reasons)
        if sure:
            chosen = self._at_proof_text(sure, areas)
            finding = Finding(Status.VERIFIED, list(reasons), chosen, exact=True, cited=True)
            finding.printed = chosen[0].text
            return self._against_label(finding)
        if inside:
            return self._doubtful(inside, reasons, cited=True)
        elsewhere = self._elsewhere(reasons)
        verbatim = [a.printed for a in areas if a.printed is not None]
        whole = [run for run in verbatim if self._is_whole_value(run)]
        if verbatim and not whole:
            note = Reason("VALUE_NOT_IN_PROOF", "The proof is printed; the value is not in it.")
            if self._percent_only(verbatim[0]):
                note = Reason("UNIT_DIFFERS", "Printed there with another unit or a percent sign.")
            found = Finding(
                Status.EVIDENCE_ONLY, [note, *reasons], verbatim, exact=True, cited=True
            )
            found.printed = verbatim[0].text
            return found
        if elsewhere is not None:
            return elsewhere
        return self.misses.printed_instead(areas, whole, reasons)

    def uncited(self, reasons: list[Reason]) -> Finding:
        """The value at its label, else the one place that prints it."""
        if context.has_context(self.spec):
            return self._at_label(reasons)
        return self._anywhere(reasons)

    def _every(self) -> list[Match]:
        return self.kind.find(self.parsed, self.spec, self.index)

    def _at_proof_text(self, sure: list[Match], areas: list[Area]) -> list[Run]:
        """Among equal places of the cited lines, the one that the proof spells."""
        for area in areas:
            printed = area.printed or area.nearest
            if printed is not None:
                hits = [m.run for m in sure if set(m.run.words) & set(printed.words)]
                if hits:
                    return [min(hits, key=lambda r: len(r.words))]
        if all(a.proof.form in ("WORD", "LINE") for a in areas) or self.kind.chance:
            return [sure[0].run]
        return [m.run for m in sure]

    def _against_label(self, finding: Finding) -> Finding:
        """A cited value must not contradict its label."""
        if not context.has_context(self.spec):
            return finding
        places = context.labelled(self.spec, self.kind, self.index)
        if not places:
            finding.reasons.append(
                Reason("LABEL_NOT_FOUND", "None of the labels is printed; the proof decided.")
            )
            return finding
        words = {w for run in finding.places for w in run.words}
        if any(words & set(v.words) for place in places for v in place.values):
            return finding
        finding.status = Status.FOUND_ELSEWHERE
        finding.others = [v for place in places for v in place.values][:10]
        finding.reasons.insert(
            0, Reason("NOT_AT_LABEL", "Printed where it is cited, but not at its label.")
        )
        return finding

    def _at_label(self, reasons: list[Reason]) -> Finding:
        places = context.labelled(self.spec, self.kind, self.index)
        if not places:
            finding = self._anywhere(reasons)
            note = Reason("LABEL_NOT_FOUND", "No label of the field is printed with a value.")
            if finding.status in (Status.VERIFIED, Status.AMBIGUOUS):
                finding.status = Status.FOUND_ELSEWHERE
                finding.others = finding.others or finding.places
            finding.reasons.insert(0, note)
            return finding
        # Looks order places without context; a label is context.
        every = self._every()
        equal = [(p, m) for p in places for m in every if _at(m.run, p)]
        sure = [(p, m) for p, m in equal if not m.doubt]
        if sure and self._is_part(sure):
            note = Reason("WORD_DIFFERS", "The value at its label has more words than the claim.")
            runs = [m.run for _, m in sure][:1]
            text = sure[0][0].values[0].text
            return Finding(Status.EVIDENCE_ONLY, [note, *reasons], runs, printed=text, exact=True)
        if sure:
            rivals = [
                value
                for place in places
                for value in place.values
                if not any(_shares(value, m.run) for _, m in sure)
            ]
            chosen = [m.run for _, m in sure]
            if rivals and self._rivals_count(sure[0][0]):
                note = Reason("SEVERAL_PLACES", "Several values stand at this label.")
                return Finding(
                    Status.AMBIGUOUS, [note, *reasons], chosen, chosen + rivals, chosen[0].text,
                    exact=True, equal=chosen,
                )  # fmt: skip
            return Finding(
                Status.VERIFIED, list(reasons), chosen[:1], printed=chosen[0].text, exact=True
            )
        if equal:
            return self._doubtful([m for _, m in equal], reasons, cited=False)
        value = places[0].values[0]
        confused = self.misses.confused({w for p in places for v in p.values for w in v.words})
        if confused is not None:
            return confused
        elsewhere = [m.run for m in every]
        code = context.misplaced(self.spec, places, elsewhere, self.index)
        code = code or self.kind.differs(self.parsed, value, self.spec, self.index).code
        note = Reason(code, f"{sentence(code)} At its label is printed something else.")
        return Finding(
            Status.MISMATCH,
            [note, *reasons],
            [value],
            [m.run for m in self.matches][:10],
            value.text,
            exact=True,
        )

    def _is_part(self, sure: list[tuple[context.Labelled, Match]]) -> bool:
        """Whether a text is only a part of what stands at its label, wherever that is."""
        if self.kind.name not in ("text", "quote", "choice"):
            return False
        return not any(
            set(value.words) <= set(match.run.words) and not match.run.partial
            for place, match in sure
            for value in place.values
        )

    def _rivals_count(self, place: context.Labelled) -> bool:
        """Text right of a label is one value; amounts beside it are rivals on every side."""
        return self.kind.chance or place.side != "right"

    def _anywhere(self, reasons: list[Reason]) -> Finding:
        sure = [m for m in self.matches if not m.doubt]
        if not sure:
            if self.matches:
                return self._doubtful(self.matches, reasons, cited=False)
            return self.misses.nowhere(reasons)
        runs = [m.run for m in sure]
        if self._opposite_printed():
            return self._counter_entry(runs, reasons)
        if self.kind.chance:
            runs = self._one_place(runs)
        if self.kind.chance and len(runs) > 1 and not self._all_total_rows(runs):
            note = Reason("SEVERAL_PLACES", f"Printed at {len(runs)} places; nothing decides.")
            return _ambiguous(runs, [note, *reasons])
        if sure[0].lesser is not None:
            return _ambiguous(runs, [sure[0].lesser, *reasons])
        finding = Finding(Status.VERIFIED, list(reasons), runs[:1], runs[1:], runs[0].text)
        finding.exact, finding.equal = True, runs
        return finding

    def _counter_entry(self, runs: list[Run], reasons: list[Reason]) -> Finding:
        text = "The same amount is printed with the other sign too; nothing decides."
        return _ambiguous(runs, [Reason("SEVERAL_PLACES", text), *reasons])

    def _opposite_printed(self) -> bool:
        """Whether a negative amount may be the counter-entry of the same positive one."""
        value = self.claim.value
        if not isinstance(value, Decimal) or value >= 0:
            return False
        opposite = self.kind.parse(-value, self.spec, self.index)
        return bool(self.kind.find(opposite, self.spec, self.index))

    def _one_place(self, runs: list[Run]) -> list[Run]:
        """An amount on a row that names a total outranks its repetitions (tender, items)."""
        if len(runs) < 2 or self.kind.name != "money":
            return runs
        totals = [r for r in runs if context.on_total_row(r, self.index)]
        return totals or runs

    def _all_total_rows(self, runs: list[Run]) -> bool:
        return self.kind.name == "money" and all(context.on_total_row(r, self.index) for r in runs)

    def _doubtful(self, matches: list[Match], reasons: list[Reason], cited: bool) -> Finding:
        code = matches[0].doubt
        runs = [m.run for m in matches]
        notes = [Reason(code, sentence(code)), *reasons]
        finding = _ambiguous(runs, notes)
        if code in _NOT_VERBATIM:
            finding = Finding(
                Status.EVIDENCE_ONLY, notes, runs[:1], printed=runs[0].text, exact=True
            )
        finding.cited = cited
        return finding

    def _elsewhere(self, reasons: list[Reason]) -> Finding | None:
        sure = [m.run for m in self.matches if not m.doubt]
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
            Status.FOUND_ELSEWHERE, notes, sure[:1], sure[1:50], sure[0].text, exact=True
        )

    def _wrong_cell(self, sure: list[Run]) -> tuple[Reason, Run] | None:
        """Why the value is not in the cell that a proof names, if it is in its row or column."""
        for proof in self.claim.proofs:
            if proof.form != "CELL" or not proof.row or not proof.column:
                continue
            for run in sure:
                cell = self.index.cells[run.words[0]]
                if cell is None or self.index.table_of(run.words[0]) != proof.id:
                    continue
                level = cell.stands_at(proof.row, None)
                if not level and not cell.stands_at(None, proof.column):
                    continue
                code = "WRONG_COLUMN" if level else "WRONG_ROW"
                text = " ".join(
                    self.index.words[w].text
                    for w in self.index.table_words(proof.id or 0)
                    if (c := self.index.cells[w]) and c.stands_at(proof.row, proof.column)
                )
                there = f'prints "{text}"' if text else "is empty"
                message = (
                    f"Row {proof.row}, column {proof.column} of table {proof.id} {there};"
                    f" the value stands in row {cell.row}, column {cell.column}."
                )
                return Reason(code, message), run
        return None

    def _line_names(self, rows: list[int]) -> str:
        numbers = [self.index.rows[r].number for r in rows if self.index.rows[r].number]
        return ", ".join(map(str, numbers[:5])) or "a table"

    def nearby(self, areas: list[Area], finding: Finding) -> Finding:
        """Orders the places of a value found elsewhere: nearest to its proof first."""
        rows = [row for area in areas for row in area.rows]
        if finding.status is not Status.FOUND_ELSEWHERE or not rows:
            return finding
        everything = finding.places + finding.others
        everything.sort(key=lambda r: min(abs(self.index.row_of[r.words[0]] - row) for row in rows))
        finding.places, finding.others = everything[:1], everything[1:]
        finding.printed = everything[0].text
        if finding.reasons and finding.reasons[0].code == "NOT_AT_PROOF":
            there = self._line_names([self.index.row_of[everything[0].words[0]]])
            cited = self._line_names(list(dict.fromkeys(rows)))
            text = f"Printed in line {there}, not in line {cited} where the proof points."
            finding.reasons[0] = Reason("NOT_AT_PROOF", text)
        return finding

    def _is_whole_value(self, run: Run) -> bool:
        """Whether a printed run is itself one value of the kind, and thus another one."""
        if self.kind.name in ("text", "quote", "choice"):
            return False
        printed = self.kind.printed(list(run.words), self.spec, self.index)
        text = plain(run.text)
        unit = scan_numbers(text)[0].unit if len(printed) == 1 and scan_numbers(text) else ""
        bare = text.lower().rstrip(".,;:").removesuffix(unit).strip()
        return any(len(p.text) >= 0.8 * len(bare) for p in printed)

    def _percent_only(self, run: Run) -> bool:
        return (
            self.kind.name in ("number", "money")
            and "%" in self.index.rows[self.index.row_of[run.words[-1]]].text
            and not self._is_whole_value(run)
        )


def _ambiguous(runs: list[Run], reasons: list[Reason]) -> Finding:
    """Equally good places: the first is shown, all are candidates."""
    return Finding(Status.AMBIGUOUS, reasons, runs[:1], runs, runs[0].text, exact=True, equal=runs)


def _within(run: Run, area: Area) -> bool:
    words = set(run.words)
    return words <= area.words if area.strict else bool(words & area.words)


def _at(run: Run, place: context.Labelled) -> bool:
    return any(_shares(run, value) for value in place.values)


def _shares(a: Run, b: Run) -> bool:
    return bool(set(a.words) & set(b.words))
