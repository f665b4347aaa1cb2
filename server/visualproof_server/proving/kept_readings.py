"""What was read a second time for a report: kept, so that it can be proven again without pixels."""

from collections.abc import Mapping, Sequence

from visualproof_server.model.second_reading import (
    Place,
    Reading,
    SecondReader,
    SecondReading,
    SecondReadings,
)


def recorded(read: SecondReader, kept: list[SecondReading]) -> SecondReader:
    """The same readings, which are added to `kept` as they are asked for."""

    def reader(places: Sequence[Place]) -> Mapping[Place, tuple[Reading, ...]]:
        found = read(places)
        kept.extend(SecondReading(p, found[p]) for p in places if p in found)
        return found

    return reader


def replayed(kept: SecondReadings) -> SecondReader:
    """Gives what `recorded` kept; a place that was not read again is left out."""
    known = {one.place: one.readings for one in kept.readings}

    def reader(places: Sequence[Place]) -> Mapping[Place, tuple[Reading, ...]]:
        return {place: known[place] for place in places if place in known}

    return reader
