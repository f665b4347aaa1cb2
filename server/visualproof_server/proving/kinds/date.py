"""date: calendar days."""

from dataclasses import dataclass
from datetime import date

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index, Run
from visualproof_server.proving.text.boundaries import day_continues
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.dates import DateRead, scan_dates
from visualproof_server.proving.values.locales import conventions


@dataclass(frozen=True, slots=True)
class DateClaim:
    """Days that the claim may mean; several only where its own order is unknown."""

    days: frozenset[date]
    text: str


class Date:
    """Order of day and month by locale, by the document's own unambiguous dates, else in doubt."""

    name = "date"
    chance = False

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> DateClaim | None:
        if not isinstance(value, str) or len(value) > 60:
            return None
        text = plain(value.strip())
        reads = scan_dates(text)
        if (
            len(reads) != 1
            or text[: reads[0].start].strip(" (")
            or text[reads[0].end :].strip(" ).Z")
        ):
            time = text[reads[0].end :] if reads else ""
            if not reads or not time.startswith("T00:00"):
                return None
        return DateClaim(_days(reads[0], field, index)[0], text)

    def find(self, claim: DateClaim, field: FieldSpec, index: Index) -> list[Match]:
        matches = []
        for run, read in index.dates:
            if not {r.day for r in read.readings} & claim.days:
                continue
            days, clear = _days(read, field, index)
            if not days & claim.days:
                continue
            decided = len(days) == 1 and clear and len(claim.days) == 1
            doubt = "" if decided else "DATE_ORDER_UNKNOWN"
            before, after = index.near(run)
            if read.loose or day_continues(before, run.text, after):
                doubt = "GROUPING_UNKNOWN"
            matches.append(Match(run, doubt, verbatim=plain(run.text) == claim.text))
        return matches

    def misread(self, claim: DateClaim, field: FieldSpec, index: Index) -> list[Run]:
        return [
            run for run, read in index.misread_dates if _days(read, field, index)[0] & claim.days
        ]

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        wanted = set(words)
        dates = [*index.dates, *index.misread_dates]
        return [run for run, _ in dates if set(run.words) <= wanted]

    def differs(self, claim: DateClaim, run: Run, field: FieldSpec, index: Index) -> Difference:
        reads = scan_dates(plain(run.text))
        if reads and {r.day for r in reads[0].readings} & claim.days:
            return Difference("DATE_ORDER_UNKNOWN" if not field.locale else "VALUE_DIFFERS")
        return Difference("VALUE_DIFFERS")


def _days(read: DateRead, field: FieldSpec, index: Index) -> tuple[frozenset[date], bool]:
    """Days that a printed date may mean, and whether locale and document agree on the order."""
    days = frozenset(r.day for r in read.readings)
    if len(days) == 1:
        return days, True
    stated = conventions(field.locale).date_order
    seen = index.date_orders
    order = stated or (next(iter(seen)) if len(seen) == 1 else "")
    if order == "MDY" and read.mark != "/":
        # Month first is written with slashes; 07-11-1994 in a month-first country may be either.
        return days, False
    chosen = frozenset(r.day for r in read.readings if r.order == order)
    if not chosen:
        return days, False
    if stated in ("DMY", "MDY") and seen and stated not in seen:
        # The locale says one thing and the document's own dates another: nothing is settled.
        return days, False
    return chosen, True
