"""Arithmetic that is recomputed, never judged: decimals and days only."""

import ast
import re
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import (
    Action,
    FieldResult,
    Outcome,
    Relation,
    RelationResult,
    Status,
)
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.dates import scan_dates
from visualproof_server.proving.values.numbers import readings_of, scan_numbers

MAX_EXPRESSION = 500
MAX_RELATIONS = 200
_CONTEXT = Context(prec=50, Emax=999, Emin=-999)
_POINTER = re.compile(r"(?:/(?:[^\s/+*(),<>=~-]|~[01]|\*(?=/))(?:[^\s/+(),<>=*-])*)+")
_COMPARISONS = ("<=", ">=", "!=", "=", "<", ">")
_INPUTS = {Status.VERIFIED, Status.DERIVED}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


class Undefined(Exception):
    """A relation that has no value; the text says why."""


def recompute(relations: Iterable[Relation], results: list[FieldResult]) -> list[RelationResult]:
    """Each relation over the verified values of a report; undefined is never a pass."""
    values = {r.path: r for r in results}
    out = []
    for relation in list(relations)[:MAX_RELATIONS]:
        try:
            holds, message = _compare(relation, values)
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

    Else a reason code and sentence. Every number of the expression must be printed in the proof,
    except factors of ten, which convert units.
    """
    if len(expression) > MAX_EXPRESSION:
        return "DERIVATION_INVALID", "The derivation is too long."
    available = {
        reading.value for read in scan_numbers(plain(printed)) for reading in read.readings
    }
    for match in _NUMBER.finditer(expression):
        number = Decimal(match.group())
        if number not in available and not _power_of_ten(match.group()):
            return "DERIVATION_INPUT", "The derivation uses a number that its proof does not print."
    target = claimed if isinstance(claimed, Decimal) else None
    if isinstance(claimed, str) and (found := readings_of(plain(claimed.strip()))):
        target = found[0].value
    if target is None:
        return "DERIVATION_INVALID", "Only numbers can be derived."
    try:
        result = _evaluate(expression, {})
    except Undefined as why:
        return "DERIVATION_INVALID", f"The derivation cannot be computed: {why}"
    if isinstance(result, Decimal) and result == target:
        return "", ""
    return "DERIVATION_FAILS", f"The derivation gives {result}."


def _power_of_ten(spelled: str) -> bool:
    return spelled.replace(".", "").strip("0") == "1"


def _compare(relation: Relation, values: dict[str, FieldResult]) -> tuple[bool, str]:
    text = relation.expression
    if len(text) > MAX_EXPRESSION:
        raise Undefined("the expression is too long")
    operator = next((c for c in _COMPARISONS if c in text), None)
    if operator is None or (text.count(operator) != 1 and operator == "="):
        raise Undefined("a relation needs one of = != < <= > >=")
    left_text, right_text = text.split(operator, 1)
    left, right = _side(left_text, values), _side(right_text, values)
    if type(left) is not type(right):
        raise Undefined("the sides are a number and a date")
    tolerance = Decimal(0)
    if relation.tolerance:
        if not re.fullmatch(r"\d{1,20}(\.\d{1,20})?", relation.tolerance):
            raise Undefined("the tolerance is no decimal")
        tolerance = Decimal(relation.tolerance)
    message = f"{left} {operator} {right}"
    equal = left == right
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        equal = abs(left - right) <= tolerance
    outcomes: dict[str, Callable[[], bool]] = {
        "=": lambda: equal,
        "!=": lambda: not equal,
        "<": lambda: left < right and not equal,
        ">": lambda: left > right and not equal,
        "<=": lambda: left < right or equal,
        ">=": lambda: left > right or equal,
    }
    return outcomes[operator](), message


def _side(text: str, values: dict[str, FieldResult]) -> Any:
    names: dict[str, Any] = {}

    def name_of(match: re.Match[str]) -> str:
        pointer = match.group()
        if "*" in pointer:
            parts = []
            for path in _matching(pointer, values):
                parts.append(f"v{len(names)}")
                names[parts[-1]] = _input(path, values)
            if not parts:
                raise Undefined(f"nothing matches {pointer}")
            return ", ".join(parts)
        key = f"v{len(names)}"
        names[key] = _input(pointer, values)
        return key

    # A division is spaced or follows a bracket or number; a pointer begins a term.
    expression = re.sub(r"(?<![\w)\]])" + _POINTER.pattern, name_of, text)
    result = _evaluate(expression.strip(), names)
    if not isinstance(result, Decimal | date):
        raise Undefined("it is neither a number nor a date")
    return result


def _matching(pointer: str, values: dict[str, FieldResult]) -> list[str]:
    pattern = re.compile(
        "/".join(r"\d+" if p == "*" else re.escape(p) for p in pointer.split("/")) + r"\Z"
    )
    return [path for path in values if pattern.match(path)]


def _input(path: str, values: dict[str, FieldResult]) -> Decimal | date:
    result = values.get(path)
    if result is None:
        raise Undefined(f"{path} is not in the answer")
    if result.status not in _INPUTS:
        raise Undefined(f"{path} is {result.status.name}")
    text = result.value_json
    if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text):
        return Decimal(text)
    inner = plain(text.strip('"'))
    dates = scan_dates(inner)
    days = {r.day for d in dates for r in d.readings}
    if len(days) == 1:
        return next(iter(days))
    numbers = scan_numbers(inner)
    if len(numbers) == 1 and len(numbers[0].readings) == 1 and numbers[0].sign != "?":
        value = numbers[0].readings[0].value.scaleb(numbers[0].exponent)
        return -value if numbers[0].sign == "-" else value
    raise Undefined(f"{path} is neither a number nor a date")


def _sum(*terms: Any) -> Decimal:
    return sum((_number(t) for t in terms), Decimal(0))


def _percent_change(old: Any, new: Any) -> Decimal:
    return _CONTEXT.divide((_number(new) - _number(old)) * 100, abs(_number(old)))


def _ratio(a: Any, b: Any) -> Decimal:
    return _CONTEXT.divide(_number(a), _number(b))


def _days(start: Any, end: Any) -> Decimal:
    if not isinstance(start, date) or not isinstance(end, date):
        raise Undefined("days needs two dates")
    return Decimal((end - start).days)


def _round(value: Any, places: Any = Decimal(0)) -> Decimal:
    digits = int(_number(places))
    if not 0 <= digits <= 20:
        raise Undefined("round takes 0 to 20 places")
    return _number(value).quantize(Decimal(1).scaleb(-digits), context=_CONTEXT)


def _number(value: Any) -> Decimal:
    if not isinstance(value, Decimal):
        raise Undefined("a number is needed")
    return value


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "percent_change": _percent_change,
    "ratio": _ratio,
    "days": _days,
    "abs": lambda v: abs(_number(v)),
    "min": lambda *v: min(_number(x) for x in v),
    "max": lambda *v: max(_number(x) for x in v),
    "round": _round,
}
_OPERATORS: dict[Any, Callable[..., Any]] = {
    ast.Add: lambda a, b: _CONTEXT.add(_number(a), _number(b)),
    ast.Sub: lambda a, b: _CONTEXT.subtract(_number(a), _number(b)),
    ast.Mult: lambda a, b: _CONTEXT.multiply(_number(a), _number(b)),
    ast.Div: lambda a, b: _CONTEXT.divide(_number(a), _number(b)),
    ast.USub: lambda a: -_number(a),
    ast.UAdd: lambda a: _number(a),
}


def _evaluate(expression: str, names: dict[str, Any]) -> Any:
    """Literals become decimals by name, so that no float ever appears."""
    names = dict(names)

    def literal(match: re.Match[str]) -> str:
        key = f"n{len(names)}"
        names[key] = Decimal(match.group())
        return key

    spelled = _NUMBER.sub(literal, expression)
    evaluator = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=names)
    try:
        return evaluator.eval(spelled)
    except (DivisionByZero, ZeroDivisionError):
        raise Undefined("division by zero") from None
    except (InvalidOperation, Overflow):
        raise Undefined("the numbers are out of range") from None
    except (
        InvalidExpression,
        SyntaxError,
        TypeError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as e:
        raise Undefined(f"the expression is invalid ({type(e).__name__})") from None
