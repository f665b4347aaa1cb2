"""A report as an engineer wants it: by path, with enums."""

import json
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import Any

from google.protobuf import json_format

from visualproof._channel import Picture
from visualproof.errors import ReportBlocked, VisualProofError
from visualproof.notebook import report_html
from visualproof.v1 import report_pb2


class Status(IntEnum):
    """What was found out about a value (docs/statuses.md)."""

    UNSPECIFIED = 0
    VERIFIED = 1
    DERIVED = 2
    EVIDENCE_ONLY = 3
    UNCERTAIN = 4
    AMBIGUOUS = 5
    FOUND_ELSEWHERE = 6
    MISMATCH = 7
    NOT_FOUND = 8
    ABSENT = 9
    STALE = 10
    UNSUPPORTED = 11


class Action(IntEnum):
    """What to do with a value; larger is worse."""

    UNSPECIFIED = 0
    RELEASE = 1
    REVIEW = 2
    BLOCK = 3


class Anchor(IntEnum):
    """How the place of a value was told, the surest first."""

    UNSPECIFIED = 0
    PROOF = 1
    LABEL = 2
    ROLE = 3
    ROW = 4
    ARITHMETIC = 5
    UNIQUE = 6
    REPEATED = 7


class FieldResult:
    """One value's result: the message's fields, with `status` and `action` as enums."""

    def __init__(self, message: report_pb2.FieldResult) -> None:
        self.message = message

    @property
    def path(self) -> str:
        return self.message.path

    @property
    def value(self) -> Any:
        """The value as JSON."""
        return json.loads(self.message.value_json) if self.message.value_json else None

    @property
    def kind(self) -> str:
        return self.message.kind

    @property
    def status(self) -> Status:
        return Status(self.message.status)

    @property
    def action(self) -> Action:
        return Action(self.message.action)

    @property
    def anchor(self) -> Anchor:
        """How its place was told; UNSPECIFIED for what is not VERIFIED."""
        return Anchor(self.message.anchor)

    @property
    def printed_text(self) -> str:
        """What is printed at its place."""
        return self.message.printed_text

    @property
    def reasons(self) -> list[report_pb2.Reason]:
        return list(self.message.reasons)

    @property
    def evidence(self) -> list[report_pb2.Evidence]:
        return list(self.message.evidence)

    @property
    def candidates(self) -> list[report_pb2.Evidence]:
        return list(self.message.candidates)

    @property
    def nearest(self) -> report_pb2.Evidence | None:
        return self.message.nearest if self.message.HasField("nearest") else None

    def __repr__(self) -> str:
        return f"<{self.path} {self.status.name} {self.printed_text!r}>"


class Report:
    """The report on one answer: `report["/total"]`, `report.action`, `for result in report`."""

    def __init__(
        self,
        message: report_pb2.Report,
        crops: Callable[[], Iterable[Picture]] = tuple,
    ) -> None:
        """crops gives a picture a value, when a notebook shows the report."""
        self.message = message
        self._crops = crops
        self._by_path = {r.path: FieldResult(r) for r in message.results}

    def __getitem__(self, path: str) -> FieldResult:
        """The result at a JSON Pointer; KeyError if the answer has no value there."""
        return self._by_path[path]

    def __contains__(self, path: object) -> bool:
        return path in self._by_path

    def __iter__(self) -> Iterator[FieldResult]:
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    @property
    def action(self) -> Action:
        """The worst of all; BLOCK for an empty report."""
        return Action(self.message.action)

    @property
    def blocked(self) -> list[FieldResult]:
        """Values that must not be used."""
        return [r for r in self if r.action is Action.BLOCK]

    @property
    def to_review(self) -> list[FieldResult]:
        """Values that a person should look at."""
        return [r for r in self if r.action is Action.REVIEW]

    @property
    def relations(self) -> list[report_pb2.RelationResult]:
        return list(self.message.relations)

    @property
    def counts(self) -> dict[Status, int]:
        """How many values have each status."""
        return {Status(c.status): c.count for c in self.message.counts}

    def raise_for_blocked(self) -> None:
        """Raises ReportBlocked if any value or relation must not be used, or there is none."""
        if self.action is Action.BLOCK:
            raise ReportBlocked(self, self.blocked)

    def to_json(self) -> str:
        """The whole report as one JSON object, enums by name."""
        return json.dumps(
            json_format.MessageToDict(self.message, preserving_proto_field_name=True),
            ensure_ascii=False,
        )

    def _repr_html_(self) -> str:
        """How Jupyter shows it: a row a value, with a picture of the words."""
        try:
            pictures = {p.path: p for p in self._crops()}
        except VisualProofError:
            # The document may be gone since: a table without pictures is still right.
            pictures = {}
        return report_html(self, pictures)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {s.name}" for s, n in self.counts.items())
        return f"<Report {self.action.name}: {counts}>"
