"""date, time and datetime: calendar days and times of day."""

from dataclasses import dataclass
from datetime import date, time

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.boundaries import day_continues
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.dates import DateRead, scan_dates, scan_times, time_at
from visualproof_server.proving.values.locales import conventions
from visualproof_server.proving.vocabulary.words import caption_words, vocabulary

_MAX_CLAIM = 60
# Years that lie further than this from all that the document prints settle no century.
_LIFETIME = 40


@dataclass(frozen=True, slots=True)
class DateClaim:
    """Days that the claim may mean; several only where its own order is unknown. clock may be None."""

    days: frozenset[date]
    text: str
    clock: time | None = None


class Date:
    """Order of day and month by locale, by the document's own unambiguous dates, else in doubt.

    The century of a year of two digits likewise: what the document prints settles it.
    """

    name = "date"
    repeats_by_chance = False
    is_text = False
    is_amount = False
    is_code = False
    is_literal = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> DateClaim | None:
        if not isinstance(value, str) or len(value) > _MAX_CLAIM:
            return None
        text = plain(value.strip())
        reads = scan_dates(text)
        if len(reads) != 1 or text[: reads[0].start].strip(" ("):
            return None
        read = reads[0]
        rest = text[read.end :].lower().strip(" ).")
        clock = time_at(text.lower(), read.end)
        if rest and clock is None and rest not in ("z", "г", "r"):
            return None
        return DateClaim(_days(read, field, index)[0], text, clock)

    def needs_context(self, claim: DateClaim, run: Run, index: Index) -> bool:
        return False

    def find(self, claim: DateClaim, field: FieldSpec, index: Index) -> list[Match]:
        matches = []
        for run, read in index.dates:
            if not read.days & claim.days:
                continue
            days, doubt = _days(read, field, index)
            if not days & claim.days:
                continue
            if not doubt and (len(days) > 1 or len(claim.days) > 1):
                doubt = Doubt.DATE_ORDER_UNKNOWN
            before, after = index.near(run)
            if read.loose or day_continues(before, run.text, after):
                doubt = Doubt.GROUPING_UNKNOWN
            doubt = doubt or self._clock_doubt(claim, read)
            matches.append(Match(run, doubt, verbatim=plain(run.text) == claim.text))
        return matches

    def _clock_doubt(self, claim: DateClaim, read: DateRead) -> str:
        """A claim with a time that is not midnight wants it printed."""
        stated = claim.clock is not None and claim.clock != time(0, 0)
        return "VALUE_DIFFERS" if stated and claim.clock != read.clock else ""

    def misread(self, claim: DateClaim, field: FieldSpec, index: Index) -> list[Run]:
        return [
            run for run, read in index.misread_dates if _days(read, field, index)[0] & claim.days
        ]

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        wanted = set(words)
        dates = [*index.dates, *index.misread_dates]
        whole = [run for run, _ in dates if set(run.words) <= wanted]
        # One over the line's end begins among them.
        over = [
            run for run, _ in index.dates if run.words[0] in wanted and not set(run.words) <= wanted
        ]
        return sorted([*whole, *over], key=lambda r: r.words[0])

    def differs(self, claim: DateClaim, run: Run, field: FieldSpec, index: Index) -> Difference:
        reads = scan_dates(plain(run.text))
        if reads and reads[0].days & claim.days:
            return Difference("VALUE_DIFFERS" if field.locale else Doubt.DATE_ORDER_UNKNOWN)
        return Difference("VALUE_DIFFERS")


class DateTime(Date):
    """A day with its time of day, printed beside each other."""

    name = "datetime"

    def _clock_doubt(self, claim: DateClaim, read: DateRead) -> str:
        if claim.clock is None:
            return ""
        return "" if claim.clock == read.clock else "VALUE_DIFFERS"


class Time:
    """A time of day: 14:30 is printed 2.30 pm too."""

    name = "time"
    repeats_by_chance = False
    is_text = False
    is_amount = False
    is_code = False
    is_literal = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> time | None:
        if not isinstance(value, str) or len(value) > _MAX_CLAIM:
            return None
        text = plain(value.strip())
        reads = scan_times(text)
        whole = len(reads) == 1 and not (text[: reads[0].start] + text[reads[0].end :]).strip(" .Z")
        return reads[0].clock if whole else None

    def needs_context(self, claim: time, run: Run, index: Index) -> bool:
        return False

    def find(self, claim: time, field: FieldSpec, index: Index) -> list[Match]:
        return [Match(run) for run, clock in index.times if _same_time(claim, clock)]

    def misread(self, claim: time, field: FieldSpec, index: Index) -> list[Run]:
        return []

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        wanted = set(words)
        return [run for run, _ in index.times if set(run.words) <= wanted]

    def differs(self, claim: time, run: Run, field: FieldSpec, index: Index) -> Difference:
        return Difference("VALUE_DIFFERS")


def _same_time(claim: time, printed: time) -> bool:
    """Equal; a claim without seconds does not deny those that are printed."""
    return claim == printed or (
        claim.second == 0 and (claim.hour, claim.minute) == (printed.hour, printed.minute)
    )


def _days(read: DateRead, field: FieldSpec, index: Index) -> tuple[frozenset[date], str]:
    """Days that a printed date may mean under locale and document, and what stays in doubt."""
    readings = read.readings
    doubt = ""
    if len({(r.day.month, r.day.day) for r in readings}) > 1:
        order, agreed = _order(read, field, index)
        chosen = tuple(r for r in readings if r.order == order)
        if not chosen or not agreed:
            return read.days, Doubt.DATE_ORDER_UNKNOWN
        readings = chosen
    days = frozenset(r.day for r in readings)
    if read.short:
        days, doubt = _century(days, field, index)
    return days, doubt


def _order(read: DateRead, field: FieldSpec, index: Index) -> tuple[str, bool]:
    """The order of day and month, and whether locale and document agree on it."""
    stated = conventions(field.locale).date_order
    seen = index.date_orders
    order = stated or (next(iter(seen)) if len(seen) == 1 else "")
    if order == "MDY" and read.mark != "/":
        # Month first is written with slashes; 07-11-1994 in a month-first country may be either.
        return order, False
    if stated in ("DMY", "MDY") and seen and stated not in seen:
        # The locale says one thing and the document's own dates another: nothing is settled.
        return order, False
    return order, True


def _century(days: frozenset[date], field: FieldSpec, index: Index) -> tuple[frozenset[date], str]:
    """Days by the century that the document's other years settle."""
    years = index.years
    born = _is_birth(field)
    if len(days) == 1 and not born:
        return days, ""
    if born:
        days = days | frozenset(_shifted(d, -100) for d in days if d.year >= 2000)
        return days, Doubt.CENTURY_UNKNOWN
    near = frozenset(
        d
        for d in days
        if years and all(abs(d.year - y) <= _LIFETIME for y in (years[0], years[-1]))
    )
    return (near, "") if len(near) == 1 else (days, Doubt.CENTURY_UNKNOWN)


def _shifted(day: date, years: int) -> date:
    return day.replace(year=day.year + years, day=min(day.day, 28) if day.month == 2 else day.day)


def _is_birth(field: FieldSpec) -> bool:
    """Whether a field asks for a date of birth, whose century nothing else tells."""
    roles = vocabulary().captions
    said = [caption_words(label) for label in field.labels]
    return any("birth_date" in roles.get(words, ()) for words in said)
