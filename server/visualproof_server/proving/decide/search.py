"""The search for one value: cited by proofs, at its caption, by its role, or anywhere."""

from dataclasses import replace
from typing import Any

from visualproof_server.model.answer import Claim
from visualproof_server.model.report import Anchor, FieldSpec, Reason, Status
from visualproof_server.proving.decide.anywhere import Anywhere
from visualproof_server.proving.decide.at_caption import AtCaption
from visualproof_server.proving.decide.at_label import AtLabel
from visualproof_server.proving.decide.by_role import ByRole
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.sought import Page, Sought, reason_of
from visualproof_server.proving.kinds.kind import Match, ValueKind
from visualproof_server.proving.places.caption_phrases import Tier
from visualproof_server.proving.places.captions import has_context
from visualproof_server.proving.places.citations import CitedSpan
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text, plain
from visualproof_server.proving.values.numbers import scan_numbers


class Search:
    """One value in one document."""

    def __init__(
        self, claim: Claim, spec: FieldSpec, kind: ValueKind, parsed: Any, page: Page
    ) -> None:
        self._sought = Sought(claim, spec, kind, parsed, page)
        self._anywhere = Anywhere(self._sought)
        captions = AtCaption(self._sought, self._anywhere)
        self._label = AtLabel(self._sought, self._anywhere, captions)
        self._roles = ByRole(self._sought, self._anywhere, captions)

    @property
    def sure(self) -> tuple[Run, ...]:
        """Every print that equals the claim without doubt."""
        return tuple(m.run for m in self._sought.every if not m.doubt)

    # With proofs

    def cited(self, spans: list[CitedSpan], reasons: list[Reason]) -> Finding:
        """The value where its proofs point, else what is printed there, else where it stands."""
        inside = [m for m in self._sought.every if any(_within(m.run, a) for a in spans)]
        sure = [m for m in inside if not m.doubt]
        if sure and not has_context(self._sought.spec) and self._sought.opposite_printed():
            return self._anywhere.counter_entry([m.run for m in sure], reasons)
        if sure:
            chosen = self._at_proof_text(sure, spans)
            finding = Finding(
                status=Status.VERIFIED,
                reasons=tuple(reasons),
                places=tuple(chosen),
                printed=chosen[0].text,
                exact=True,
                cited=True,
                anchor=Anchor.PROOF,
            )
            return self._against_caption(finding)
        if inside:
            return replace(self._anywhere.doubtful(inside, reasons), cited=True)
        return self._not_inside(spans, reasons)

    def _not_inside(self, spans: list[CitedSpan], reasons: list[Reason]) -> Finding:
        elsewhere = self._anywhere.elsewhere(reasons)
        verbatim = [a.printed for a in spans if a.printed is not None]
        whole = [run for run in verbatim if self._is_whole_value(run)]
        if verbatim and not whole:
            note = Reason("VALUE_NOT_IN_PROOF", "The proof is printed; the value is not in it.")
            if self._percent_only(verbatim[0]):
                note = Reason("UNIT_DIFFERS", "Printed there with another unit or a percent sign.")
            return Finding(
                status=Status.EVIDENCE_ONLY,
                reasons=(note, *reasons),
                places=tuple(verbatim),
                printed=verbatim[0].text,
                exact=True,
                cited=True,
            )
        if elsewhere is not None:
            return elsewhere
        return self._sought.misses.printed_instead(spans, whole, reasons)

    def _at_proof_text(self, sure: list[Match], spans: list[CitedSpan]) -> list[Run]:
        """Among equal places of the cited lines, the one that the proof spells."""
        for span in spans:
            printed = span.printed or span.nearest
            if printed is not None:
                hits = [m.run for m in sure if set(m.run.words) & set(printed.words)]
                if hits:
                    return [min(hits, key=lambda r: len(r.words))]
        if (
            all(a.proof.form in ("WORD", "LINE") for a in spans)
            or self._sought.kind.repeats_by_chance
        ):
            return [sure[0].run]
        return [m.run for m in sure]

    def _against_caption(self, finding: Finding) -> Finding:
        """A cited value must not contradict its label, or what its caption calls it."""
        if not has_context(self._sought.spec):
            if self._sought.role is not None and self._roles.is_another(finding.places[0]):
                return finding.demoted(Status.FOUND_ELSEWHERE, reason_of("ROLE_DIFFERS"))
            return finding
        places = self._sought.captions.labelled(self._sought.spec, self._sought.kind)
        whole = [p for p in places if p.tier < Tier.PART]
        words = {w for run in finding.places for w in run.words}
        here = [p for p in whole if any(words & set(v.words) for v in p.values)]
        if not here and self._sought.kind.is_text:
            here = [p for p in whole if words & set(p.words)]
        if here:
            rivals = [
                v
                for p in whole
                if p not in here
                for v in p.values[:1]
                if v.text != here[0].values[0].text
            ]
            if not rivals:
                return finding
            note = Reason("SEVERAL_PLACES", "Other values stand at the same label.")
            return replace(finding.demoted(Status.AMBIGUOUS, note), others=tuple(rivals[:10]))
        if not whole:
            if places:
                return finding.demoted(Status.FOUND_ELSEWHERE, reason_of("CAPTION_DIFFERS"))
            note = Reason("LABEL_NOT_FOUND", "None of the labels is printed; the proof decided.")
            return replace(finding, reasons=(*finding.reasons, note))
        others = tuple(v for p in whole for v in p.values)[:10]
        note = Reason("NOT_AT_LABEL", "Printed where it is cited, but not at its label.")
        return replace(finding.demoted(Status.FOUND_ELSEWHERE, note), others=others)

    def nearby(self, spans: list[CitedSpan], finding: Finding) -> Finding:
        """Orders the places of a value found elsewhere: nearest to its proof first."""
        rows = [row for span in spans for row in span.rows]
        codes = {r.code for r in finding.reasons}
        if finding.status is not Status.FOUND_ELSEWHERE or not rows or "ROLE_DIFFERS" in codes:
            return finding
        everything = sorted(
            (*finding.places, *finding.others),
            key=lambda r: min(abs(self._sought.index.row_of[r.words[0]] - row) for row in rows),
        )
        reasons = finding.reasons
        if reasons and reasons[0].code == "NOT_AT_PROOF":
            there = self._line_names([self._sought.index.row_of[everything[0].words[0]]])
            cited = self._line_names(list(dict.fromkeys(rows)))
            text = f"Printed in line {there}, not in line {cited} where the proof points."
            reasons = (Reason("NOT_AT_PROOF", text), *reasons[1:])
        return replace(
            finding,
            reasons=reasons,
            places=tuple(everything[:1]),
            others=tuple(everything[1:]),
            printed=everything[0].text,
        )

    def _line_names(self, rows: list[int]) -> str:
        numbers = [
            self._sought.index.rows[r].number for r in rows if self._sought.index.rows[r].number
        ]
        return ", ".join(map(str, numbers[:5])) or "a table"

    def _is_whole_value(self, run: Run) -> bool:
        """Whether a printed run is itself one value of the kind, and thus another one."""
        if self._sought.kind.is_text:
            return False
        printed = self._sought.kind.printed(list(run.words), self._sought.spec, self._sought.index)
        text = plain(run.text)
        reads = scan_numbers(text)
        unit = reads[0].unit if len(printed) == 1 and reads else ""
        bare = fold_text(text).rstrip(".,;:").removesuffix(fold_text(unit)).strip()
        return any(len(p.text) >= 0.8 * len(bare) for p in printed)

    def _percent_only(self, run: Run) -> bool:
        shares = "%" in self._sought.index.rows[self._sought.index.row_of[run.words[-1]]].text
        return self._sought.kind.repeats_by_chance and shares and not self._is_whole_value(run)

    # Without

    def uncited(self, reasons: list[Reason]) -> Finding:
        """The value at its label, by its role, else the one place that prints it."""
        if has_context(self._sought.spec):
            return self._label.find(reasons)
        if self._sought.role is not None:
            told = self._roles.find(self._sought.role, reasons)
            if told is not None:
                return told
        return self._anywhere.not_too_short(self._anywhere.find(self._sought.matches, reasons))


def _within(run: Run, span: CitedSpan) -> bool:
    words = set(run.words)
    return words <= span.words if span.strict else bool(words & span.words)
