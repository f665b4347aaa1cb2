"""Readings made to hurt, each from a few lines: Textract JSON, hOCR and Ethos grounding JSON."""

import json
from collections.abc import Callable
from typing import Any

PLACE = {"BoundingBox": {"Left": 0.1, "Top": 0.1, "Width": 0.2, "Height": 0.02}}


def block(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"BlockType": kind, "Id": name, "Geometry": PLACE, **more}


def children(*names: str) -> list[dict[str, Any]]:
    return [{"Type": "CHILD", "Ids": list(names)}]


def textract(text: str = "Total", confidence: Any = 99.0, **more: Any) -> bytes:
    """A line of one word, with members of the word changed."""
    word = block("WORD", "w", Text=text, Confidence=confidence, **more)
    return json.dumps({"Blocks": [word, block("LINE", "l", Relationships=children("w"))]}).encode()


def table(**of_cell: Any) -> bytes:
    """A table of one cell, with members of the cell changed."""
    cell = block("CELL", "c", **{"RowIndex": 1, "ColumnIndex": 1, **of_cell})
    return json.dumps({"Blocks": [block("TABLE", "t", Relationships=children("c")), cell]}).encode()


def hocr(line: str = "", page: str = "bbox 0 0 1000 1400", inside: str = "") -> bytes:
    word = f"<span class='ocr_line' title='bbox 1 1 99 20'><span class='ocrx_word' title='{line}'>a</span></span>"
    return f"<html><div class='ocr_page' title='{page}'>{word}{inside}</div></html>".encode()


def hocr_table(cell: str) -> bytes:
    return hocr(
        "bbox 1 1 9 9",
        inside=f"<table class='ocr_table' title='bbox 0 0 90 90'><tr>{cell}</tr></table>",
    )


def ethos(**changed: Any) -> bytes:
    body = {
        "pages": [{"id": "p", "width": 600, "height": 800}],
        "spans": [{"id": "s", "page": "p", "text": "Total 5.00", "bbox": [10, 10, 90, 20]}],
    }
    return json.dumps({**body, **changed}).encode()


def ethos_cell(**changed: Any) -> bytes:
    cell = {"row": 0, "col": 0, "text": "x", "bbox": [0, 0, 9, 9], **changed}
    return ethos(tables=[{"id": "t", "page": "p", "bbox": [0, 0, 90, 90], "cells": [cell]}])


CELL = "<td title='bbox 0 0 9 9; x_cell {at}' {more}><span class='ocrx_word' title='bbox 1 1 8 8'>x</span></td>"


def cell_at(at: str = "1 1", more: str = "") -> bytes:
    return hocr_table(CELL.format(at=at, more=more))


def box_of(*values: Any) -> dict[str, Any]:
    names = ("Left", "Top", "Width", "Height")
    return {"BoundingBox": dict(zip(names, values, strict=True))}


INF, NAN = float("inf"), float("nan")
HOSTILE: dict[str, Callable[[], bytes]] = {
    # Rows and columns.
    "a column of 3e8": lambda: table(ColumnIndex=300_000_000),
    "a row of 3e8": lambda: table(RowIndex=300_000_000),
    "a row span of 3e7": lambda: table(RowSpan=30_000_000),
    "a column span of 3e7": lambda: table(ColumnSpan=30_000_000),
    "a square of spans": lambda: table(RowSpan=5000, ColumnSpan=5000),
    "a row of -5": lambda: table(RowIndex=-5),
    "row 0": lambda: table(RowIndex=0),
    "a span of -5": lambda: table(RowIndex=10, RowSpan=-5),
    "a row of infinity": lambda: table(RowIndex=INF),
    "a row of NaN": lambda: table(RowIndex=NAN),
    "a row of 10 to the 400": lambda: table(RowIndex=10**400),
    "colspan": lambda: cell_at(more="colspan='400000000'"),
    "rowspan": lambda: cell_at(more="rowspan='400000000'"),
    "colspan of text": lambda: cell_at(more="colspan='wide'"),
    "colspan of 5,000 digits": lambda: cell_at(more=f"colspan='{'9' * 5000}'"),
    "x_cell of 3e8": lambda: cell_at("1 300000000"),
    "x_cell of -1": lambda: cell_at("-1 1"),
    "x_cell of 400 digits": lambda: cell_at("9" * 400 + " 1"),
    "an Ethos row": lambda: ethos_cell(row=3e8),
    "an Ethos row of -5": lambda: ethos_cell(row=-5),
    "an Ethos span": lambda: ethos_cell(col_span=30_000_000),
    "a table without cells": lambda: ethos(
        tables=[{"id": "t", "page": "p", "bbox": [0, 0, 9, 9], "cells": []}]
    ),
    "600 tables": lambda: ethos(
        tables=[
            {"id": str(n), "page": "p", "bbox": [0, 0, 9, 9],
             "cells": [{"row": 0, "col": 0, "bbox": [0, 0, 1, 1]}]} for n in range(600)
        ]
    ),
    # Numbers.
    "a confidence of infinity": lambda: textract(confidence=INF),
    "a confidence of NaN": lambda: textract(confidence=NAN),
    "a confidence of 1e308": lambda: textract(confidence=1e308),
    "a confidence of 10 to the 400": lambda: textract(confidence=10**400),
    "a confidence that is text": lambda: textract(confidence="sure"),
    "a place at infinity": lambda: textract(Geometry=box_of(INF, 0, 1, 1)),
    "a place at NaN": lambda: textract(Geometry=box_of(NAN, 0, 1, 1)),
    "a place at 1e300": lambda: textract(Geometry=box_of(1e300, 0, 1e300, 1)),
    "a box from right to left": lambda: textract(Geometry=box_of(0.9, 0.9, -0.5, -0.5)),
    "a polygon at infinity": lambda: textract(
        Geometry=PLACE | {"Polygon": [{"X": INF, "Y": -INF}] * 4}
    ),
    "page -1": lambda: textract(Page=-1),
    "page 0.5": lambda: textract(Page=0.5),
    "page infinity": lambda: textract(Page=INF),
    "a bbox of 400 digits": lambda: hocr(f"bbox {'9' * 400} 0 1 1"),
    "a page of 400 digits": lambda: hocr("bbox 1 1 9 9", page=f"bbox 0 0 {'9' * 400} 9"),
    "a page of one pixel": lambda: hocr("bbox 0 0 1 1", page="bbox 0 0 1 1"),
    "a page from right to left": lambda: hocr("bbox 0 0 1 1", page="bbox 900 900 0 0"),
    "a resolution of 400 digits": lambda: hocr(
        "bbox 0 0 1 1", page=f"bbox 0 0 900 900; scan_res {'9' * 400} 1"
    ),
    "ppageno of 3e8": lambda: hocr("bbox 0 0 1 1", page="bbox 0 0 900 900; ppageno 300000000"),
    "ppageno of -3": lambda: hocr("bbox 0 0 1 1", page="bbox 0 0 900 900; ppageno -3"),
    "a sureness of 400 digits": lambda: hocr(f"bbox 1 1 9 9; x_wconf {'9' * 400}"),
    "an Ethos page of infinity": lambda: ethos(pages=[{"id": "p", "width": INF, "height": 9}]),
    "an Ethos page of NaN": lambda: ethos(pages=[{"id": "p", "width": NAN, "height": NAN}]),
    "an Ethos page of -1": lambda: ethos(pages=[{"id": "p", "width": -1, "height": -1}]),
    "an Ethos page of nothing": lambda: ethos(pages=[{"id": "p", "width": 0, "height": 0}]),
    "an Ethos box of NaN": lambda: ethos(
        spans=[{"id": "s", "page": "p", "text": "a", "bbox": [NAN, 1, 2, 3]}]
    ),
    "an Ethos box of three": lambda: ethos(
        spans=[{"id": "s", "page": "p", "text": "a", "bbox": [1, 2, 3]}]
    ),
    # Texts.
    "half a pair": lambda: textract("\ud800"),
    "the other half": lambda: textract("a\udfffb"),
    "half a pair in Ethos": lambda: ethos(
        spans=[{"id": "s", "page": "p", "text": "\ud83d", "bbox": [1, 1, 9, 9]}]
    ),
    "a null": lambda: textract("a\0b"),
    "an escape": lambda: textract("\x1b[2J\x9b31m"),
    "no character": lambda: textract("a\uffffb\ufffe"),
    "a word of 4 MB": lambda: textract("<" * 4_000_000),
    "a word of marks": lambda: textract("e" + "\u0301" * 100_000),
    "a million words": lambda: ethos(
        spans=[{"id": "s", "page": "p", "text": "a " * 1_000_000, "bbox": [1, 1, 9, 9]}]
    ),
    "words of a list": lambda: textract(["a", {"b": 1}]),  # type: ignore[arg-type]
    "a line of itself": lambda: json.dumps(
        {"Blocks": [block("LINE", "l", Relationships=children("l"))]}
    ).encode(),
    "a cell of itself": lambda: table(Relationships=children("c", "t")),
}  # fmt: skip
