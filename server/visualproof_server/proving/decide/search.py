"""The search for one value: cited by proofs, at its caption, by its role, or anywhere."""

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from visualproof_server.model.answer import Claim
from visualproof_server.model.report import REASONS, Anchor, FieldSpec, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.misses import Misses
from visualproof_server.proving.decide.roles import (
    OTHER_DATES,
    SUMS,
    PrintedRoles,
    Role,
    contradicts,
    fits,
    role_of,
)
from visualproof_server.proving.kinds.boolean import mark_before
from visualproof_server.proving.kinds.kind import Match, ValueKind
from visualproof_server.proving.places.captions import (
    Captions,
    Labelled,
    Tier,
    has_context,
    misplaced,
)
from visualproof_server.proving.places.citations import CitedSpan
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text, plain
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.proving.vocabulary.words import vocabulary

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


# Roles whose amounts are printed before and after rounding.
_ROUNDED = frozenset({"total", "due"})


@dataclass(frozen=True, slots=True)
class Page:
    """One document as it is searched for one request."""

    index: Index
    captions: Captions
    roles: PrintedRoles


class Search:
    """One value in one document."""

    def __init__(
        self, claim: Claim, spec: FieldSpec, kind: ValueKind, parsed: Any, page: Page
    ) -> None:
        self.claim, self.spec, self.kind, self.index = claim, spec, kind, page.index
        self._captions, self._roles = page.captions, page.roles
        self.parsed = parsed
        self.text = claim.value if isinstance(claim.value, str) else claim.value_json
        self.misses = Misses(self.text, spec, kind, parsed, page.index)
        self._every = kind.find(parsed, spec, page.index)
        # Looks order places without context; a caption or a proof is context.
        self.matches = [m for m in self._every if m.ranked_lower_because is None] or self._every
        self._role = None if has_context(spec) else role_of(spec, kind)

    @property
    def sure(self) -> tuple[Run, ...]:
        """Every print that equals the claim without doubt."""
        return tuple(m.run for m in self._every if not m.doubt)

    # With proofs

    def cited(self, spans: list[CitedSpan], reasons: list[Reason]) -> Finding:
        """The value where its proofs point, else what is printed there, else where it stands."""
        inside = [m for m in self._every if any(_within(m.run, a) for a in spans)]
        sure = [m for m in inside if not m.doubt]
        if sure and not has_context(self.spec) and self._opposite_printed():
            return self._counter_entry([m.run for m in sure], reasons)
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
            return replace(self._doubtful(inside, reasons), cited=True)
        return self._not_inside(spans, reasons)

    def _not_inside(self, spans: list[CitedSpan], reasons: list[Reason]) -> Finding:
        elsewhere = self._elsewhere(reasons)
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
        return self.misses.printed_instead(spans, whole, reasons)

    def _at_proof_text(self, sure: list[Match], spans: list[CitedSpan]) -> list[Run]:
        """Among equal places of the cited lines, the one that the proof spells."""
        for span in spans:
            printed = span.printed or span.nearest
            if printed is not None:
                hits = [m.run for m in sure if set(m.run.words) & set(printed.words)]
                if hits:
                    return [min(hits, key=lambda r: len(r.words))]
        if all(a.proof.form in ("WORD", "LINE") for a in spans) or self.kind.repeats_by_chance:
            return [sure[0].run]
        return [m.run for m in sure]

    def _against_caption(self, finding: Finding) -> Finding:
        """A cited value must not contradict its label, or what its caption calls it."""
        if not has_context(self.spec):
            if self._role is not None and self._is_another(finding.places[0]):
                return finding.demoted(Status.FOUND_ELSEWHERE, _note("ROLE_DIFFERS"))
            return finding
        places = self._captions.labelled(self.spec, self.kind)
        whole = [p for p in places if p.tier < Tier.PART]
        words = {w for run in finding.places for w in run.words}
        here = [p for p in whole if any(words & set(v.words) for v in p.values)]
        if not here and self.kind.is_text:
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
                return finding.demoted(Status.FOUND_ELSEWHERE, _note("CAPTION_DIFFERS"))
            note = Reason("LABEL_NOT_FOUND", "None of the labels is printed; the proof decided.")
            return replace(finding, reasons=(*finding.reasons, note))
        others = tuple(v for p in whole for v in p.values)[:10]
        note = Reason("NOT_AT_LABEL", "Printed where it is cited, but not at its label.")
        return replace(finding.demoted(Status.FOUND_ELSEWHERE, note), others=others)

    # Without

    def uncited(self, reasons: list[Reason]) -> Finding:
        """The value at its label, by its role, else the one place that prints it."""
        if has_context(self.spec):
            return self._at_label(reasons)
        if self._role is not None:
            told = self._by_role(self._role, reasons)
            if told is not None:
                return told
        return self._not_too_short(self._anywhere(self.matches, reasons))

    def _not_too_short(self, found: Finding) -> Finding:
        """What is so short that it stands anywhere wants to be all that stands at some caption."""
        if found.status is not Status.VERIFIED:
            return found
        run = found.places[0]
        if not self.kind.needs_context(self.parsed, run, self.index):
            return found
        if self._role is None and self._captions.is_whole_value(run):
            return found
        return found.demoted(Status.AMBIGUOUS, _note("ANCHOR_MISSING"))

    def _at_label(self, reasons: list[Reason]) -> Finding:
        if isinstance(self.parsed, bool) and (marked := self._marked(reasons)) is not None:
            return marked
        places = self._captions.labelled(self.spec, self.kind)
        whole = [p for p in places if p.tier < Tier.PART]
        if not whole:
            return self._without_label(places, reasons)
        equal = [(p, m) for p in whole for m in self._every if self._stands_at(m.run, p)]
        sure = [(p, m) for p, m in equal if not m.doubt]
        if sure:
            return self._told(sure, whole, reasons, Anchor.LABEL)
        if equal:
            return self._doubtful([m for _, m in equal], reasons)
        return self._other_at_label(whole, reasons)

    def _marked(self, reasons: list[Reason]) -> Finding | None:
        """A boolean by the mark before its option's words; None where there is none."""
        found = [
            mark
            for caption in self._captions.of(self.spec.labels, False)
            if (mark := mark_before(caption.run, self.index)) is not None
        ]
        if not found:
            return None
        ticked = {mark for mark, _ in found}
        if len(ticked) > 1:
            return _ambiguous([run for _, run in found], [_note("SEVERAL_PLACES"), *reasons])
        run, same = found[0][1], ticked == {self.parsed}
        return Finding(
            status=Status.VERIFIED if same else Status.MISMATCH,
            reasons=tuple(reasons) if same else (_note("VALUE_DIFFERS"), *reasons),
            places=(run,),
            printed=run.text,
            exact=True,
            anchor=Anchor.LABEL,
        )

    def _stands_at(self, run: Run, place: Labelled) -> bool:
        """Whether a run is what stands at a caption: a text begins there, a value is among it."""
        if self.kind.is_text:
            return bool(place.words) and bool(set(run.words) & set(place.words))
        return any(_shares(run, value) for value in place.values)

    def _told(
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
            for value in place.values:
                if any(_shares(value, run) for run in here):
                    continue
                if self._is_amount_beside(value, own):
                    continue
                rivals.append(value)
                if self.kind.is_text:
                    break
        if self.kind.is_text:
            # Text right of a label is one value.
            rivals = [r for r in rivals if not any(self._same_region(r, p) for p, _ in sure)]
        return rivals

    def _same_region(self, run: Run, place: Labelled) -> bool:
        return bool(set(run.words) & set(place.words))

    def _is_amount_beside(self, value: Run, own: list[Run]) -> bool:
        """Whether a value beside an amount is only its count: TOTAL 3 12.00."""
        if not self.kind.is_amount or not own:
            return False
        return value.text.strip("() ").isdigit() and any(
            "." in run.text or "," in run.text for run in own
        )

    def _without_label(self, places: list[Labelled], reasons: list[Reason]) -> Finding:
        """No label is printed whole: a value that stands elsewhere is no more than a place."""
        finding = self._anywhere(self.matches, reasons)
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
        confused = self.misses.confused(words) if words else None
        if confused is not None:
            return confused.because()
        filled = [p for p in whole if p.values]
        every = [m.run for m in self._every]
        if not filled:
            return self._nothing_of_kind(whole, every, reasons)
        value = filled[0].values[0]
        if self.kind.is_text:
            unsure = self.misses.unsure(value)
            if unsure is not None:
                return replace(unsure, reasons=(*unsure.reasons, *reasons))
        code = misplaced(self.spec, filled, every, self.index)
        code = code or self.kind.differs(self.parsed, value, self.spec, self.index).code
        note = Reason(code, f"{REASONS[code]} At its label is printed something else.")
        status = self.misses.sure_status(value, len(filled) > 1)
        return Finding(
            status=status,
            reasons=(note, *reasons),
            places=(value,),
            others=tuple(m.run for m in self.matches)[:10],
            printed=value.text,
            exact=True,
        )

    def _nothing_of_kind(
        self, whole: list[Labelled], every: list[Run], reasons: list[Reason]
    ) -> Finding:
        """The label is printed, with nothing or with words that are no value of the kind."""
        held = next((p for p in whole if p.words), None)
        if held is None:
            note = _note("LABEL_BLANK")
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
        text = self.index.text_of(held.words[0], held.words[-1] + 1)
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

    def _is_part(self, sure: list[tuple[Labelled, Match]]) -> bool:
        """Whether a text is only a part of what stands at its label, wherever that is."""
        if not self.kind.is_text:
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
        return self.index.words[run.words[-1]].text.endswith((",", ";")) or (
            run.words[-1] + 1 in place.values[0].words
            and self.index.words[run.words[-1] + 1].text.startswith(("(", "["))
        )

    # By the field's name

    def _by_role(self, role: Role, reasons: list[Reason]) -> Finding | None:
        """The value where a caption names its role; None where no caption says anything of it."""
        told = self._at_captions(self._captions_spoken(role), reasons)
        if told is not None and told.status is Status.VERIFIED and self._fits(role, told):
            return told
        for labels in role.labels:
            places = self._captions_named(labels, role)
            if not places:
                continue
            told = self._at_captions(places, reasons)
            if told is not None and role.name in _ROUNDED:
                told = self._after_rounding(told)
            if self.kind.is_text:
                if told is not None and told.status is Status.VERIFIED and self._fits(role, told):
                    return told
                continue
            return told if told is not None else self._not_at_role(places, reasons)
        return self._away_from_other_roles(role, reasons)

    def _after_rounding(self, told: Finding) -> Finding:
        """A sum before rounding is not what is to be paid, where the rounding is printed."""
        if told.status is not Status.VERIFIED or not isinstance(self.claim.value, Decimal):
            return told
        rounding = self._captions.labelled(
            replace(self.spec, labels=_captions_of_rounding()), self.kind
        )
        sizes = {
            value
            for place in rounding
            for run in place.values
            for word in run.words
            for _, read in self.index.numbers_by_word.get(word, ())
            for value in read.values()
            if 0 < abs(value) < 1
        }
        by_size = self.index.numbers_by_size
        for size in sizes:
            after = [self.claim.value + size, self.claim.value - size]
            if any(a in by_size for a in after):
                # One of them is the other, rounded: the one that ends in whole steps.
                if not _is_rounded(self.claim.value):
                    return told.demoted(Status.AMBIGUOUS, _note("ROLE_UNKNOWN"))
        return told

    def _at_captions(self, places: list[Labelled], reasons: list[Reason]) -> Finding | None:
        """What equal prints at some captions come to; None where none is equal."""
        equal = [(p, m) for p in places for m in self._every if self._stands_at(m.run, p)]
        sure = [(p, m) for p, m in equal if not m.doubt]
        if sure:
            return self._told(sure, places, reasons, Anchor.ROLE)
        return self._doubtful([m for _, m in equal], reasons) if equal else None

    def _captions_spoken(self, role: Role) -> list[Labelled]:
        """Places whose whole caption is the field's name itself."""
        spec = replace(self.spec, labels=(role.spoken,))
        places = self._captions.labelled(spec, self.kind)
        return [p for p in places if p.tier is Tier.EQUAL and p.values]

    def _captions_named(self, labels: tuple[str, ...], role: Role) -> list[Labelled]:
        """Places whose whole caption names the role, in its party's section where there is one."""
        places = self._captions.labelled(replace(self.spec, labels=labels), self.kind)
        whole = [p for p in places if p.tier < Tier.PART and p.values]
        if role.part and whole:
            sections = [self._roles.section(p.values[0]) for p in whole]
            own = [p for p, s in zip(whole, sections, strict=True) if s == role.party]
            whole = own or [p for p, s in zip(whole, sections, strict=True) if not s]
        return [q for p in whole if (q := self._in_column(p, role)).values]

    def _in_column(self, place: Labelled, role: Role) -> Labelled:
        """Of several values in a row those under a head that names the role, if there are any."""
        if self.kind.is_amount and self.index.prints_cents:
            # Beside amounts with cents a whole number counts things.
            cents = tuple(v for v in place.values if not v.text.strip("()").isdigit())
            place = replace(place, values=cents)
        if len(place.values) < 2 or self.kind.is_text:
            return place
        named = [v for v in place.values if role.name in self._roles.head(v)]
        return replace(place, values=tuple(named)) if named else place

    def _not_at_role(self, places: list[Labelled], reasons: list[Reason]) -> Finding:
        """The role's caption prints something else: a value elsewhere is not it."""
        found = self._anywhere(self.matches, reasons)
        if found.status not in (Status.VERIFIED, Status.AMBIGUOUS):
            return found
        others = tuple(v for p in places for v in p.values)[:10]
        return replace(
            found.demoted(Status.FOUND_ELSEWHERE, _note("ROLE_DIFFERS")),
            others=others,
            anchor=Anchor.NONE,
        )

    def _away_from_other_roles(self, role: Role, reasons: list[Reason]) -> Finding | None:
        """Places whose captions or sections call them something else are not the field's."""
        sure = [m for m in self.matches if not m.doubt]
        if not sure:
            return None
        kept = [m for m in self.matches if not self._is_another(m.run)]
        if not any(not m.doubt for m in kept):
            runs = tuple(m.run for m in sure)
            return Finding(
                status=Status.FOUND_ELSEWHERE,
                reasons=(_note("ROLE_DIFFERS"), *reasons),
                places=runs[:1],
                others=runs[1:10],
                printed=runs[0].text,
                exact=True,
            )
        found = self._anywhere(kept, reasons)
        if found.status is not Status.VERIFIED:
            return found
        if not self._fits(role, found):
            return found.demoted(Status.AMBIGUOUS, _note("ROLE_UNKNOWN"))
        place = found.places[0]
        if role.party and self._roles.section(place) == role.party:
            return replace(found, anchor=Anchor.ROLE)
        named = role.name and role.name in self._roles.at(place)
        if named or self._roles.says(place, tuple(role.spoken.split())):
            return replace(found, anchor=Anchor.ROLE)
        if not self._may_stand_alone(role, place):
            return found.demoted(Status.AMBIGUOUS, _note("ROLE_UNKNOWN"))
        return self._not_too_short(found)

    def _fits(self, role: Role, found: Finding) -> bool:
        return all(fits(role.facet, run, self.index) for run in found.places)

    def _may_stand_alone(self, role: Role, place: Run) -> bool:
        """Whether a print that no caption calls by the field's name may be it all the same.

        A name or an amount may; a code may not, nor a date beside others that no caption tells.
        """
        if self.kind.is_text:
            return True
        if self.kind.is_code:
            return False
        if role.name in OTHER_DATES:
            return False
        if role.name == "date":
            return self._only_date(place)
        if self.kind.is_amount and role.name:
            return self._only_amount(place)
        return not role.part

    def _only_amount(self, place: Run) -> bool:
        """Whether the document prints no other amount."""
        sizes = {r.values() for _, r in self.index.numbers if r.decimals == 2 or r.currencies}
        return len(sizes) <= 1

    def _only_date(self, place: Run) -> bool:
        """Whether every other day that the document prints is called something else."""
        days = {frozenset(read.days) for run, read in self.index.dates if not self._is_another(run)}
        return len(days) <= 1

    def _is_another(self, run: Run) -> bool:
        """Whether a place's caption or section says that it is not what the field's name asks for."""
        role = self._role
        if role is None:
            return False
        if role.party:
            section = self._roles.section(run)
            if section and section != role.party:
                return True
        return bool(role.name or role.part) and contradicts(role, self._roles.at(run))

    # Anywhere

    def _anywhere(self, matches: list[Match], reasons: list[Reason]) -> Finding:
        sure = [m for m in matches if not m.doubt]
        if not sure:
            if matches:
                return self._doubtful(matches, reasons)
            return self.misses.nowhere(reasons)
        runs = [m.run for m in sure]
        if self._opposite_printed():
            return self._counter_entry(runs, reasons)
        if self.kind.repeats_by_chance and len(runs) > 1:
            runs = self._sums_among(runs)
        if self.kind.repeats_by_chance and len(runs) > 1 and not self._all_sums(runs):
            note = Reason("SEVERAL_PLACES", f"Printed at {len(runs)} places; nothing decides.")
            return _ambiguous(runs, [note, *reasons])
        lower = sure[0].ranked_lower_because
        if lower is not None:
            return _ambiguous(runs, [lower, *reasons])
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
        if not self.kind.is_amount or (self._role is not None and self._role.name):
            return runs
        return [r for r in runs if self._roles.at(r) & SUMS] or runs

    def _all_sums(self, runs: list[Run]) -> bool:
        unnamed = self._role is None or not self._role.name
        return self.kind.is_amount and unnamed and all(self._roles.at(r) & SUMS for r in runs)

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

    def _doubtful(self, matches: list[Match], reasons: list[Reason]) -> Finding:
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
        return _ambiguous(runs, notes)

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
            status=Status.FOUND_ELSEWHERE,
            reasons=tuple(notes),
            places=tuple(sure[:1]),
            others=tuple(sure[1:50]),
            printed=sure[0].text,
            exact=True,
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

    def nearby(self, spans: list[CitedSpan], finding: Finding) -> Finding:
        """Orders the places of a value found elsewhere: nearest to its proof first."""
        rows = [row for span in spans for row in span.rows]
        codes = {r.code for r in finding.reasons}
        if finding.status is not Status.FOUND_ELSEWHERE or not rows or "ROLE_DIFFERS" in codes:
            return finding
        everything = sorted(
            (*finding.places, *finding.others),
            key=lambda r: min(abs(self.index.row_of[r.words[0]] - row) for row in rows),
        )
        reasons = finding.reasons
        if reasons and reasons[0].code == "NOT_AT_PROOF":
            there = self._line_names([self.index.row_of[everything[0].words[0]]])
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

    def _is_whole_value(self, run: Run) -> bool:
        """Whether a printed run is itself one value of the kind, and thus another one."""
        if self.kind.is_text:
            return False
        printed = self.kind.printed(list(run.words), self.spec, self.index)
        text = plain(run.text)
        reads = scan_numbers(text)
        unit = reads[0].unit if len(printed) == 1 and reads else ""
        bare = fold_text(text).rstrip(".,;:").removesuffix(fold_text(unit)).strip()
        return any(len(p.text) >= 0.8 * len(bare) for p in printed)

    def _percent_only(self, run: Run) -> bool:
        shares = "%" in self.index.rows[self.index.row_of[run.words[-1]]].text
        return self.kind.repeats_by_chance and shares and not self._is_whole_value(run)


@lru_cache(maxsize=1)
def _captions_of_rounding() -> tuple[str, ...]:
    known = vocabulary().captions
    return tuple(" ".join(words) for words, roles in known.items() if "rounding" in roles)


def _is_rounded(value: Decimal) -> bool:
    """Whether an amount ends in a step that cash is rounded to: five hundredths."""
    return value * 20 == int(value * 20)


def _note(code: str) -> Reason:
    return Reason(code, REASONS[code])


def _ambiguous(runs: list[Run], reasons: list[Reason]) -> Finding:
    """Equally good places: the first is shown, all are candidates."""
    return Finding(
        status=Status.AMBIGUOUS,
        reasons=tuple(reasons),
        places=tuple(runs[:1]),
        others=tuple(runs),
        equal=tuple(runs),
        printed=runs[0].text,
        exact=True,
    )


def _within(run: Run, span: CitedSpan) -> bool:
    words = set(run.words)
    return words <= span.words if span.strict else bool(words & span.words)


def _shares(a: Run, b: Run) -> bool:
    return bool(set(a.words) & set(b.words))
