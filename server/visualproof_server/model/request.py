"""What a caller says beside the answer."""

from dataclasses import dataclass

from visualproof_server.model.report import Action, FieldSpec, Relation, Status


@dataclass(frozen=True, slots=True)
class StatusAction:
    """A status and the action it leads to."""

    status: Status
    action: Action


@dataclass(frozen=True, slots=True)
class ShownPages:
    """An inclusive range of pages that the model was shown."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ProveRequest:
    """Fields, relations and policy; source_sha256 and reader_version empty for no check."""

    fields: tuple[FieldSpec, ...] = ()
    relations: tuple[Relation, ...] = ()
    policy: tuple[StatusAction, ...] = ()
    source_sha256: str = ""
    reader_version: str = ""
    shown: tuple[ShownPages, ...] = ()
