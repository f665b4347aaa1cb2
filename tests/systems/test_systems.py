"""The four systems whose work this service does, with real OCR through the real service.

Each document is printed by the test, and read twice: as a clean PDF and as a degraded scan.
"""

import io
from collections.abc import Callable
from typing import Any

import pypdf
import pytest
from visualproof import Action, Client, FieldSpec, Status
from visualproof.v1 import block_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

from systems.paper import Text, lines, pdf, scan

pytestmark = pytest.mark.slow

Maker = Callable[..., bytes]
both = pytest.mark.parametrize("maker", [pdf, scan], ids=["pdf", "scan"])


def line_of(client: Client, document: Any, text: str) -> int:
    return next(b.marker for b in client.blocks(document) if b.marker and text in b.text)


def word(line: int, value: str) -> list[dict[str, Any]]:
    return [{"type": "WORD", "line": line, "value": value}]


def quote(text: str, page: int | None = None) -> list[dict[str, Any]]:
    return [{"type": "QUOTE", "text": text} | ({"page": page} if page else {})]


@both
def test_s1_words_lines_and_a_long_description(client: Client, maker: Maker) -> None:
    page = lines(
        "Two ovens, 6 and 7 shelves each",
        "6 x 7000 Watts  32 A",
        "6 x 70 kg",
        "Refrigerated counter, holds at 4°C",
        "Six-burner range with cast iron supports and",
        "one oven under it, in stainless steel",
    )
    document = client.ingest(maker(page))
    power = line_of(client, document, "7000")
    text = "Six-burner range with cast iron supports and one oven under it, in stainless steel"
    first = line_of(client, document, "Six-burner")
    report = client.verify(
        document,
        {
            "power": {"value": "6 x 7000 Watts", "proof": word(power, "6 x 7000 Watts")},
            "kw": {
                "value": 42,
                "proof": word(power, "6 x 7000 Watts"),
                "derivation": "6 * 7000 / 1000",
            },
            "cold": {"value": "4°C", "proof": word(line_of(client, document, "4°C"), "4°C")},
            "what": {
                "value": text,
                "proof": [{"type": "LINE", "id": first}, {"type": "LINE", "id": first + 1}],
            },
        },
        fields=[FieldSpec(path="/power", kind="text"), FieldSpec(path="/what", kind="text")],
    )
    assert {r.path: r.status for r in report} == {
        "/power": Status.VERIFIED, "/kw": Status.DERIVED, "/cold": Status.VERIFIED, "/what": Status.VERIFIED,
    }  # fmt: skip
    assert report["/power"].evidence[0].text == "6 x 7000 Watts"
    assert len(report["/what"].evidence[0].boxes) == 2


@both
def test_s2_no_quote_no_claim(client: Client, maker: Maker) -> None:
    filing = (
        lines(
            "The water requirement for the proposed project is",
            "estimated as 104110 m3/day.",
            "The coal requirement is 32.93 LMT per year.",
        ),
        [
            Text(150, 200, "Sr."), Text(300, 200, "Forest"), Text(900, 200, "Distance"),
            Text(150, 280, "1"), Text(300, 280, "Barpall R."), Text(900, 280, "2.2 SW"),
            Text(300, 325, "F."),
            Text(150, 420, "2"), Text(300, 420, "Semra R. F."), Text(900, 420, "4.7 N"),
        ],
    )  # fmt: skip
    document = client.ingest(maker(*filing))
    water = "The water requirement for the proposed project is estimated as 104110 m3/day"
    coal = "The coal requirement is 32.93 LMT per year."
    report = client.verify(
        document,
        {
            "water": {"value": 104110, "proof": quote(water, 1)},
            "coal": {"value": 3293000, "proof": quote(coal, 1)},
            "barpall": 2.2,
            "invented": 6.1,
            "made_up_quote": {"value": 12, "proof": quote("The rail link is 12 km long")},
        },
        fields=[
            FieldSpec(path="/barpall", kind="number", row_label="Barpall R. F."),
            FieldSpec(path="/invented", kind="number", row_label="Kalibari R. F."),
        ],
    )
    assert report["/water"].status is Status.VERIFIED
    assert report["/coal"].status is Status.EVIDENCE_ONLY
    assert report["/barpall"].status is Status.VERIFIED
    assert report["/invented"].status is Status.NOT_FOUND
    assert report["/made_up_quote"].status is Status.NOT_FOUND
    # What was thrown away is shown, with the reason.
    thrown = [r for r in report if r.action is not Action.RELEASE]
    assert {r.path for r in thrown} == {"/coal", "/invented", "/made_up_quote"}
    assert all(r.reasons for r in thrown)
    safe = client.check_prose("The project needs 104110 m3/day; Barpall is 2.2 away.", [report])
    assert safe.safe
    unsafe = client.check_prose(
        "It needs 3293000 of coal, and schools stand within 5 km.", [report]
    )
    assert [s.text for s in unsafe.spans if s.prose_class == pb.PROSE_CLASS_UNVERIFIED] == [
        "3293000",
        "5 km",
    ]


CONTRACT = (
    lines(
        "Master agreement between Alder Ltd and Birch Ltd",
        "The supplier shall not be liable for delay.",
        "The limit of liability is 4.2 million GBP.",
        "The rated load is 250 kg.",
        "Order reference INV-202S-0417",
    ),
    lines(
        "Annex of figures  2023  2024",
        "Revenue  900.00  950.00",
        "Costs  700.00  720.00",
    ),
    [
        *lines("Margin  200.00  230.00", "Signed on October 15, 2026"),
        Text(150, 1200, "Secret discount 77.00", grey=255),
    ],
)


def cell_proof(row: int, column: int) -> list[dict[str, Any]]:
    return [{"type": "CELL", "table": 1, "row": row, "column": column}]


@both
def test_s3_a_cell_where_no_table_was_read(client: Client, maker: Maker) -> None:
    document = client.ingest(maker(*CONTRACT), tables=False)
    (result,) = client.verify(document, {"a": {"value": 950, "proof": cell_proof(2, 3)}})
    assert (result.status, result.action) == (Status.UNSUPPORTED, Action.BLOCK)


@both
def test_s3_fourteen_fixtures(client: Client, maker: Maker) -> None:
    document = client.ingest(maker(*CONTRACT))
    liability = "The supplier shall not be liable for delay."
    answer: dict[str, Any] = {
        "exact_quote": {"value": liability, "proof": quote(liability, 1)},
        "other_page": {"value": liability, "proof": quote(liability, 2)},
        "negation": {
            "value": "The supplier shall be liable for delay.",
            "proof": quote("The supplier shall be liable for delay."),
        },
        "wrong_unit": {
            "value": "250 lb",
            "proof": word(line_of(client, document, "rated load"), "250 kg"),
        },
        "wrong_year": 900.0,
        "right_year": 950.0,
        "over_the_page": 230.0,
        "misread": {
            "value": "INV-2025-0417",
            "proof": word(line_of(client, document, "Order reference"), "INV-2025-0417"),
        },
        "hidden": {"value": 77.0, "proof": quote("Secret discount 77.00")},
        "irrelevant": {"value": 30, "proof": quote(liability)},
        "cell": {"value": 950, "proof": cell_proof(2, 3)},
        "wrong_cell": {"value": 950, "proof": cell_proof(2, 2)},
        "cannot_answer": None,
        "revenue": 950.0,
        "costs": 720.0,
        "margin": 240.0,
    }

    def cell(path: str, row: str) -> FieldSpec:
        return FieldSpec(
            path=path, kind="money", row_label=row, column_label="2024", locale="en-GB"
        )

    report = client.verify(
        document,
        answer,
        fields=[
            FieldSpec(path="/exact_quote", kind="quote"),
            FieldSpec(path="/other_page", kind="quote"),
            FieldSpec(path="/negation", kind="quote"),
            FieldSpec(path="/wrong_unit", kind="quantity"),
            cell("/wrong_year", "Revenue"),
            cell("/right_year", "Revenue"),
            cell("/over_the_page", "Margin"),
            FieldSpec(path="/misread", kind="identifier"),
            FieldSpec(path="/cannot_answer", kind="money", labels=["Insurance premium"]),
            cell("/revenue", "Revenue"),
            cell("/costs", "Costs"),
        ],
        relations=["/revenue - /costs = 240", "/revenue - /costs = 230"],
    )
    expected = {
        "/exact_quote": (Status.VERIFIED, Action.RELEASE),
        "/other_page": (Status.FOUND_ELSEWHERE, Action.REVIEW),
        "/negation": (Status.MISMATCH, Action.BLOCK),
        "/wrong_unit": (Status.MISMATCH, Action.BLOCK),
        "/wrong_year": (Status.MISMATCH, Action.BLOCK),
        "/right_year": (Status.VERIFIED, Action.RELEASE),
        "/over_the_page": (Status.VERIFIED, Action.RELEASE),
        "/misread": (Status.UNCERTAIN, Action.REVIEW),
        "/hidden": (Status.NOT_FOUND, Action.BLOCK),
        "/irrelevant": (Status.EVIDENCE_ONLY, Action.REVIEW),
        "/cell": (Status.VERIFIED, Action.RELEASE),
        "/wrong_cell": (Status.FOUND_ELSEWHERE, Action.REVIEW),
        "/cannot_answer": (Status.ABSENT, Action.RELEASE),
    }
    assert {p: (report[p].status, report[p].action) for p in expected} == expected
    assert [r.code for r in report["/negation"].reasons][:1] == ["NEGATION_DIFFERS"]
    assert [r.code for r in report["/wrong_year"].reasons][:1] == ["WRONG_COLUMN"]
    cells = {b.block_id: b for b in client.blocks(document, kinds=[block_pb2.BLOCK_KIND_CELL])}
    assert [cells[f"T1.R2C{n}"].text for n in (1, 2, 3)] == ["Revenue", "900.00", "950.00"]
    assert list(cells["T1.R2C3"].cell.word_ids) == ["T1.R2C3.W1"]
    assert "<TABLE 1>" in client.prompt(document).text
    assert report["/wrong_cell"].reasons[0].message == (
        'Row 2, column 2 of table 1 prints "900.00"; the value stands in row 2, column 3.'
    )
    assert [r.outcome for r in report.relations] == [2, 1]
    document.source_sha256 = "0" * 64
    stale = client.verify(document, answer)
    assert {(r.status, r.action) for r in stale} == {(Status.STALE, Action.BLOCK)}


def test_s3_a_printed_label_unlike_the_index(client: Client) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf(*CONTRACT)))
    writer = pypdf.PdfWriter(reader)
    writer.set_page_label(0, 1, style=pypdf.constants.PageLabelStyle.LOWERCASE_ROMAN)
    out = io.BytesIO()
    writer.write(out)
    document = client.ingest(out.getvalue())
    liability = "The supplier shall not be liable for delay."
    report = client.verify(document, {"a": {"value": liability, "proof": quote(liability, 1)}})
    (evidence,) = report["/a"].evidence
    assert (report["/a"].status, evidence.page_number, evidence.page_label) == (
        Status.VERIFIED,
        1,
        "i",
    )
    assert "<PAGE 2> (labelled ii)" in client.prompt(document).text


@both
def test_s4_extracted_values_against_the_invoice(client: Client, maker: Maker) -> None:
    page = lines(
        "Northgate Kitchen Supply Ltd",
        "Invoice number: INV-2026-0417",
        "Invoice date: October 15, 2026",
        "Due date: November 14, 2026",
        "PO number: PO-88213",
        "Delivery  1,200.00",
        "Installation  1,200.00",
        "Subtotal  13,350.00",
        "VAT (20%)  2,670.00",
        "Total due (GBP)  16,020.00",
        "Account number: 40817712",
    )
    document = client.ingest(maker(page))
    values = {
        "vendor": ("Northgate Kitchen Supply Ltd", "text", ""),
        "number": ("INV-2026-0417", "identifier", "Invoice number"),
        "date": ("2026-10-15", "date", "Invoice date"),
        "due": ("2026-11-14", "date", "Due date"),
        "po": ("PO-88213", "identifier", "PO number"),
        "subtotal": (13350.0, "money", "Subtotal"),
        "vat": (2670.0, "money", "VAT (20%)"),
        "total": (16200.0, "money", "Total due (GBP)"),
        "account": ("40817712", "identifier", "Account number"),
        "vat_number": ("GB 123 4567 89", "identifier", "VAT number"),
    }
    fields = [
        FieldSpec(path=f"/{n}", kind=kind, labels=[label] if label else [], locale="en-GB")
        for n, (_, kind, label) in values.items()
    ]
    report = client.verify(document, {n: v for n, (v, _, _) in values.items()}, fields=fields)
    statuses = {r.path: r.status for r in report}
    assert statuses.pop("/total") is Status.MISMATCH
    assert statuses.pop("/vat_number") is Status.NOT_FOUND
    assert report["/total"].printed_text == "16,020.00"
    assert set(statuses.values()) == {Status.VERIFIED}
    # 1,200.00 stands twice in the line items and must not pass as the tax.
    wrong = client.verify(document, {"vat": 1200.0}, fields=[fields[6]])
    assert (wrong["/vat"].status, wrong["/vat"].printed_text) == (Status.MISMATCH, "2,670.00")
