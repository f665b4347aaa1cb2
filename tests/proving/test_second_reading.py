"""No green value hangs on one reading: what must be read a second time, and what settles it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from visualproof_server.model.document import Document, Line, Trust
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldResult, FieldSpec, Status
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.second_reading import Place, Reading, SecondReading, SecondReadings
from visualproof_server.proving.kept_readings import recorded, replayed
from visualproof_server.proving.prove import Index, prove

from proving.claims import codes
from proving.pages import OPTIONS, printed

Said = dict[int, list[tuple[str, str]]]
"""By attempt: (engine, text) of each reading."""


class Engines:
    """Reads every place as it is told, and notes what it was asked."""

    def __init__(self, said: Said, confidence: float = 0.97) -> None:
        self.asked: list[list[Place]] = []
        self._said = said
        self._confidence = confidence

    def __call__(self, places: Sequence[Place]) -> Mapping[Place, tuple[Reading, ...]]:
        self.asked.append(list(places))
        return {
            place: tuple(
                Reading(engine, tuple((word, self._confidence) for word in text.split()))
                for engine, text in self._said.get(place.attempt, [])
            )
            for place in places
        }


def trusted(lines: list[str], trust: Trust, pixels: bool = True) -> Document:
    """Printed lines whose words were all read with that trust, by Tesseract."""
    page = printed(lines).pages[0]
    made = tuple(
        Line(tuple(replace(w, trust=trust) for w in line.words), line.block) for line in page.lines
    )
    page = replace(page, lines=made, pixels=pixels)
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (page,))


def asked(
    lines: list[str],
    value: Any,
    engines: Engines,
    kind: str,
    trust: Trust = Trust.SURE,
    pixels: bool = True,
) -> FieldResult:
    document = trusted(lines, trust, pixels)
    request = ProveRequest(fields=(FieldSpec("/a", kind),))
    return prove(Index(document), json.dumps({"a": value}).encode(), request, engines).results[0]


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [
        ("Total 60.30", 60.3, "money"),
        ("On 2026-03-05", "2026-03-05", "date"),
        ("No INV-204", "INV-204", "identifier"),
        ("Room 12", "Room 12", "text"),
        ("Class B1", "B1", "text"),
        ("Plate TX-9", "TX-9", "text"),
    ],
)
def test_what_was_read_surely_by_one_engine_needs_another(line: str, value: Any, kind: str) -> None:
    other = Engines({0: [("rapidocr", line)]})
    assert asked([line], value, other, kind).status is Status.VERIFIED
    assert len(other.asked) == 1
    differs = Engines({0: [("rapidocr", line.translate(str.maketrans("30241TX", "8869LYK")))]})
    result = asked([line], value, differs, kind)
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "READINGS_DIFFER")


def test_plain_words_and_what_two_engines_agreed_on_are_not_read_again() -> None:
    engines = Engines({})
    seller = asked(["Seller Tan Chay Yee Trading"], "Tan Chay Yee Trading", engines, "text")
    assert seller.status is Status.VERIFIED
    assert asked(["Total 60.30"], 60.3, engines, "money", Trust.AGREED).status is Status.VERIFIED
    assert engines.asked == []


def test_one_engine_confirms_itself_only_at_two_sizes_and_unopposed() -> None:
    def status(said: Said) -> Status:
        return asked(["Total 60.30"], 60.3, Engines(said), "money").status

    same, other = ("tesseract", "60.30"), ("tesseract", "60.80")
    assert status({0: [same, same]}) is Status.VERIFIED
    assert status({0: [same, other]}) is Status.UNCERTAIN
    assert status({0: [same]}) is Status.UNCERTAIN
    # What another engine reads otherwise is not outvoted by the first engine's own repeats.
    assert status({0: [("rapidocr", "60.80")], 1: [same, same]}) is Status.UNCERTAIN
    assert status({0: [same, other], 1: [("rapidocr", "60.30")]}) is Status.VERIFIED


def test_another_engine_must_read_the_same_each_time() -> None:
    same, other = ("rapidocr", "60.30"), ("rapidocr", "60.80")
    for said, status in (([same, same], Status.VERIFIED), ([same, other], Status.UNCERTAIN)):
        result = asked(["Total 60.30"], 60.3, Engines({0: said}), "money")
        assert result.status is status


@pytest.mark.parametrize(
    ("line", "value", "kind", "said"),
    [
        ("Load = 12 kg", "12 kg", "quantity", "≥ 12 kg"),
        ("Levy 5% more", "5%", "percent", "5‰"),
        ("Pipe 1% inch", "1%", "percent", "1½"),
        ("Yard 40 ft? all", "40 ft", "quantity", "40 ft²"),
        ("Cells 103 all", 103, "number", "10³"),
        ("Limit 30 % all", "30 %", "percent", "30 ‰"),
    ],
)
def test_signs_at_a_number_must_read_the_same(line: str, value: Any, kind: str, said: str) -> None:
    result = asked([line], value, Engines({0: [("rapidocr", said)]}), kind)
    assert codes(result)[0] == "READINGS_DIFFER"
    same = asked([line], value, Engines({0: [("rapidocr", line)]}), kind)
    assert same.status is Status.VERIFIED


def test_where_nothing_can_read_it_better_a_sure_word_stays_and_a_doubtful_one_does_not() -> None:
    nothing = Engines({})
    assert asked(["Total 60.30"], 60.3, nothing, "money").status is Status.VERIFIED
    doubtful = asked(["Total 60.30"], 60.3, nothing, "money", Trust.DOUBTFUL)
    assert codes(doubtful)[0] == "LOW_CONFIDENCE"
    unseen = asked(["Total 60.30"], 60.3, nothing, "money", Trust.UNSEEN)
    assert codes(unseen)[0] == "PIXELS_DIFFER"


def test_words_without_pixels_are_as_sure_as_their_reader() -> None:
    engines = Engines({})
    lines = ["Total 60.30"]
    assert asked(lines, 60.3, engines, "money", pixels=False).status is Status.VERIFIED
    doubtful = asked(lines, 60.3, engines, "money", Trust.DOUBTFUL, pixels=False)
    assert (doubtful.status, codes(doubtful)[0]) == (Status.UNCERTAIN, "NO_PIXELS")


def test_a_second_reading_in_doubt_settles_less() -> None:
    said: Said = {0: [("rapidocr", "60.30")]}
    lines = ["Total 60.30"]
    assert asked(lines, 60.3, Engines(said, 0.6), "money").status is Status.VERIFIED
    assert asked(lines, 60.3, Engines(said, 0.4), "money").status is Status.UNCERTAIN
    unseen = Trust.UNSEEN
    assert asked(lines, 60.3, Engines(said, 0.6), "money", unseen).status is Status.UNCERTAIN
    assert asked(lines, 60.3, Engines(said), "money", unseen).status is Status.VERIFIED


def test_letters_of_a_neighbour_in_the_crop_are_the_neighbours() -> None:
    engines = Engines({0: [("rapidocr", "403005")]})
    assert asked(["40300 SHAH ALAM"], "40300", engines, "identifier").status is Status.UNCERTAIN
    engines = Engines({0: [("rapidocr", "40300S")]})
    assert asked(["40300 SHAH ALAM"], "40300", engines, "identifier").status is Status.VERIFIED
    engines = Engines({0: [("rapidocr", "03- 55423228")]})
    tel = asked(["Tel 03-55423228"], "03-55423228", engines, "identifier")
    assert tel.status is Status.VERIFIED


def test_a_short_word_is_not_taken_for_a_letter_of_its_neighbour() -> None:
    engines = Engines({0: [("rapidocr", "A*")]})
    assert asked(["Grade: A*"], "A*", engines, "text").status is Status.VERIFIED


def test_marks_within_a_value_are_read_with_it() -> None:
    line = ["Result: pH < 7 in all"]
    same = Engines({0: [("rapidocr", "pH < 7")]})
    assert asked(line, "pH < 7", same, "text").status is Status.VERIFIED
    other = Engines({0: [("rapidocr", "pH ≤ 7")]})
    assert asked(line, "pH < 7", other, "text").status is Status.UNCERTAIN


def test_print_that_can_be_meant_in_two_ways_is_settled_by_no_reading() -> None:
    engines = Engines({0: [("rapidocr", "1299")], 1: [("other", "1299")]})
    result = asked(["Price 1299"], 1299, engines, "number", Trust.UNCLEAR)
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "PRINT_UNCLEAR")


def test_all_places_of_an_answer_are_asked_for_at_once() -> None:
    document = trusted([f"Line {n} costs {n}1.50" for n in range(1, 9)], Trust.SURE)
    answer = json.dumps({f"f{n}": f"{n}1.50" for n in range(1, 9)}).encode()
    engines = Engines({})
    prove(Index(document), answer, ProveRequest(), engines)
    assert [len(places) for places in engines.asked] == [8]


def test_places_that_a_list_may_choose_from_are_read_ahead() -> None:
    document = trusted(["Ale 7.50", "Bun 7.50"], Trust.SURE)
    answer = json.dumps([{"price": 7.5}, {"price": 7.5}]).encode()
    request = ProveRequest(fields=(FieldSpec("/*/price", "money"),))
    engines = Engines({0: [("rapidocr", "7.50")]})
    report = prove(Index(document), answer, request, engines)
    assert [r.status for r in report.results] == [Status.VERIFIED] * 2
    assert [len(places) for places in engines.asked] == [2]


def test_what_there_was_no_time_for_is_said_and_not_green() -> None:
    document = trusted(["Total 60.30"], Trust.SURE)
    request = ProveRequest(fields=(FieldSpec("/a", "money"),))
    result = prove(Index(document), b'{"a": 60.3}', request, lambda _: {}).results[0]
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "NOT_READ_AGAIN")


def test_what_was_kept_proves_the_same_without_pixels() -> None:
    index = Index(trusted(["Total 60.30", "Tax 3.01"], Trust.SURE))
    answer = b'{"a": 60.3, "b": 3.01, "c": "60.30"}'
    kept: list[SecondReading] = []
    first = prove(index, answer, ProveRequest(), recorded(Engines({0: [("x", "60.30")]}), kept))
    again = prove(index, answer, ProveRequest(), replayed(SecondReadings(tuple(kept))))
    assert again == first
    assert [r.status.name for r in first.results] == ["VERIFIED", "UNCERTAIN", "VERIFIED"]
    without = prove(index, answer, ProveRequest(), replayed(SecondReadings(())))
    assert {codes(r)[0] for r in without.results} == {"NOT_READ_AGAIN"}
