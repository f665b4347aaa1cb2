"""The seam of value kinds."""

from dataclasses import dataclass
from typing import Any, Protocol

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec, Reason
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run


@dataclass(frozen=True, slots=True)
class Match:
    """A printed run that equals a claim by kind.

    doubt is a reason code when it may equal it but that cannot be decided; ranked_lower_because
    says why it looks less like the kind than others may; verbatim says that the spelling is equal
    too.
    """

    run: Run
    doubt: str = ""
    ranked_lower_because: Reason | None = None
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """Why what is printed is not what is claimed: a reason code."""

    code: str


class ValueKind(Protocol):
    """One kind of value: how it is read, found and compared. Exact; likeness has no part in it.

    Rooms ask for traits, not for names. repeats_by_chance: equal prints may mean different things,
    as amounts do, so that several places need context to decide. is_text: made of words, so that
    all that stands at a caption is the value. is_amount: a row that names a sum may hold it. is_code:
    letters and digits that say nothing of themselves, so that a caption must. is_literal: printed as
    itself wherever it is printed; a yes may be said in other words.
    """

    @property
    def name(self) -> str:
        """As in FieldSpec.kind."""
        ...

    @property
    def repeats_by_chance(self) -> bool: ...

    @property
    def is_text(self) -> bool: ...

    @property
    def is_amount(self) -> bool: ...

    @property
    def is_code(self) -> bool: ...

    @property
    def is_literal(self) -> bool: ...

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> Any | None:
        """The claim as compared, None when the value is none of this kind."""
        ...

    def needs_context(self, claim: Any, run: Run, index: Index) -> bool:
        """Whether a print proves it only where a proof, a caption or a role points."""
        ...

    def find(self, claim: Any, field: FieldSpec, index: Index) -> list[Match]:
        """Every place of the document that prints the claim."""
        ...

    def misread(self, claim: Any, field: FieldSpec, index: Index) -> list[Run]:
        """Places that would print the claim if look-alike characters were misread."""
        ...

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        """What is printed of this kind among some neighbouring words of one row, left to right."""
        ...

    def differs(self, claim: Any, run: Run, field: FieldSpec, index: Index) -> Difference:
        """Why a printed run, as `printed` gave it, is not the claim."""
        ...
