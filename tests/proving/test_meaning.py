"""Print that is there and says another thing; and what it says, however it is spelled."""

from dataclasses import replace
from typing import Any

import pytest
from visualproof_server.model.document import Failure, Warning
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import Action, Anchor, FieldSpec, Status

from proving.claims import codes, report_of, result_of, word
from proving.pages import OPTIONS, printed, table_of, tabled

GREEN = (Status.VERIFIED, Status.ABSENT, Status.DERIVED)


@pytest.mark.parametrize(
    ("line", "value", "kind", "code"),
    [
        ("Load less than 40 kg", "40 kg", "quantity", "BOUND_UNKNOWN"),
        ("Load 40 kg or more", "40 kg", "quantity", "BOUND_UNKNOWN"),
        ("Länge mindestens 40 m", "40 m", "quantity", "BOUND_UNKNOWN"),
        ("Members: 300+", 300, "number", "BOUND_UNKNOWN"),
        ("Visitors 30 to 50", 30, "number", "PART_OF_RANGE"),
        ("Fee EUR 30.00 - 50.00", 50, "money", "SIGN_UNKNOWN"),
        ("Run 3 h 20 min", "20 min", "quantity", "PART_OF_RANGE"),
        ("Sales 7.3 bn", 7.3, "number", "SCALE_DIFFERS"),
        ("Umsatz 730 TEUR", 730, "money", "SCALE_DIFFERS"),
        ("Sales (£m)  7.3", 7.3, "money", "SCALE_UNKNOWN"),
        ("Distance 7.3 × 10^4", 7.3, "number", "SCALE_DIFFERS"),
        ("Output 7 MW", "7 mW", "quantity", "UNIT_DIFFERS"),
        ("Speed 70 km per hour", "70 km", "quantity", "UNIT_DIFFERS"),
        ("Rate 17‰", 17, "number", "WORD_DIFFERS"),
        ("Sum 700 points", 700, "money", "UNIT_UNKNOWN"),
        ("Price NZ$70.00", "USD 70.00", "money", "CURRENCY_DIFFERS"),
        ("Price $70.00 CAD", "USD 70.00", "money", "CURRENCY_DIFFERS"),
        ("Result ( 70.00 )", 70, "money", "SIGN_DIFFERS"),
        ("Balance 70.00 Cr", 70, "money", "SIGN_UNKNOWN"),
        ("Ref 22 333 4444", 22, "number", "GROUPING_UNKNOWN"),
        ("Add 7 ½ cups", 7, "number", "DIGIT_DIFFERS"),
        ("Grade: B+", "B", "choice", "SIGN_DIFFERS"),
        ("Grade: B+", "B-", "text", "SIGN_DIFFERS"),
        ("y = a * b", "y = a + b", "text", "SIGN_DIFFERS"),
        ("Ask us about it", "US", "text", "CASE_DIFFERS"),
        ("The rent is not included", "included", "text", "NEGATION_DIFFERS"),
        ("Neither side is bound", "side is bound", "text", "NEGATION_DIFFERS"),
        ("Paid by Ann Reed Holdings", "Ann Reed", "text", "PART_OF_TEXT"),
        ("Agent: Tom      Hill Road 5", "Tom Hill", "text", "PART_OF_TEXT"),
        ("Clause 12.3", "1.23", "identifier", "PUNCTUATION_DIFFERS"),
        ("Born 02-03-61", "2061-03-02", "date", "CENTURY_UNKNOWN"),
    ],
)
def test_what_says_another_thing_is_not_green(line: str, value: Any, kind: str, code: str) -> None:
    result = result_of([line], value, kind=kind, locale="en-GB")
    assert result.status not in GREEN
    cited = result_of([line], value, [{"type": "LINE", "id": 1}], kind=kind, locale="en-GB")
    assert cited.status not in GREEN
    assert code in codes(result) + codes(cited)


@pytest.mark.parametrize(
    ("line", "value", "kind", "locale"),
    [
        ("Load less than 40 kg", "less than 40 kg", "quantity", ""),
        ("Load 30–40 kg", "30-40 kg", "quantity", ""),
        ("Run 3 h 20 min", "3 h 20 min", "quantity", ""),
        ("Sales USD 7.3 million", 7_300_000, "money", ""),
        ("Period: sixty (60) days", 60, "number", ""),
        ("Period: sixty (60) days", "60 days", "quantity", ""),
        ("a sum of seventy euros (EUR 70.00)", 70, "money", ""),
        ("Share 7 per cent", "7%", "percent", ""),
        ("Crate 9 boxes", "9 boxes", "quantity", ""),
        ("Mass 7 kilograms", "7 kg", "quantity", ""),
        ("Gross R$ 1.234,56", "BRL 1234.56", "money", "pt-BR"),
        ("Preis 17 000 EUR", "17000 EUR", "money", "de-DE"),
        ("Fee CHF 17.-", "CHF 17", "money", ""),
        ("Loss ($17.00)", -17, "money", ""),
        ("this 3rd day of May, 2027", "2027-05-03", "date", ""),
        ("3 . 5 . 2027", "2027-05-03", "date", "de-DE"),
        ("03MAY27", "2027-05-03", "date", ""),
        ("2027/05/03 14:00", "2027-05-03", "date", ""),
        ("Signed 3 May 2027", "2027-05-03T00:00:00Z", "date", ""),
        ("Start 2027-05-03 14:30", "2027-05-03T14:30:00", "datetime", ""),
        ("Doors 2.30 pm", "14:30", "time", ""),
        ("Grade: B+", "B+", "choice", ""),
        ("Zone 3 - 5", "3-5", "text", ""),
        ("Tel +44 (0)113 496 0000", "+441134960000", "phone", ""),
        ("File No.778", "778", "identifier", ""),
    ],
)  # fmt: skip
def test_what_says_it_is_green_however_it_is_spelled(
    line: str, value: Any, kind: str, locale: str
) -> None:
    assert result_of([line], value, kind=kind, locale=locale).status is Status.VERIFIED


@pytest.mark.parametrize(
    ("lines", "value", "wrong", "kind", "label"),
    [
        (["Sub-Total 80.00", "Total 96.00"], 96, 80, "money", "Total"),
        (["Total discount 5.00", "Total 96.00"], 96, 5, "money", "Total"),
        (["Net 80.00   VAT 16.00   Total 96.00"], 16, 96, "money", "VAT"),
        (["Seller: Oak Ltd      Buyer: Elm Inc"], "Oak Ltd", "Elm Inc", "text", "Seller"),
        (["Ref        Day          Sum", "A77        3 May 2027   96.00"], 96, 77, "money", "Sum"),
        (["Due: 3 May 2027 and end 9 May 2027"], "2027-05-03", "2027-05-09", "date", "Due"),
    ],
)
def test_a_label_is_its_whole_caption_and_owns_the_first_value(
    lines: list[str], value: Any, wrong: Any, kind: str, label: str
) -> None:
    assert result_of(lines, value, kind=kind, labels=(label,)).status is Status.VERIFIED
    assert result_of(lines, wrong, kind=kind, labels=(label,)).status not in GREEN


def test_a_label_that_is_only_a_part_of_the_caption_proves_nothing() -> None:
    result = result_of(["Cost of revenue 70.00"], 70, kind="money", labels=("Revenue",))
    assert (result.status, codes(result)[0]) == (Status.FOUND_ELSEWHERE, "CAPTION_DIFFERS")


def test_equal_captions_over_other_values_are_ambiguous_and_equal_values_are_not() -> None:
    lines = ["Date: 3 May 2027", "Date: 9 May 2027"]
    assert result_of(lines, "2027-05-03", kind="date", labels=("Date",)).status is Status.AMBIGUOUS
    same = ["Date: 3 May 2027", "Date: 3 May 2027"]
    assert result_of(same, "2027-05-03", kind="date", labels=("Date",)).status is Status.VERIFIED


def test_a_blank_caption_is_an_answer() -> None:
    lines = ["Discount: ____", "Total 96.00"]
    assert result_of(lines, None, kind="money", labels=("Discount",)).status is Status.ABSENT
    claimed = result_of(lines, 96, kind="money", labels=("Discount",))
    assert (claimed.status, codes(claimed)[0]) == (Status.FOUND_ELSEWHERE, "LABEL_BLANK")
    for printed_line in ("Discount: ten", "Discount: Q3 2027", "Discount: l0.00"):
        missed = result_of([printed_line], None, kind="money", labels=("Discount",))
        assert (missed.status not in GREEN, codes(missed)[0]) == (True, "LABEL_HAS_VALUE")


def test_a_null_is_not_released_where_a_page_was_not_read() -> None:
    document = printed(["Total 96.00"], [])
    lost = replace(document.pages[1], failure=Failure("PAGE_FAILED", "It is broken."))
    made = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (document.pages[0], lost))
    (result,) = report_of(made, {"a": None}, FieldSpec("/a", "money", labels=("Rent",))).results
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["PAGE_NOT_READ"])


def test_a_null_of_an_item_is_not_blocked_by_its_columns_other_rows() -> None:
    rows = [["Country", "1994", "1991"], ["Austria", "47", ""], ["Italy", "68", "73"]]
    document = tabled(([], table_of(rows), []))
    spec = FieldSpec("/rows/*/y91", "number", column_label="1991")
    (result,) = report_of(document, {"rows": [{"y91": None}]}, spec).results
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["LABEL_HAS_VALUE"])


def test_a_null_is_not_released_where_a_form_shows_its_viewers_page() -> None:
    document = printed(["Please wait"])
    xfa = replace(document.pages[0], warnings=(Warning("XFA_FORM", "An XFA form.", 1),))
    made = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (xfa,))
    (result,) = report_of(made, {"a": None}, FieldSpec("/a", "money", labels=("Rent",))).results
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["PAGE_NOT_READ"])


def test_a_page_that_may_lack_content_releases_no_null_and_blocks_nothing() -> None:
    document = printed(["Total 96.00"], ["Rent"])
    warning = Warning("PAGE_DAMAGED", "It may lack content.", 2)
    lacks = replace(document.pages[1], warnings=(warning,))
    made = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (document.pages[0], lacks))
    answer = {"rent": None, "deposit": None, "total": 96, "tax": 7.19}
    specs = [FieldSpec(f"/{n}", "money", labels=(n.title(),)) for n in answer]
    for at, report in ((made, (2,)), (document, ())):
        found = report_of(at, answer, *specs)
        results = {r.path: r for r in found.results}
        assert found.damaged_pages == report
        # What is printed is proven on either.
        assert results["/total"].status is Status.VERIFIED
        for null in ("/rent", "/deposit"):
            wanted = (Status.UNCERTAIN, "PAGE_DAMAGED") if report else (Status.ABSENT, "SEARCHED")
            assert (results[null].status, codes(results[null])[0]) == wanted
        missed = results["/tax"]
        assert missed.status is (Status.UNCERTAIN if report else Status.NOT_FOUND)
        assert ("PAGE_DAMAGED" in codes(missed)) is bool(report)


def test_nothing_is_blocked_for_want_of_print_on_a_page_that_was_read_badly() -> None:
    lines = ["Suhtolal 3O.S1", "Tha nk yuo", "Total 32.66"]
    well, badly = printed(lines), printed(lines, confidence=0.3)
    seen = [report_of(d, {"a": 7.19}, FieldSpec("/a", "money")).results[0] for d in (well, badly)]
    assert [r.status for r in seen] == [Status.NOT_FOUND, Status.UNCERTAIN]
    assert codes(seen[1])[0] == "PAGE_UNCLEAR"
    rent = FieldSpec("/a", "money", labels=("Rent",))
    missed = [report_of(d, {"a": None}, rent).results[0].status for d in (well, badly)]
    assert missed == [Status.ABSENT, Status.UNCERTAIN]


def test_a_yes_that_no_word_says_is_not_blocked() -> None:
    result = result_of(["1 Little Hamburger 5.19"], True, kind="boolean")
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "NOT_LITERAL")


@pytest.mark.parametrize("answer", [{"total": 96}, {"total": 96, "items": []}])
def test_a_required_field_of_a_list_that_has_no_item_is_missed(answer: Any) -> None:
    specs = (FieldSpec("/total", "money"), FieldSpec("/items/*/amount", "money", required=True))
    report = report_of(printed(["Total 96.00"]), answer, *specs)
    assert (report.action, report.results[-1].path) == (Action.BLOCK, "/items/*/amount")
    assert codes(report.results[-1])[0] == "FIELD_MISSING"


def test_a_sign_for_several_currencies_is_the_locales() -> None:
    swedish: Any = {"kind": "money", "labels": ("Avgift",), "locale": "sv-SE"}
    assert result_of(["Avgift 1250 kr"], "SEK 1250", **swedish).status is Status.VERIFIED
    assert codes(result_of(["Avgift 1250 kr"], "NOK 1250", **swedish)) == ["CURRENCY_UNKNOWN"]


BILL = ["Invoice date 3 May 2027", "Due date 9 May 2027", "Subtotal 80.00", "VAT 16.00",
        "Grand total 96.00", "Cash 100.00", "Change 4.00"]  # fmt: skip


def named(name: str, value: Any, kind: str, lines: list[str] = BILL, **spec: Any) -> Any:
    return report_of(printed(lines), {name: value}, FieldSpec(f"/{name}", kind, **spec)).results[0]


@pytest.mark.parametrize(
    ("name", "kind", "value", "wrong"),
    [
        ("total", "money", 96, 100),
        ("subtotal", "money", 80, 96),
        ("changeDue", "money", 4, 96),
        ("issue_date", "date", "2027-05-03", "2027-05-09"),
        ("due_date", "date", "2027-05-09", "2027-05-03"),
    ],
)
def test_a_fields_name_is_a_label_too(name: str, kind: str, value: Any, wrong: Any) -> None:
    right = named(name, value, kind)
    assert (right.status, right.anchor) == (Status.VERIFIED, Anchor.ROLE)
    other = named(name, wrong, kind)
    assert (other.status, codes(other)[0]) == (Status.FOUND_ELSEWHERE, "ROLE_DIFFERS")
    line = next(n for n, text in enumerate(BILL, 1) if other.printed_text in text)
    cited = report_of(
        printed(BILL),
        {name: {"value": wrong, "proof": [{"type": "LINE", "id": line}]}},
        FieldSpec(f"/{name}", kind),
    ).results[0]
    assert (cited.status, codes(cited)[0]) == (Status.FOUND_ELSEWHERE, "ROLE_DIFFERS")


def test_a_day_after_a_documents_number_is_its_date() -> None:
    lines = ["Handelsrechnung (380) Nr. E2018092011804 vom 20.09.2018", "Liefertermin: 03.10.2018"]
    result = named("issue_date", "2018-09-20", "date", lines, locale="de-DE")
    assert (result.status, result.anchor) == (Status.VERIFIED, Anchor.ROLE)


def test_a_code_that_no_caption_names_is_not_green() -> None:
    lines = ["Oak Ltd", "10115 Berlin", "Order no. 7781"]
    assert named("order_number", "7781", "identifier", lines).anchor is Anchor.ROLE
    other = named("invoice_number", "10115", "identifier", lines)
    assert (other.status, codes(other)) == (Status.AMBIGUOUS, ["ROLE_UNKNOWN"])


def test_parties_are_told_by_their_sections() -> None:
    lines = ["Seller", "Oak Ltd", "10115 Berlin", "Buyer", "Elm Inc", "20095 Hamburg"]
    assert named("seller_city", "Berlin", "text", lines).anchor is Anchor.ROLE
    assert named("buyer_city", "Berlin", "text", lines).status is Status.FOUND_ELSEWHERE
    assert named("buyer_name", "Oak Ltd", "text", lines).status is Status.FOUND_ELSEWHERE


def test_every_result_says_how_its_place_was_told_and_a_field_may_ask_for_more() -> None:
    assert result_of(["Fee 7.50"], 7.5, kind="money").anchor is Anchor.UNIQUE
    assert result_of(["Fee 7.50"], 7.5, word(1, "7.50"), kind="money").anchor is Anchor.PROOF
    assert result_of(["Fee 7.50"], 7.5, kind="money", labels=("Fee",)).anchor is Anchor.LABEL
    weak = result_of(["Fee 7.50"], 7.5, kind="money", anchor=Anchor.LABEL)
    assert (weak.status, codes(weak)[0]) == (Status.UNCERTAIN, "ANCHOR_WEAK")
    asked = result_of(["Fee 7.50"], 7.5, kind="money", labels=("Fee",), anchor=Anchor.LABEL)
    assert asked.status is Status.VERIFIED


@pytest.mark.parametrize(
    ("line", "value", "kind"), [("Lot 4 of the sale", 4, "number"), ("a VIP guest", "VIP", "text")]
)
def test_what_is_short_wants_a_proof_or_a_caption(line: str, value: Any, kind: str) -> None:
    result = result_of([line], value, kind=kind)
    assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["ANCHOR_MISSING"])


def test_items_outside_tables_have_bands_and_columns() -> None:
    lines = [
        "Article      Qty      Amount",
        "Lamp         2        40.00",
        "Desk         3        90.00",
    ]
    answer = [
        {"name": "Lamp", "qty": 2, "amount": 40.0},
        {"name": "Desk", "qty": 3, "amount": 90.0},
    ]
    fields = (FieldSpec("/items/*/name", "text"), FieldSpec("/items/*/qty", "number"),
              FieldSpec("/items/*/amount", "money"))  # fmt: skip

    def results(items: Any) -> dict[str, Any]:
        made = report_of(printed(lines), {"items": items}, *fields)
        return {r.path: r for r in made.results}

    assert {r.status for r in results(answer).values()} == {Status.VERIFIED}
    swapped = [{**answer[0], "amount": 90.0}, {**answer[1], "amount": 40.0}]
    assert codes(results(swapped)["/items/0/amount"])[0] == "WRONG_ROW"


def test_two_columns_of_a_table_swapped_are_told_by_their_heads() -> None:
    rows = [["Item", "Net", "Gross"], ["Lamp", "10.00", "12.00"], ["Desk", "20.00", "24.00"]]
    items = [
        {"name": "Lamp", "net": 12.0, "gross": 10.0},
        {"name": "Desk", "net": 24.0, "gross": 20.0},
    ]
    fields = (FieldSpec("/items/*/net", "money"), FieldSpec("/items/*/gross", "money"))
    made = report_of(tabled(([], table_of(rows), [])), {"items": items}, *fields)
    assert {r.status for r in made.results if r.path[-3:] in ("net", "oss")} == {
        Status.FOUND_ELSEWHERE
    }
    assert "WRONG_COLUMN" in {c for r in made.results for c in codes(r)}


@pytest.mark.parametrize(
    ("line", "value"),
    [("[x] Insured", True), ("☑ Insured", True), ("☐ Insured", False), ("Insured: no", False)],
)
def test_a_boolean_is_its_mark_or_the_whole_word_at_its_label(line: str, value: bool) -> None:
    assert result_of([line], value, kind="boolean", labels=("Insured",)).status is Status.VERIFIED
    assert result_of([line], not value, kind="boolean", labels=("Insured",)).status not in GREEN


@pytest.mark.parametrize("line", ["Invoice No. 123", "6 x 7000 Watts", "no more than 2"])
def test_words_that_count_are_no_answers(line: str) -> None:
    for value in (True, False):
        assert result_of([line], value, kind="boolean").status not in GREEN


WRAPPED = [
    "Write to procurement.office@brightwater-",
    "holdings.example.com; your reference is BWH-2026-",
    "004417 and must be quoted. IBAN: DE44 5001 0517",
    "5407 3249 31. Read www.example.org/terms/",
    "2027-01 before.",
]


@pytest.mark.parametrize(
    ("value", "kind"),
    [("BWH-2026", "identifier"), ("004417", "identifier"), ("DE44 5001 0517", "identifier"),
     ("5407 3249 31", "identifier"), ("holdings.example.com", "url"),
     ("www.example.org/terms", "url")],
)  # fmt: skip
def test_a_part_of_what_goes_over_a_lines_end_proves_nothing(value: str, kind: str) -> None:
    assert result_of(WRAPPED, value, kind=kind).status is Status.AMBIGUOUS


@pytest.mark.parametrize(
    ("value", "kind", "status"),
    [("BWH-2026-004417", "identifier", Status.VERIFIED),
     ("DE44500105175407324931", "identifier", Status.VERIFIED),
     ("procurement.office@brightwater-holdings.example.com", "email", Status.AMBIGUOUS),
     ("www.example.org/terms/2027-01", "url", Status.AMBIGUOUS)],
)  # fmt: skip
def test_what_goes_over_a_lines_end_is_found_whole(value: str, kind: str, status: Status) -> None:
    assert result_of(WRAPPED, value, kind=kind).status is status


def test_the_hyphen_at_a_lines_end_is_no_sign() -> None:
    lines = ["The liability of the parties is un-", "limited in all cases of gross fault."]
    assert result_of(lines, "unlimited in all cases", kind="text").status is Status.VERIFIED
    assert result_of(lines, "limited in all cases", kind="text").status not in GREEN
    assert result_of(["Rated B- by us"], "B", kind="text", labels=("Rated",)).status not in GREEN


@pytest.mark.parametrize("locale", ["en-GB", ""])
def test_a_locale_that_writes_otherwise_does_not_part_groups(locale: str) -> None:
    lines = ["Sous-total 9 876,54 €", "Prix 1.250,00 EUR", "About USD 12,840.50"]
    wrong = result_of(lines, 876.54, kind="money", labels=("Sous-total",), locale=locale)
    assert wrong.status is Status.AMBIGUOUS
    right = result_of(lines, 9876.54, kind="money", labels=("Sous-total",), locale="fr-FR")
    assert right.status is Status.VERIFIED


@pytest.mark.parametrize(
    "line", ["Rebate 7%", "Rebate 7 % of turnover", "Rebate 7% 12.00", "Rebate 7 per cent"]
)
def test_a_rate_in_a_caption_is_a_percents_value(line: str) -> None:
    assert result_of([line], "7%", kind="percent", labels=("Rebate",)).status is Status.VERIFIED
    assert result_of([line], "9%", kind="percent", labels=("Rebate",)).status not in GREEN
    assert result_of([line], 7, kind="money", labels=("Rebate",)).status not in GREEN


def test_the_first_word_of_a_caption_is_no_text_of_its_own() -> None:
    assert codes(result_of(["Invoice date: 3 May 2027"], "INVOICE")) == ["PART_OF_TEXT"]
    assert result_of(["Invoice", "Oak Ltd"], "INVOICE").status is Status.VERIFIED
