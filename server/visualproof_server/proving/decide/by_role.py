"""A value by the name of its field: where captions call it so, and not where they call it else."""

from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from visualproof_server.model.report import Anchor, Reason, Status
from visualproof_server.proving.decide.anywhere import Anywhere
from visualproof_server.proving.decide.at_caption import AtCaption
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.decide.roles import OTHER_DATES, SUMS, Role, contradicts, fits
from visualproof_server.proving.decide.sought import Sought, reason_of
from visualproof_server.proving.places.caption_phrases import Tier
from visualproof_server.proving.places.captions import Labelled
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.vocabulary.words import vocabulary

# Roles whose amounts are printed before and after rounding.
_ROUNDED = frozenset({"total", "due"})


class ByRole:
    """What captions and sections say of the places of one value, by its field's name."""

    def __init__(self, sought: Sought, anywhere: Anywhere, captions: AtCaption) -> None:
        self._sought, self._anywhere, self._captions = sought, anywhere, captions

    def find(self, role: Role, reasons: list[Reason]) -> Finding | None:
        """The value where a caption names its role; None where no caption says anything of it."""
        told = self._captions.find(self._captions_spoken(role), reasons)
        if told is not None and told.status is Status.VERIFIED and self._fits(role, told):
            return told
        for labels in role.labels:
            places = self._captions_named(labels, role)
            if not places:
                continue
            told = self._captions.find(places, reasons)
            if told is not None and role.name in _ROUNDED:
                told = self._after_rounding(told)
            if self._sought.kind.is_text:
                if told is not None and told.status is Status.VERIFIED and self._fits(role, told):
                    return told
                continue
            return told if told is not None else self._not_at_role(places, reasons)
        return self._away_from_other_roles(role, reasons)

    def _after_rounding(self, told: Finding) -> Finding:
        """A sum before rounding is not what is to be paid, where the rounding is printed."""
        if told.status is not Status.VERIFIED or not isinstance(self._sought.claim.value, Decimal):
            return told
        rounding = self._sought.captions.labelled(
            replace(self._sought.spec, labels=_captions_of_rounding()), self._sought.kind
        )
        sizes = {
            value
            for place in rounding
            for run in place.values
            for word in run.words
            for _, read in self._sought.index.numbers_by_word.get(word, ())
            for value in read.values()
            if 0 < abs(value) < 1
        }
        by_size = self._sought.index.numbers_by_size
        for size in sizes:
            after = [self._sought.claim.value + size, self._sought.claim.value - size]
            if any(a in by_size for a in after):
                # One of them is the other, rounded: the one that ends in whole steps.
                if not _is_rounded(self._sought.claim.value):
                    return told.demoted(Status.AMBIGUOUS, reason_of("ROLE_UNKNOWN"))
        return told

    def _captions_spoken(self, role: Role) -> list[Labelled]:
        """Places whose whole caption is the field's name itself."""
        spec = replace(self._sought.spec, labels=(role.spoken,))
        places = self._sought.captions.labelled(spec, self._sought.kind)
        return [p for p in places if p.tier is Tier.EQUAL and p.values]

    def _captions_named(self, labels: tuple[str, ...], role: Role) -> list[Labelled]:
        """Places whose whole caption names the role, in its party's section where there is one."""
        places = self._sought.captions.labelled(
            replace(self._sought.spec, labels=labels), self._sought.kind
        )
        whole = [p for p in places if p.tier < Tier.PART and p.values]
        if role.part and whole:
            sections = [self._sought.roles.section(p.values[0]) for p in whole]
            own = [p for p, s in zip(whole, sections, strict=True) if s == role.party]
            whole = own or [p for p, s in zip(whole, sections, strict=True) if not s]
        return [q for p in whole if (q := self._in_column(p, role)).values]

    def _in_column(self, place: Labelled, role: Role) -> Labelled:
        """Of several values in a row those under a head that names the role, if there are any."""
        if self._sought.kind.is_amount and self._sought.index.prints_cents:
            # Beside amounts with cents a whole number counts things.
            cents = tuple(v for v in place.values if not v.text.strip("()").isdigit())
            place = replace(place, values=cents)
        if len(place.values) < 2 or place.side != "right" or self._sought.kind.is_text:
            return place
        named = [v for v in place.values if role.name in self._sought.roles.head(v)]
        return replace(place, values=tuple(named)) if named else place

    def _not_at_role(self, places: list[Labelled], reasons: list[Reason]) -> Finding:
        """The role's caption prints something else: a value elsewhere is not it."""
        found = self._anywhere.find(self._sought.matches, reasons)
        if found.status not in (Status.VERIFIED, Status.AMBIGUOUS):
            return found
        others = tuple(v for p in places for v in p.values)[:10]
        return replace(
            found.demoted(Status.FOUND_ELSEWHERE, reason_of("ROLE_DIFFERS")),
            others=others,
            anchor=Anchor.NONE,
        )

    def _away_from_other_roles(self, role: Role, reasons: list[Reason]) -> Finding | None:
        """Places whose captions or sections call them something else are not the field's."""
        sure = [m for m in self._sought.matches if not m.doubt]
        if not sure:
            return None
        kept = [m for m in self._sought.matches if not self.is_another(m.run)]
        if not any(not m.doubt for m in kept):
            runs = tuple(m.run for m in sure)
            return Finding(
                status=Status.FOUND_ELSEWHERE,
                reasons=(reason_of("ROLE_DIFFERS"), *reasons),
                places=runs[:1],
                others=runs[1:10],
                printed=runs[0].text,
                exact=True,
            )
        found = self._anywhere.find(kept, reasons)
        if found.status is not Status.VERIFIED:
            return found
        if not self._fits(role, found):
            return found.demoted(Status.AMBIGUOUS, reason_of("ROLE_UNKNOWN"))
        place = found.places[0]
        if role.party and self._sought.roles.section(place) == role.party:
            return replace(found, anchor=Anchor.ROLE)
        # What has captions of its own is told by these, what has none by its name's words.
        named = (
            role.name in self._sought.roles.at(place)
            if role.name in SUMS
            else self._sought.roles.says(place, tuple(role.spoken.split()))
            or role.name in self._sought.roles.at(place)
        )
        if named:
            return replace(found, anchor=Anchor.ROLE)
        if not self._may_stand_alone(role, place):
            return found.demoted(Status.AMBIGUOUS, reason_of("ROLE_UNKNOWN"))
        return self._anywhere.not_too_short(found)

    def _fits(self, role: Role, found: Finding) -> bool:
        return all(fits(role.facet, run, self._sought.index) for run in found.places)

    def _may_stand_alone(self, role: Role, place: Run) -> bool:
        """Whether a print that no caption calls by the field's name may be it all the same.

        A name or an amount may; a code may not, nor a date beside others that no caption tells.
        """
        if self._sought.kind.is_text:
            return True
        if self._sought.kind.is_code:
            return False
        if role.name in OTHER_DATES:
            return False
        if role.name == "date":
            return self._only_date(place)
        if self._sought.kind.is_amount and role.name:
            return self._only_amount(place)
        return not role.part

    def _only_amount(self, place: Run) -> bool:
        """Whether the document prints no other amount."""
        sizes = {
            r.values() for _, r in self._sought.index.numbers if r.decimals == 2 or r.currencies
        }
        return len(sizes) <= 1

    def _only_date(self, place: Run) -> bool:
        """Whether every other day that the document prints is called something else."""
        days = {
            frozenset(read.days)
            for run, read in self._sought.index.dates
            if not self.is_another(run)
        }
        return len(days) <= 1

    def is_another(self, run: Run) -> bool:
        """Whether a place's caption or section says that it is not what the field's name asks for."""
        role = self._sought.role
        if role is None:
            return False
        if role.party:
            section = self._sought.roles.section(run)
            if section and section != role.party:
                return True
            if role.part and self._sought.roles.says(run, tuple(role.spoken.split()[:1])):
                # "Employee: Robert" is the employee's name, whatever else it is called.
                return False
        return bool(role.name or role.part) and contradicts(role, self._sought.roles.at(run))


@lru_cache(maxsize=1)
def _captions_of_rounding() -> tuple[str, ...]:
    known = vocabulary().captions
    return tuple(" ".join(words) for words, roles in known.items() if "rounding" in roles)


def _is_rounded(value: Decimal) -> bool:
    """Whether an amount ends in a step that cash is rounded to: five hundredths."""
    return value * 20 == int(value * 20)
