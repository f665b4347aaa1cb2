"""Tables by img2table with Tesseract, for bench/tables.py; runs in an environment of its own.

    python -m venv /tmp/peer && /tmp/peer/bin/pip install img2table
    /tmp/peer/bin/python bench/img2table_peer.py IMAGE...

Prints a JSON line for each image: seconds of CPU and tables as cells [row, column, row span,
column span, text], 0-based. It is not a dependency: it wants an OpenCV of its own.
"""

import json
import sys
import time

from img2table.document import Image
from img2table.ocr import TesseractOCR


def cells_of(table: object) -> list[list[object]]:
    """img2table repeats a merged cell at each place; equal boxes are one cell."""
    places: dict[tuple[int, ...], list[tuple[int, int, str]]] = {}
    for row, cells in table.content.items():  # type: ignore[attr-defined]
        for column, cell in enumerate(cells):
            box = (cell.bbox.x1, cell.bbox.y1, cell.bbox.x2, cell.bbox.y2)
            places.setdefault(box, []).append((row, column, cell.value or ""))
    out: list[list[object]] = []
    for found in places.values():
        rows, columns = [r for r, _, _ in found], [c for _, c, _ in found]
        out.append([
            min(rows), min(columns), max(rows) - min(rows) + 1, max(columns) - min(columns) + 1,
            found[0][2],
        ])  # fmt: skip
    return out


def main() -> None:
    ocr = TesseractOCR(lang="eng", psm=3)
    for path in sys.argv[1:]:
        start = time.process_time()
        try:
            tables = Image(path).extract_tables(
                ocr=ocr, implicit_rows=True, implicit_columns=True, borderless_tables=True
            )
        except Exception as error:
            print(f"{path}: {error!r}", file=sys.stderr)
            tables = []
        line = {
            "file": path,
            "cpu_s": time.process_time() - start,
            "tables": [cells_of(t) for t in tables],
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
