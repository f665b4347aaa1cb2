"""What a table is before it has page coordinates: columns, rows and cells in pixels."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from visualproof_server.reading.engine import EngineWord
from visualproof_server.reading.missed import Box
from visualproof_server.reading.tables.text import Phrase

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in pixels of the cleaned page."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def holds(self, word: EngineWord) -> bool:
        """Whether a word's centre lies inside."""
        return self.holds_box((word.left, word.top, word.right, word.bottom))

    def holds_box(self, box: Box) -> bool:
        """The same for (left, top, right, bottom)."""
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def overlaps(self, other: "Area") -> bool:
        return min(self.right, other.right) > max(self.left, other.left) and min(
            self.bottom, other.bottom
        ) > max(self.top, other.top)


@dataclass(slots=True)
class GridCell:
    """A cell; row and column are 0-based, ends exclusive."""

    row: int
    column: int
    row_end: int
    column_end: int
    phrases: list[Phrase] = field(default_factory=list)
    column_header: bool = False
    row_header: bool = False

    @property
    def words(self) -> list[EngineWord]:
        return [w for p in self.phrases for w in p.words]

    @property
    def text(self) -> str:
        return " ".join(p.text for p in self.phrases)


@dataclass(slots=True)
class Grid:
    """A table in pixels of the cleaned page: edges of columns and of rows, and its cells.

    Edges are sorted, one more than there are columns or rows. doubtful: its words do not fit its
    rows and columns well.
    """

    xs: list[float]
    ys: list[float]
    cells: list[GridCell]
    doubtful: bool

    @property
    def rows(self) -> int:
        return len(self.ys) - 1

    @property
    def columns(self) -> int:
        return len(self.xs) - 1

    @property
    def area(self) -> Area:
        return Area(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def area_of(self, cell: GridCell) -> Area:
        return Area(
            self.xs[cell.column],
            self.ys[cell.row],
            self.xs[cell.column_end],
            self.ys[cell.row_end],
        )


class Joined(Generic[T]):
    """Things in groups: union-find."""

    def __init__(self, things: Iterable[T]) -> None:
        self._first = {thing: thing for thing in things}

    def _find(self, thing: T) -> T:
        while self._first[thing] != thing:
            thing = self._first[thing]
        return thing

    def join(self, a: T, b: T) -> None:
        self._first[self._find(b)] = self._find(a)

    def groups(self) -> list[list[T]]:
        """In the order of their first members, as these were given."""
        out: dict[T, list[T]] = {}
        for thing in self._first:
            out.setdefault(self._find(thing), []).append(thing)
        return list(out.values())


def clustered(values: Iterable[float], distance: float) -> list[float]:
    """Means of values that lie closer together than `distance`, sorted."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= distance:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(g) / len(g) for g in groups]


def place(at: float, edges: list[float]) -> int:
    """The strip between edges that a place lies in; the first or last if it lies outside."""
    for index in range(len(edges) - 2, 0, -1):
        if at >= edges[index]:
            return index
    return 0
