"""What is doubtful, and what settles it."""

from dataclasses import replace

import pytest
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import (
    FieldSpec,
    Status,
)

from proving.claims import codes, report_of, result_of, word
from proving.pages import OPTIONS, printed


def test_digits_that_may_go_on_are_ambiguous() -> None:
    # As an OCR engine splits it: "60" and ".30" close together.
    assert result_of(["Sum 60 .30"], 60, kind="number").status is Status.AMBIGUOUS
    assert codes(result_of(["No 530 848 134"], "530848", kind="identifier")) == ["GROUPING_UNKNOWN"]


@pytest.mark.parametrize(
    ("locale", "value", "status"),
    [
        ("fr-FR", 1234.5, Status.VERIFIED),
        ("fr-FR", 234.5, Status.AMBIGUOUS),
        ("de-DE", 234.5, Status.VERIFIED),
        ("de-DE", 1234.5, Status.AMBIGUOUS),
        ("", 1234.5, Status.AMBIGUOUS),
        ("", 234.5, Status.AMBIGUOUS),
    ],
)
def test_spaces_group_digits_where_the_locale_says_so(
    locale: str, value: float, status: Status
) -> None:
    result = result_of(["Total 1 234,50"], value, kind="money", locale=locale)
    assert result.status is status
    cited = result_of(["Total 1 234,50"], value, word(1, "1 234,50"), kind="money", locale=locale)
    assert cited.status is status


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [
        ("Sum 1.,280 all", 1, "number"),
        ("Sum 1.,280 all", 280, "number"),
        ("Sum 12,.50", 12, "money"),
        ("Sum 31.;50", 31, "number"),
        ("Sum 3;50", 3, "number"),
        ("Sum 3|50", 50, "number"),
        ("Cartridge CTO-98#10", 10, "number"),
        ("GST RMO.55", 55, "number"),
        ("Total RM1,O00.00", 1, "money"),
        ("Total 5.O5", 5, "number"),
        ("Total 5.OO", 5, "number"),
        ("Total 1O.50", 50, "number"),
        ("Total 1 O00", 1, "number"),
        ("on 2O18-03-05", "2018-03-05", "date"),
        ("Suite 1,O00", "Suite 1", "text"),
        ("Sum 3. ,50", 3, "number"),
        ("Sum 3., 50", 3, "number"),
        ("Rate 1|9%", "9%", "percent"),
        ("Total RM1 280.00", 280, "money"),
        ("No 12345.,67", "12345", "identifier"),
        ("No AB-123|45", "AB-123", "identifier"),
        ("Tel 1|0113 496 0000", "01134960000", "phone"),
        ("Suite 12;50", "Suite 12", "text"),
        ("on 1|5 March 2024", "2024-03-05", "date"),
        ("on 1.,5 March 2024", "2024-03-05", "date"),
        ("on 1 5 March 2024", "2024-03-05", "date"),
        ("on 5 March 20 24", "2020-03-05", "date"),
        ("on March 5, 2024|1", "2024-03-05", "date"),
    ],
)
def test_digits_that_go_on_over_marks_and_gaps_prove_nothing(
    line: str, value: str | float, kind: str
) -> None:
    for result in (
        result_of([line], value, kind=kind),
        result_of([line], value, word(1, str(value)), kind=kind),
    ):
        assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["GROUPING_UNKNOWN"])


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [
        ("2*3.50=7.00", 3.5, "number"),
        ("Paid 12/03/2018,14:22", "2018-03-12", "date"),
        ("Lots 13 and 14", 14, "number"),
        ("Lot No.55", 55, "number"),
        ("Lot 15. Oven", 15, "number"),
        ("Paid 25/06/18 14:22", "2018-06-25", "date"),
        ("Paid 25/06/18 22", "2018-06-25", "date"),
        ("1   5 March 2024", "2024-03-05", "date"),
        ("(5 March 2024).", "2024-03-05", "date"),
        ("Codes A1,A2,A3", "A2", "identifier"),
    ],
)
def test_what_parts_numbers_still_parts_them(line: str, value: str | float, kind: str) -> None:
    assert result_of([line], value, kind=kind, locale="en-GB").status is Status.VERIFIED


def test_a_stroke_at_digits_may_be_a_1() -> None:
    for line in ("Total |5.00", "Total !5.00", "Total 5.00|", "Total ]5.00", "$|5.00"):
        result = result_of([line], 5, kind="money")
        assert (result.status, codes(result)) == (Status.UNCERTAIN, ["OCR_CONFUSION"]), line
    for line in ("on |5 March 2024", "on l5 March 2024"):
        assert result_of([line], "2024-03-05", kind="date").status is Status.UNCERTAIN
    assert result_of(["No |5123"], "5123", kind="identifier").status is Status.UNCERTAIN
    for again, status in (("5.00", Status.VERIFIED), ("15.00", Status.UNCERTAIN)):
        look = [[("Total", 0.99), (again, 0.99)]]
        seen = result_of(["Total |5.00"], 5, kind="money", look=lambda *_, look=look: look)
        assert seen.status is status
    # A rule that stands apart is none.
    assert result_of(["| Total | 5.00 |"], 5, kind="money").status is Status.VERIFIED


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [("Change 005", 5, "money"), ("Rate 05%", "5%", "percent"), ("GST 0976", 976, "number"),
     ("05 kg", "5 kg", "quantity")],
)  # fmt: skip
def test_zeros_before_digits_may_be_a_lost_decimal_mark(
    line: str, value: str | float, kind: str
) -> None:
    result = result_of([line], value, kind=kind)
    assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["LEADING_ZEROS"])
    assert result_of(["Change 005"], "005", kind="number").status is Status.VERIFIED
    assert result_of(["Change 0.05"], 0.05, kind="money").status is Status.VERIFIED


def test_a_text_never_leaves_out_a_column() -> None:
    # What stands above takes one of them out of its row, in the order of columns.
    lines = ["           Lot", "Item       Qty       Price Amount"]
    for value in ("Item Price", "Item Price Amount", "Item Amount", "Qty Amount"):
        assert result_of(lines, value, kind="text").status is not Status.VERIFIED
        assert result_of(lines, value, word(2, value), kind="text").status is not Status.VERIFIED
    assert result_of(lines, "Item Qty Price Amount", kind="text").status is Status.VERIFIED


def test_one_misread_number_does_not_turn_a_documents_decimal_mark() -> None:
    lines = ["Rent 48,000", "Royalties 1,850", "Fees 6,230", "Resale 590,50"]
    assert result_of(lines, 48, word(1, "48,000"), kind="money").status is not Status.VERIFIED
    lines = ["Miete 1.250,00", "Strom 90,50", "Menge 1,000", "Summe 1.340,50"]
    assert result_of(lines, 1, word(3, "1,000"), kind="number").status is Status.VERIFIED


@pytest.mark.parametrize(
    ("line", "value", "kind", "code"),
    [
        ("Flat 12A", "Flat 12", "text", "PART_OF_WORD"),
        ("Ref INV-2024-0417", "2024-0417", "text", "PART_OF_WORD"),
        ("Order A-12/B", "A-12", "text", "PART_OF_WORD"),
        ("Mail jo.b@ex.com", "b@ex.com", "text", "PART_OF_WORD"),
        ("It is non-refundable", "refundable", "text", "PART_OF_WORD"),
        ("Revenue $4.2 M", 4.2, "money", "SCALE_UNKNOWN"),
        ("Weight <12 kg", "12 kg", "quantity", "BOUND_UNKNOWN"),
        ("Weight ± 12 kg", "12 kg", "quantity", "BOUND_UNKNOWN"),
        ("Balance 12.00 -", 12, "number", "SIGN_UNKNOWN"),
        ("Code AB12 3CD", "AB12", "identifier", "GROUPING_UNKNOWN"),
        ("Tel (555) 123-4567", "123-4567", "identifier", "GROUPING_UNKNOWN"),
        ("Tel +44 113 496 0000", "113 496 0000", "phone", "GROUPING_UNKNOWN"),
        ("Insured: yes no", True, "boolean", "SEVERAL_PLACES"),
        ("Insured: [ ] yes [x] no", True, "boolean", "NOT_TICKED"),
    ],
)
def test_what_is_more_than_the_claim_decides_nothing(
    line: str, value: str | float, kind: str, code: str
) -> None:
    for result in (
        result_of([line], value, kind=kind),
        result_of([line], value, word(1, str(value)), kind=kind),
        result_of([line], value, word(1, line), kind=kind),
    ):
        assert (result.status, codes(result)[:1]) == (Status.AMBIGUOUS, [code])


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [
        ("Dose 12 mg/l", "12 mg", "quantity"),
        ("Revenue $4.2m", 4.2, "money"),
        ("Loss minus 12", 12, "number"),
        ("Grade A+", "A", "text"),
        ("Written in C#", "C", "text"),
        ("Tel 0113 496 0000 ext 12", "0113 496 000012", "phone"),
    ],
)
def test_what_is_something_else_is_not_verified(line: str, value: str | float, kind: str) -> None:
    for proof in (None, word(1, str(value)), word(1, line)):
        assert result_of([line], value, proof, kind=kind).status in (
            Status.MISMATCH,
            Status.NOT_FOUND,
            Status.EVIDENCE_ONLY,
            Status.AMBIGUOUS,
        )


@pytest.mark.parametrize(
    ("line", "value", "kind"),
    [
        ("Berlin-Mitte", "Berlin", "text"),
        ("Smith/Jones", "Jones", "text"),
        ("Dose 12 mg/l", "12 mg/l", "quantity"),
        ("Insured: yes Leased: no", True, "boolean"),
        ("Shirt 20.00 M", 20, "number"),
        ("Grade A+", "A+", "text"),
    ],
)
def test_what_is_whole_is_still_proven(line: str, value: str | float, kind: str) -> None:
    assert result_of([line], value, word(1, str(value)), kind=kind).status is Status.VERIFIED


def test_a_bare_number_is_no_quantity_without_context() -> None:
    for line in ("Partition 10CM", "on the 10th floor"):
        result = result_of([line], 10, kind="number")
        assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["UNIT_DIFFERS"])
        assert result_of([line], 10, word(1, line), kind="number").status is Status.VERIFIED
    assert result_of(["Length: 10 cm"], 10, labels=("Length",)).status is Status.VERIFIED
    assert result_of(["Length: 10 cm"], "10 cm", kind="quantity").status is Status.VERIFIED
    assert result_of(["10CM", "Rooms 10"], 10).printed_text == "10"


def test_what_follows_a_lone_capital_is_a_code() -> None:
    assert result_of(["Exhibit B.4"], 4, kind="number").status is Status.NOT_FOUND
    assert result_of(["No.44"], 44, kind="number").status is Status.VERIFIED


def test_wide_gaps_and_other_grouping_part_numbers() -> None:
    assert result_of(["Qty 2   500.00"], 500, kind="money").status is Status.VERIFIED
    assert result_of(["Qty 2   500.00"], 2500, kind="money").status is Status.NOT_FOUND
    assert result_of(["Net 2 500.00", "Sum 1,234.00"], 500, kind="money").status is Status.VERIFIED


def test_look_alikes_locate_and_do_not_verify() -> None:
    result = result_of(
        ["No INV-2O26-O417"], "INV-2026-0417", word(1, "INV-2026-0417"), kind="identifier"
    )
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "OCR_CONFUSION")
    amount = result_of(["Sum l6,O20.00"], 16020, word(1, "16,020.00"), kind="money")
    assert amount.status is Status.UNCERTAIN


def test_low_confidence_is_uncertain_until_a_second_reading_agrees() -> None:
    lines = ["Total 60.30"]
    doubtful = result_of(lines, 60.3, kind="money", confidence=0.5)
    assert (doubtful.status, codes(doubtful)[0]) == (Status.UNCERTAIN, "LOW_CONFIDENCE")
    agreed = result_of(
        lines, 60.3, kind="money", confidence=0.5, look=lambda *_: [[("60.30", 0.97)]]
    )
    assert agreed.status is Status.VERIFIED
    for again in ([("60.80", 0.97)], [("60.30", 0.4)], []):
        other = result_of(lines, 60.3, kind="money", confidence=0.5, look=lambda *_, a=again: [a])
        assert other.status is Status.UNCERTAIN


def test_two_more_readings_that_agree_settle_a_look_alike() -> None:
    def read(*again: str) -> Status:
        readings = [[(text, 0.97)] for text in again]
        return result_of(
            ["MR. D.1.Y. SDN BHD"], "MR. D.I.Y. SDN BHD", kind="text", look=lambda *_: readings
        ).status

    assert read("MR. D.I.Y. SDN BHD", "MR D.I.Y SDNBHD") is Status.VERIFIED
    assert read("MR. D.I.Y. SDN BHD") is Status.UNCERTAIN
    assert read("MR. D.I.Y. SDN BHD", "MR. D.1.Y. SDN BHD") is Status.UNCERTAIN
    assert read("MR. D.I.Y. SDN BHD", "MR. D.L.Y. SDN BHD") is Status.UNCERTAIN


def test_a_difference_in_doubtful_words_is_uncertain_not_wrong() -> None:
    result = result_of(
        ["Menara Dion Level Two"], "Menara Dian Level Two", kind="text", confidence=0.5
    )
    assert (result.status, codes(result)[0]) == (Status.UNCERTAIN, "LOW_CONFIDENCE")


def test_a_wrong_check_digit_asks_for_a_second_reading() -> None:
    line = ["IBAN DE88 3704 0044 0532 0130 00"]
    result = result_of(line, "DE88370400440532013000", kind="identifier")
    assert result.status is Status.UNCERTAIN
    assert "CHECK_DIGIT" in codes(result)


def test_doubts_have_their_codes() -> None:
    assert codes(result_of(["Menge 1.250"], 1250, kind="number")) == ["SEPARATOR_UNKNOWN"]
    assert codes(result_of(["Date 03/04/2026"], "2026-04-03", kind="date")) == [
        "DATE_ORDER_UNKNOWN"
    ]
    assert codes(result_of(["Sum - 52.00"], 52, kind="money")) == ["SIGN_UNKNOWN"]
    assert codes(result_of(["Sum 52.00"], "USD 52.00", kind="money")) == ["CURRENCY_UNKNOWN"]


def test_a_whole_number_among_amounts_with_decimals_is_doubtful() -> None:
    lines = ["A        1.10", "B        2.20", "C        3.30", "Total      43"]
    result = result_of(lines, 43, word(4, "43"), kind="money")
    assert (result.status, codes(result)) == (Status.AMBIGUOUS, ["DECIMALS_MISSING"])


def test_a_value_in_hidden_text_is_not_found_and_says_so() -> None:
    document = printed(["Total due 90.00"])
    page = replace(document.pages[0], hidden="Secret discount 77.00")
    hiding = number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (page,))
    (result,) = report_of(hiding, {"a": "Secret discount"}, FieldSpec("/a", "text")).results
    assert (result.status, codes(result)[0]) == (Status.NOT_FOUND, "HIDDEN_TEXT")


@pytest.mark.parametrize(
    ("line", "value"),
    [("MS20500-1214 NUT, 3/4-16 UNF-38", "NUT, 3/4-16 UNF-3B"),
     ("M535308-314 SCREW", "MS35308-314"), ("SANYU STATIONERYSH0P", "SANYU STATIONERY SHOP"),
     ("Okosteuer 5", "Ökosteuer")],
)  # fmt: skip
def test_what_ocr_may_have_misread_goes_to_a_person(line: str, value: str) -> None:
    result = result_of([line], value, kind="text")
    assert (result.status, codes(result)) == (Status.UNCERTAIN, ["OCR_CONFUSION"])
