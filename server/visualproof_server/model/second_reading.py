"""Places of a document that are read a second time, and what was read there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from visualproof_server.model.geometry import Box


@dataclass(frozen=True, slots=True)
class Place:
    """A box on a page, and the engine that read it first.

    attempt 0 is read by the means that settle most; attempt 1 by what else there is.
    """

    page: int
    box: Box
    engine: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What one engine reads from the pixels of a place: words with their confidence."""

    engine: str
    words: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The readings of one place, as SecondReader says."""

    place: Place
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class SecondReadings:
    """Second readings in the order in which they were asked for.

    reader_version is that of the server that made them, empty where it does not matter.
    """

    readings: tuple[SecondReading, ...]
    reader_version: str = ""


SecondReader = Callable[[Sequence[Place]], Mapping[Place, tuple[Reading, ...]]]
"""Reads places a second time in one batch, knowing nothing of what is claimed.

A place without readings has no pixels, or nothing here could read it better; one that is left out
was not read, because the time was up.
"""
