"""Expressions that are recomputed: decimals and days, the four operations and a few functions.

The grammar is Python's, cut down to what is documented (docs/api.md); everything else is refused
before anything is computed. Sizes are bounded: the work grows with the text.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow

MAX_CHARS = 500
MAX_DEPTH = 20
_NAME = re.compile(r"[A-Za-z_]\w*")
_CONTEXT = Context(prec=50, Emax=999, Emin=-999)


class Undefined(Exception):
    """An expression that has no value; the text says why."""


class OnlyConverts(Undefined):
    """A power of ten that is printed nowhere is used as a number."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A decimal with the unit or currency it is in; "" for none. 5 kg and 5 m do not add up."""

    value: Decimal
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A power of ten that is printed nowhere: an amount times it, or by it, and nothing else.

    Sums of such powers would be any number.
    """

    value: Decimal


Value = Amount | Conversion | date


def evaluate(expression: str, names: Mapping[str, Value | tuple[Value, ...]]) -> Value:
    """The value of an expression; a name may stand for several arguments. Error Undefined."""
    tree = _parsed(expression)
    try:
        return _value(tree.body, expression.strip(), names, 0)
    except (DivisionByZero, ZeroDivisionError):
        raise Undefined("division by zero") from None
    except (InvalidOperation, Overflow):
        raise Undefined("the numbers are out of range") from None


def check_names(text: str) -> None:
    """Error Undefined for any name but a function's: names of values are given by us."""
    if not text.isascii() or not set(_NAME.findall(text)) <= set(_FUNCTIONS):
        raise Undefined("the expression is invalid")


def literals(expression: str) -> list[tuple[str, bool]]:
    """Each number of an expression as spelled, in its order, and whether it is a factor.

    Error Undefined.
    """
    text = expression.strip()
    found: list[tuple[tuple[int, int], str, bool]] = []
    waiting: list[tuple[ast.AST, bool]] = [(_parsed(expression).body, False)]
    while waiting:
        node, factor = waiting.pop()
        if isinstance(node, ast.Constant):
            spelled = ast.get_source_segment(text, node) or ""
            found.append(((node.lineno, node.col_offset), spelled, factor))
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
        waiting += [(child, product) for child in ast.iter_child_nodes(node)]
    return [(spelled, factor) for _, spelled, factor in sorted(found)]


def _parsed(expression: str) -> ast.Expression:
    if len(expression) > MAX_CHARS:
        raise Undefined("the expression is too long")
    try:
        return ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Undefined("the expression is invalid") from None


def _value(
    node: ast.expr, text: str, names: Mapping[str, Value | tuple[Value, ...]], depth: int
) -> Value:
    if depth > MAX_DEPTH:
        raise Undefined("the expression is too deep")
    if isinstance(node, ast.Constant):
        return Amount(_literal(ast.get_source_segment(text, node) or "", node.value))
    if isinstance(node, ast.Name):
        found = names.get(node.id)
        if found is None or isinstance(found, tuple):
            raise Undefined(f"{node.id} is no value")
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _amount(_value(node.operand, text, names, depth + 1))
        return Amount(-inner.value, inner.unit) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _value(node.left, text, names, depth + 1)
        right = _value(node.right, text, names, depth + 1)
        if isinstance(right, Conversion) and isinstance(node.op, ast.Mult | ast.Div):
            right = Amount(right.value)
        elif isinstance(left, Conversion) and isinstance(node.op, ast.Mult):
            left = Amount(left.value)
        return _OPERATORS[type(node.op)](_amount(left), _amount(right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is None:
            raise Undefined(f"{node.func.id} is no function")
        return function(_arguments(node.args, text, names, depth))
    raise Undefined("the expression is invalid")


def _arguments(
    nodes: list[ast.expr], text: str, names: Mapping[str, Value | tuple[Value, ...]], depth: int
) -> list[Value]:
    out: list[Value] = []
    for node in nodes:
        several = names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(several, tuple):
            out += several
        else:
            out.append(_value(node, text, names, depth + 1))
    return out


def _literal(spelled: str, value: object) -> Decimal:
    """A decimal as it is spelled; no float, no other constant."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Undefined("a number is needed")
    if not spelled.replace(".", "", 1).isdigit() or not spelled.isascii():
        raise Undefined("numbers are digits with a point")
    return Decimal(spelled)


def _amount(value: Value) -> Amount:
    if isinstance(value, Conversion):
        raise OnlyConverts("a power of ten only converts what is printed")
    if not isinstance(value, Amount):
        raise Undefined("a number is needed")
    return value


def common_unit(*amounts: Amount) -> str:
    """The one unit of amounts that are added or compared; error Undefined if they have two."""
    units = {a.unit for a in amounts if a.unit}
    if len(units) > 1:
        raise Undefined(f"{' and '.join(sorted(units))} do not go together")
    return units.pop() if units else ""


def _add(a: Amount, b: Amount) -> Amount:
    return Amount(_CONTEXT.add(a.value, b.value), common_unit(a, b))


def _subtract(a: Amount, b: Amount) -> Amount:
    return Amount(_CONTEXT.subtract(a.value, b.value), common_unit(a, b))


def _multiply(a: Amount, b: Amount) -> Amount:
    units = sorted(u for u in (a.unit, b.unit) if u)
    return Amount(_CONTEXT.multiply(a.value, b.value), "·".join(units))


def _divide(a: Amount, b: Amount) -> Amount:
    value = _CONTEXT.divide(a.value, b.value)
    if "%" in a.unit.split("·") and not b.unit and b.value == 100:
        # 5 % of 200 is 5 / 100 * 200.
        units = a.unit.split("·")
        units.remove("%")
        return Amount(value, "·".join(units))
    if a.unit == b.unit:
        return Amount(value)
    return Amount(value, f"{a.unit}/{b.unit}" if b.unit else a.unit)


_OPERATORS: dict[type[ast.operator], Callable[[Amount, Amount], Amount]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
}


def _several(values: list[Value], least: int = 1, most: int = 100_000) -> list[Amount]:
    if not least <= len(values) <= most:
        raise Undefined("a function has too few or too many arguments")
    return [_amount(v) for v in values]


def _sum(values: list[Value]) -> Value:
    amounts = _several(values)
    return Amount(sum((a.value for a in amounts), Decimal(0)), common_unit(*amounts))


def _percent_change(values: list[Value]) -> Value:
    old, new = _several(values, 2, 2)
    common_unit(old, new)
    return Amount(_CONTEXT.divide((new.value - old.value) * 100, abs(old.value)))


def _ratio(values: list[Value]) -> Value:
    a, b = _several(values, 2, 2)
    return _divide(a, b)


def _days(values: list[Value]) -> Value:
    if len(values) != 2 or not all(isinstance(v, date) for v in values):
        raise Undefined("days needs two dates")
    start, end = values
    assert isinstance(start, date)
    assert isinstance(end, date)
    return Amount(Decimal((end - start).days))


def _round(values: list[Value]) -> Value:
    amounts = _several(values, 1, 2)
    places = amounts[1].value if len(amounts) > 1 else Decimal(0)
    if places != int(places) or not 0 <= places <= 20:
        raise Undefined("round takes 0 to 20 places")
    step = Decimal(1).scaleb(-int(places))
    # Half up, as invoices are made and as CheckProse rounds.
    made = amounts[0].value.quantize(step, rounding=ROUND_HALF_UP, context=_CONTEXT)
    return Amount(made, amounts[0].unit)


def _abs(values: list[Value]) -> Value:
    (amount,) = _several(values, 1, 1)
    return Amount(abs(amount.value), amount.unit)


def _min(values: list[Value]) -> Value:
    amounts = _several(values)
    return Amount(min(a.value for a in amounts), common_unit(*amounts))


def _max(values: list[Value]) -> Value:
    amounts = _several(values)
    return Amount(max(a.value for a in amounts), common_unit(*amounts))


_FUNCTIONS: dict[str, Callable[[list[Value]], Value]] = {
    "sum": _sum,
    "percent_change": _percent_change,
    "ratio": _ratio,
    "days": _days,
    "abs": _abs,
    "min": _min,
    "max": _max,
    "round": _round,
}
