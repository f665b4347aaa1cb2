"""The prose guard: nothing unverified gets through, nothing verified is held back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visualproof_server.model.prose import ProseClass
from visualproof_server.model.report import FieldSpec, Relation, Report, Status
from visualproof_server.proving.decide.prose import check_prose

from proving.claims import report_of, word
from proving.pages import printed

LINES = [
    "Water requirement 104110 m3/day",
    "Revenue grew 35% in the year",
    "Total due GBP 16,020.50",
    "Schools within 5 km of the site",
    "Signed October 15, 2026",
    "Order INV-2026-0417",
    "Old revenue 800 and new revenue 900",
]


@pytest.fixture(scope="module")
def report() -> Report:
    answer = {
        "water": {"value": 104110, "proof": word(1, "104110")},
        "growth": {"value": "35%", "proof": word(2, "35%")},
        "total": {"value": 16020.5, "proof": word(3, "16,020.50")},
        "radius": {"value": "5 km", "proof": word(4, "5 km")},
        "signed": {"value": "2026-10-15", "proof": word(5, "October 15, 2026")},
        "order": {"value": "INV-2026-0417", "proof": word(6, "INV-2026-0417")},
        "old": {"value": 800, "proof": word(7, "800")},
        "new": {"value": 900, "proof": word(7, "900")},
        "wrong": {"value": 77, "proof": word(7, "77")},
    }
    fields = [FieldSpec("/order", "identifier"), FieldSpec("/total", "money", currency="GBP")]
    relations = (Relation("percent_change(/old, /new) = 12.5"),)
    made = report_of(printed(LINES), answer, *fields, relations=relations)
    assert [r.status for r in made.results[:-1]] == [Status.VERIFIED] * 8
    return made


def classes(text: str, report: Report, rounding: bool = False) -> list[str]:
    return [s.kind.name for s in check_prose(text, [report], rounding).spans]


@pytest.mark.parametrize(
    "text",
    [
        "The project needs 104110 m3/day.", "It needs 104,110 of water.", "Revenue grew by 35 %.",
        "The total is £16,020.50.", "Schools stand within 5 km.", "Schools stand within five km.",
        "It was signed on 2026-10-15.", "See order INV-2026-0417.",
    ],
)  # fmt: skip
def test_verified_values_pass(text: str, report: Report) -> None:
    assert set(classes(text, report)) == {"QUOTED"}


@pytest.mark.parametrize(
    "text",
    [
        "It needs 104111 m3/day.", "It needs 104110 kg.", "Revenue grew by $35M.", "Revenue grew by 35.",
        "The total is $16,020.50.", "Schools stand within 6 km.", "Schools stand within six km.",
        "Signed on 2026-10-16.", "In 2019 it began.", "See order INV-2026-0418.", "The total is -16,020.50.",
        "About 16 thousand.", "It costs 77.", "Between 800-900 people.",
    ],
)  # fmt: skip
def test_anything_else_is_unverified(text: str, report: Report) -> None:
    assert "UNVERIFIED" in classes(text, report)


def test_a_relation_that_holds_derives(report: Report) -> None:
    assert classes("That is 12.5 more.", report) == ["DERIVED"]


def test_rounding_passes_only_where_it_is_stated(report: Report) -> None:
    assert classes("About 16,021.", report) == ["UNVERIFIED"]
    assert classes("About 16,021.", report, rounding=True) == ["QUOTED"]
    assert classes("About 16 thousand.", report, rounding=True) == ["QUOTED"]
    assert classes("About 16,020.", report, rounding=True) == ["UNVERIFIED"]


def test_spans_are_code_points_and_several_reports_count(report: Report) -> None:
    text = "Ünï 🚰 104110 and 42 here"
    other = report_of(printed(["Answer 42"]), {"a": {"value": 42, "proof": word(1, "42")}})
    made = check_prose(text, [report, other], False)
    assert [text[s.start : s.end] for s in made.spans] == ["104110", "42"]
    assert (made.safe, [s.path for s in made.spans]) == (True, ["/water", "/a"])


@given(st.text(max_size=100))
def test_every_digit_lies_in_a_span(text: str) -> None:
    made = check_prose(text, [], False)
    covered = {i for s in made.spans for i in range(s.start, s.end)}
    assert all(i in covered for i, c in enumerate(text) if c.isdecimal())
    assert all(s.kind is ProseClass.UNVERIFIED for s in made.spans)
