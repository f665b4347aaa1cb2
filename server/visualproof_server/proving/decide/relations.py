"""Arithmetic that is recomputed, never judged: decimals and days only."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import (
    Action,
    FieldResult,
    Outcome,
    Relation,
    RelationResult,
    Status,
)
from visualproof_server.proving.decide.expressions import (
    MAX_CHARS,
    Amount,
    Conversion,
    OnlyConverts,
    Undefined,
    Value,
    check_names,
    common_unit,
    evaluate,
    literals,
)
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.number_read import NumberRead, readings_of
from visualproof_server.proving.values.numbers import scan_numbers

MAX_RELATIONS = 1_000
_POINTER = re.compile(r"(?:/(?:[^\s/+*(),<>=~-]|~[01]|\*(?=/))(?:[^\s/+(),<>=*-])*)+")
# A division is spaced or follows a bracket or number; a pointer begins a term.
_TERM = re.compile(r"(?<![\w)\]])" + _POINTER.pattern)
_COMPARISONS = ("<=", ">=", "!=", "=", "<", ">")
_INPUTS = {Status.VERIFIED, Status.DERIVED}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", re.ASCII)
_TOLERANCE = re.compile(r"\d{1,20}(\.\d{1,20})?")

DayOf = Callable[[FieldResult], date | None]
"""The one day that a value means under its field's locale, or None."""


def recompute(
    relations: Iterable[Relation], results: list[FieldResult], day_of: DayOf
) -> list[RelationResult]:
    """Each relation over the verified values of a report; undefined is never a pass."""
    inputs = _Inputs({r.path: r for r in results}, day_of)
    out = []
    for relation in list(relations)[:MAX_RELATIONS]:
        try:
            holds, message = _compare(relation, inputs)
            outcome = Outcome.HOLDS if holds else Outcome.FAILS
        except Undefined as why:
            outcome, message = Outcome.UNDEFINED, str(why)
        action = {
            Outcome.HOLDS: Action.RELEASE,
            Outcome.FAILS: Action.BLOCK,
            Outcome.UNDEFINED: Action.REVIEW,
        }[outcome]
        out.append(RelationResult(relation.expression, outcome, message, action))
    return out


def derive(expression: str, printed: str, claimed: JsonScalar) -> tuple[str, str]:
    """("", "") when the expression over numbers printed in the proof gives the claimed value.

    Else a reason code and sentence. Each number of the expression must be printed in the proof, at
    least as often as it is used; powers of ten, which convert units, may multiply or divide what is
    printed besides.
    """
    if len(expression) > MAX_CHARS:
        return "DERIVATION_INVALID", "The derivation is too long."
    target = claimed if isinstance(claimed, Decimal) else None
    if isinstance(claimed, str) and (found := readings_of(plain(claimed.strip()))):
        target = found[0].value
    if target is None:
        return "DERIVATION_INVALID", "Only numbers can be derived."
    try:
        named, names = _over_print(expression, printed)
        result = evaluate(named, names)
    except (_NotPrinted, OnlyConverts):
        return "DERIVATION_INPUT", "The derivation uses a number that its proof does not print."
    except Undefined as why:
        return "DERIVATION_INVALID", f"The derivation cannot be computed: {why}"
    if isinstance(result, Amount) and result.value == target and "%" not in result.unit:
        return "", ""
    said = result.value if isinstance(result, Amount) else result
    return "DERIVATION_FAILS", f"The derivation gives {said}."


class _NotPrinted(Exception):
    pass


def _over_print(expression: str, printed: str) -> tuple[str, dict[str, Value]]:
    """The expression with its numbers replaced by names of printed ones, which have units."""
    check_names(expression)
    reads = [r for r in scan_numbers(plain(printed)) if not r.doubts and r.sign != "?"]
    reads = [r for r in reads if not r.bound and r.until is None and not r.rest]
    available = Counter(v for r in reads if len(v := r.values()) == 1)
    units = {v: _unit(r) for r in reads if len(v := r.values()) == 1}
    numbers = literals(expression)
    places = list(_NUMBER.finditer(expression))
    if [m.group() for m in places] != [spelled for spelled, _ in numbers]:
        raise Undefined("numbers are digits with a point")
    made: dict[int, Value] = {}
    # What can be no conversion takes its print first.
    for at, (spelled, factor) in sorted(enumerate(numbers), key=lambda n: n[1][1]):
        value = frozenset({Decimal(spelled)})
        if available[value] > 0:
            available[value] -= 1
            made[at] = Amount(Decimal(spelled), units[value])
        elif factor and _power_of_ten(spelled):
            made[at] = Conversion(Decimal(spelled))
        else:
            raise _NotPrinted
    if not any(isinstance(value, Amount) for value in made.values()):
        raise _NotPrinted
    order = iter(range(len(places)))
    named = _NUMBER.sub(lambda _: f"v{next(order)}", expression)
    return named, {f"v{at}": value for at, value in made.items()}


def _power_of_ten(spelled: str) -> bool:
    return spelled.replace(".", "").strip("0") == "1"


def _unit(read: NumberRead) -> str:
    """What must agree for numbers to be added: a unit, or the currencies a sign may mean."""
    if read.unit:
        return read.unit
    return "|".join(sorted(read.currencies))


class _Inputs:
    """The proven values of a report, as numbers and days."""

    def __init__(self, results: dict[str, FieldResult], day_of: DayOf) -> None:
        self._results, self._day_of = results, day_of

    def matching(self, pointer: str) -> list[str]:
        pattern = re.compile(
            "/".join(r"\d+" if p == "*" else re.escape(p) for p in pointer.split("/")) + r"\Z"
        )
        return [path for path in self._results if pattern.match(path)]

    def at(self, path: str) -> Value:
        result = self._results.get(path)
        if result is None:
            raise Undefined(f"{path} is not in the answer")
        if result.status not in _INPUTS:
            raise Undefined(f"{path} is {result.status.name}")
        text = result.value_json
        if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text):
            return Amount(Decimal(text), _printed_unit(result))
        day = self._day_of(result)
        if day is not None:
            return day
        reads = scan_numbers(plain(str(json.loads(text))))
        if len(reads) == 1 and len(reads[0].values()) == 1 and not reads[0].bound:
            (value,) = reads[0].values()
            return Amount(value, _unit(reads[0]) or _printed_unit(result))
        raise Undefined(f"{path} is neither a number nor a date")


def _printed_unit(result: FieldResult) -> str:
    """The unit or currency that is printed at a plain number."""
    reads = scan_numbers(plain(result.printed_text))
    return _unit(reads[0]) if len(reads) == 1 else ""


def _compare(relation: Relation, inputs: _Inputs) -> tuple[bool, str]:
    text = relation.expression
    if len(text) > MAX_CHARS:
        raise Undefined("the expression is too long")
    operator = next((c for c in _COMPARISONS if c in text), None)
    if operator is None or (text.count(operator) != 1 and operator == "="):
        raise Undefined("a relation needs one of = != < <= > >=")
    left_text, right_text = text.split(operator, 1)
    left, right = _side(left_text, inputs), _side(right_text, inputs)
    if isinstance(left, Amount) and isinstance(right, Amount):
        common_unit(left, right)
        tolerance = _tolerance(relation.tolerance)
        one, other = left.value, right.value
        equal = abs(one - other) <= tolerance
        return _holds(operator, one < other, equal), f"{one} {operator} {other}"
    if isinstance(left, date) and isinstance(right, date):
        return _holds(operator, left < right, left == right), f"{left} {operator} {right}"
    raise Undefined("the sides are a number and a date")


def _tolerance(text: str) -> Decimal:
    if not text:
        return Decimal(0)
    if not _TOLERANCE.fullmatch(text):
        raise Undefined("the tolerance is no decimal")
    return Decimal(text)


def _holds(operator: str, less: bool, equal: bool) -> bool:
    return {
        "=": equal,
        "!=": not equal,
        "<": less and not equal,
        ">": not less and not equal,
        "<=": less or equal,
        ">=": not less or equal,
    }[operator]


def _side(text: str, inputs: _Inputs) -> Value:
    names: dict[str, Value | tuple[Value, ...]] = {}

    def name_of(match: re.Match[str]) -> str:
        pointer = match.group()
        key = f"v{len(names)}"
        if "*" in pointer:
            paths = inputs.matching(pointer)
            if not paths:
                raise Undefined(f"nothing matches {pointer}")
            names[key] = tuple(inputs.at(path) for path in paths)
        else:
            names[key] = inputs.at(pointer)
        return key

    check_names(_TERM.sub(" ", text))
    return evaluate(_TERM.sub(name_of, text), names)
