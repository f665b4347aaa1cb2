"""What was read again for a report: kept, so that the same answer can be proven without pixels."""

from collections.abc import Iterator

from visualproof_server.model.export import SecondReading, SecondReadings
from visualproof_server.model.geometry import Box
from visualproof_server.proving.second_look import LookAgain


def recorded(look_again: LookAgain, kept: list[SecondReading]) -> LookAgain:
    """The same readings, and those that were asked for added to `kept`."""

    def look(page: int, box: Box, engine: str) -> Iterator[list[tuple[str, float]]]:
        taken: list[tuple[tuple[str, float], ...]] = []
        try:
            for reading in look_again(page, box, engine):
                taken.append(tuple(reading))
                yield reading
        finally:
            kept.append(SecondReading(page, box, engine, tuple(taken)))

    return look


def replayed(kept: SecondReadings) -> LookAgain:
    """Gives what `recorded` kept; a place that was not read again has no readings."""
    known: dict[tuple[int, Box, str], SecondReading] = {}
    for one in kept.readings:
        key = (one.page, one.box, one.engine)
        if key not in known or len(known[key].readings) < len(one.readings):
            known[key] = one

    def look(page: int, box: Box, engine: str) -> Iterator[list[tuple[str, float]]]:
        found = known.get((page, box, engine))
        for reading in found.readings if found else ():
            yield list(reading)

    return look
