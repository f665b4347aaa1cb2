"""A derivation is decimals, four operations and the documented functions over printed numbers."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from visualproof_server.model.report import Outcome, Relation
from visualproof_server.proving.decide.expressions import MAX_CHARS
from visualproof_server.proving.decide.relations import derive, recompute

RIGHT = [
    ("6 * 7000 / 1000", "6 x 7000 W", "42"), ("5 * 100", "5", "500"), ("5 / 100 * 200", "5 % of 200", "10"),
    ("(100 * 30) / 120", "30; 120", "25"), ("sum(5, 6)", "5 and 6", "11"), ("5 - -6", "5 and 6", "11"),
    ("(7 - 5) / 5 * 100", "7; 5; 5", "40"), ("10 + 5", "10 and 5", "15"), ("10 * 10 + 10", "10; 10; 10", "110"),
    ("0.001 * 2500", "2500", "2.5"), ("100 + 5 * 100", "100 and 5", "600"), ("max(5, 6) - min(7, 8)", "5; 6; 7; 8", "-1"),
]  # fmt: skip
FROM_NOTHING = [
    ("1*1+1*1+1*1", "nothing", "3"), ("100*1+100*1", "nothing", "200"), ("1000/10", "nothing", "100"),
    ("100+100+100/(100/100+100/100)", "Total 100", "250"), ("100+100", "Total 100", "200"),
    ("5+1*1", "5", "6"), ("5+10/10", "5", "6"), ("5/1*1+1/1", "5", "6"), ("10/5", "5", "2"),
    ("sum(10*10, 5)", "5", "105"), ("ratio(10*5, 1*10)", "5", "5"), ("max(1*1000, 5)", "5", "1000"),
    ("percent_change(10*1, 5)", "5", "-50"), ("round(10*1.0)", "5", "10"), ("5*(1+1)", "5", "10"),
    ("5*(10*10-10)", "5", "450"), ("5 * -10", "5", "-50"), ("5*5", "5", "25"), ("abs(1)*5", "5", "5"),
    ("5+5*(1-1)", "5 5", "5"), ("1/100*100", "5", "1"), ("5*(1/10)", "5", "0.5"), ("sum()", "nothing", "0"), ("v0 + 5", "5", "10"), ("v0 * v0 * 5", "5", "125"),
]  # fmt: skip
NO_EXPRESSION = [
    "'a'.zfill(9999999999)", "('ab'*99).center(10**9)", "100.00 + 19.00 == 119.00", "5 < 6", "(5).bit_length()",
    "5 .real", "__import__('os').system('id')", "open('x')", "[5]*6", "(5, 6)", "{5: 6}", "5 if 5 else 6",
    "lambda: 5", "5_000", "0x5", "5e3", "5j", "True", "None", "...", "~5", "not 5", "5 // 6", "5 % 6", "5 << 60",
    "5 ** 99999999", "5 @ 6", "5 | 6", "f'{5}'", "b'5'", "'5'", "٥", "5\u200b6", "5; 6", "5 # 6", "x := 5", "ｖ0 + 5", "*5",
    "sum(*[5])", "sum(x=5)", "round(5, 99999999)", "sum.__class__(5)", "abs(5, 6)", "days(5, 6)", "v0", "v0 + 5",
    "\x005", "5\\\n", "5 +", "(5", "await 5", "5 and 6", "[x for x in (5,)]", "print(5)", "5. .imag", "5,",
]  # fmt: skip
DEEP = [
    "(" * 240 + "5" + ")" * 240, "-" * 499 + "5", "abs(" * 90 + "5" + ")" * 90, "5" * 500, "5" * 501,
    "+".join("5" * 250), "/".join("5" * 250), "5" + "*9999999999" * 40, "5" + "*10" * 160, "9" * 250 + "*" + "9" * 249,
    "5" + "/10" * 160, "round(" * 60 + "5" + ")" * 60, "sum(" + ",".join("5" * 240) + ")",
]  # fmt: skip


def outcome(expression: str, printed: str, value: str) -> str:
    return derive(expression, printed, Decimal(value))[0]


@pytest.mark.parametrize(("expression", "printed", "value"), RIGHT)
def test_printed_numbers_are_reckoned_with(expression: str, printed: str, value: str) -> None:
    assert outcome(expression, printed, value) == ""
    assert outcome(expression, printed, f"{value}1" if "." in value else f"{value}.1")


@pytest.mark.parametrize(("expression", "printed", "value"), FROM_NOTHING)
def test_nothing_is_derived_from_what_is_not_printed(
    expression: str, printed: str, value: str
) -> None:
    """Least of all from powers of ten, whose sums are any number."""
    assert outcome(expression, printed, value) in (
        "DERIVATION_INPUT", "DERIVATION_FAILS", "DERIVATION_INVALID",
    )  # fmt: skip


@pytest.mark.parametrize("expression", NO_EXPRESSION)
def test_nothing_else_is_an_expression(expression: str) -> None:
    printed = "5 6 5 6 99 60 3 5000 99999999"
    for value in ("5", "6", "11", "30", "1", "0", "5000"):
        assert outcome(expression, printed, value) in ("DERIVATION_INVALID", "DERIVATION_INPUT")


@pytest.mark.parametrize("expression", DEEP)
def test_size_and_depth_are_bounded(expression: str) -> None:
    assert outcome(expression, "5 " * 300, "7") in (
        "DERIVATION_INVALID", "DERIVATION_INPUT", "DERIVATION_FAILS",
    )  # fmt: skip


@given(st.text("0123456789.+-*/(), summaxround'=<>\n#_e%~[]{}", max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_expression_has_an_outcome(text: str) -> None:
    assert outcome(text, "nothing at all", "3").startswith("DERIVATION_")
    relations = [Relation(text, ""), Relation(f"/a = {text}", text)]
    assert {r.outcome for r in recompute(relations, [], lambda _: None)} <= set(Outcome)


@given(
    st.lists(
        st.sampled_from(["1", "10", "100", "0.1", "+", "-", "*", "/", "(", ")", "sum(", ","]),
        max_size=15,
    )
)
@settings(max_examples=1000, deadline=None)
def test_powers_of_ten_alone_derive_nothing(parts: list[str]) -> None:
    expression = "".join(parts)
    for value in ("1", "2", "10", "11", "100", "110", "0", "0.1"):
        assert outcome(expression, "no number", value)


def test_a_long_one_is_refused_before_it_is_parsed() -> None:
    assert outcome("5+" * MAX_CHARS + "5", "5 " * 600, "5") == "DERIVATION_INVALID"


def test_a_relation_names_values_by_pointers_only() -> None:
    for text in ("v0 = 5", "/a + v0 = 10", "5 + v1 = /a", "\uff560 = 5", "größe = 5", "sum() = 0"):
        (made,) = recompute([Relation(text, "")], [], lambda _: None)
        assert made.outcome is Outcome.UNDEFINED
