"""An answer: claims with their proofs."""

from dataclasses import dataclass
from decimal import Decimal

JsonScalar = str | bool | Decimal | None


@dataclass(frozen=True, slots=True)
class Proof:
    """Where the model says it read a value; form is WORD, LINE, TABLE, CELL, QUOTE or REGION.

    Unused members are None. box is left, top, width, height in fractions of the page.
    """

    form: str
    id: int | None = None
    text: str | None = None
    row: int | None = None
    column: int | None = None
    page: int | None = None
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of an answer. value_json is spelled as the model spelled it."""

    path: str
    value: JsonScalar
    value_json: str
    proofs: tuple[Proof, ...] = ()
    malformed: int = 0
    derivation: str = ""
    comparable: bool = True
