"""All kinds by name, and the kind of a value whose field names none."""

from decimal import Decimal

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.boolean import Boolean
from visualproof_server.proving.kinds.date import Date, DateTime, Time
from visualproof_server.proving.kinds.identifier import Email, Identifier, Phone, Url
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.kinds.money import Money
from visualproof_server.proving.kinds.number import ZEROS, Number, Percent, Quantity
from visualproof_server.proving.kinds.text import Choice, Quote, Text
from visualproof_server.proving.places.index import Index

KINDS: dict[str, ValueKind] = {
    kind.name: kind
    for kind in (
        Text(),
        Quote(),
        Number(),
        Money(),
        Percent(),
        Quantity(),
        Date(),
        Time(),
        DateTime(),
        Identifier(),
        Phone(),
        Email(),
        Url(),
        Boolean(),
        Choice(),
    )
}


def kind_by_value(value: JsonScalar, field: FieldSpec, index: Index) -> ValueKind:
    """number for numbers, boolean for booleans; a text that is wholly a date or number is one.

    A text of digits with zeros before them is not: 007 is no 7, as numbers of things go.
    """
    if isinstance(value, bool):
        return KINDS["boolean"]
    if isinstance(value, Decimal):
        return KINDS["number"]
    if isinstance(value, str):
        if KINDS["date"].parse(value, field, index) is not None:
            return KINDS["date"]
        number = KINDS["number"].parse(value, field, index)
        if number is not None and not ZEROS.match(number.read.digits):
            if number.unit == "%":
                return KINDS["percent"]
            return KINDS["money"] if number.currencies else KINDS["number"]
    return KINDS["text"]
