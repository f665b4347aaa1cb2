"""What was found out about the numbers of a free text."""

from dataclasses import dataclass
from enum import IntEnum


class ProseClass(IntEnum):
    """Where a number of a text comes from; values as in the proto."""

    QUOTED = 1
    DERIVED = 2
    UNVERIFIED = 3


@dataclass(frozen=True, slots=True)
class ProseSpan:
    """A number at [start, end) of a text, in Unicode code points; path names its value."""

    start: int
    end: int
    text: str
    kind: ProseClass
    path: str


@dataclass(frozen=True, slots=True)
class ProseReport:
    """All numbers of a text; safe only when none is UNVERIFIED."""

    spans: tuple[ProseSpan, ...]

    @property
    def safe(self) -> bool:
        return all(span.kind is not ProseClass.UNVERIFIED for span in self.spans)
