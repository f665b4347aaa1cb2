"""The documents of the examples, made here: a contract, receipts, and a report of 250 pages.

python examples/make_documents.py            # rewrites examples/contract and examples/receipts
python examples/make_documents.py report.pdf # writes the long report
"""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
PAGES = 250

CONTRACT = [
    [
        "SERVICE AGREEMENT", "", "between", "Harbour Hotels PLC, 12 Quay Street, Hull HU1 2PN",
        "(the Client)", "and", "Northgate Kitchen Supply Ltd, Unit 7, Holbeck Works, Leeds",
        "(the Supplier)", "", "1. Term",
        "This agreement begins on 1 January 2027 and ends on 31 December 2029.",
        "Either party may end it by giving 90 days' written notice.", "", "2. Fee",
        "The Client shall pay an annual fee of GBP 48,500.00, excluding VAT.",
        "Invoices are due within 30 days.",
    ],
    [
        "3. Liability", "The Supplier shall not be liable for indirect loss.",
        "Its liability is limited to GBP 250,000.00 in each year.", "", "4. Law",
        "This agreement is governed by the law of England and Wales.", "",
        "Signed for the Client: M. Ellery, 4 December 2026",
    ],
]  # fmt: skip
RECEIPTS = {
    "bakery": ["KING STREET BAKERY", "4 King Street, Hull", "", "12/10/2026  08:41", "",
               "Rye bread        4.20", "Croissant x 2    5.00", "", "TOTAL GBP        9.20",
               "Card             9.20"],
    "garage": ["ELMWOOD GARAGE LTD", "Elmwood Road, Leeds", "", "14/10/2026  17:05", "",
               "Diesel 41.20 l   62.21", "", "TOTAL GBP        62.21", "Cash             70.00",
               "Change            7.79"],
    "hotel": ["THE OLD CUSTOM HOUSE", "Quay Street, Hull", "", "15/10/2026  11:20", "",
              "Room 1 night    118.00", "Breakfast        14.50", "", "TOTAL GBP       132.50"],
}  # fmt: skip


def report_lines(page: int) -> list[str]:
    """A page of the report: every tenth has a figure that the example asks for."""
    lines = [f"Environmental report, page {page}", ""]
    lines += [f"Paragraph {n} describes the site, its soil and its neighbours." for n in range(8)]
    if page % 10 == 0:
        use = 1000 + 37 * page
        lines[4] = f"Region {page // 10}: the water use is estimated as {use:,} m3/day."
    return lines


def pdf(pages: list[list[str]]) -> bytes:
    """A PDF with text in Helvetica (ISO 32000-1), one list of lines a page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b""]
    objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = []
    for lines in pages:
        draw = ["BT /F1 11 Tf 16 TL 60 770 Td"]
        for line in lines:
            text = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            draw.append(f"({text}) Tj T*")
        content = "\n".join([*draw, "ET"]).encode("latin-1")
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources"
            b" << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (number + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % at for at in places)
    size, start = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def receipt(lines: list[str]) -> Image.Image:
    image = Image.new("L", (620, 60 + 44 * len(lines)), 250)
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        pen.text((30, 30 + 44 * row), line, 20, ImageFont.truetype(FONT, 28))
    return image


def main() -> None:
    if len(sys.argv) > 1:
        pages = [report_lines(page) for page in range(1, PAGES + 1)]
        Path(sys.argv[1]).write_bytes(pdf(pages))
        return
    (HERE / "contract" / "contract.pdf").write_bytes(pdf(CONTRACT))
    for name, lines in RECEIPTS.items():
        receipt(lines).save(HERE / "receipts" / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
