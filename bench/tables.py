"""How well tables are read, what that costs, and whether claims about their cells are told apart.

    python bench/tables.py [FOLDER...] [--engine auto] [--peer-python /tmp/peer/bin/python]

A FOLDER holds images with a JSON beside each. With {"tables": [{"bbox", "cells": [{"row", "col",
"rowspan", "colspan", "text"}]}]} (0-based, as ../shared/data/tables_icdar2013) it is scored:

- f1: adjacency relations (Goebel et al. 2012): each cell with the next one that has text, right
  of it and under it; a relation is right if both texts are. Over all pages of the folder.
- cells: share of true cells whose row, column, spans and text are right.
- claims: each value of a cell that was read right is claimed by its CELL proof: as it is, with
  its neighbour's row, its neighbour's column, and a changed digit.

Texts are compared as OCR read them, but for spaces, case, dashes and quotes. A page is ruled if
upright rules part the columns of its tables. Without "tables", pages that have one are counted:
receipts and prose should have none. Without a FOLDER the project's own scan is used. Prints JSON
and a table. --cost says what reading tables adds to reading the pages without them (CPU of this
process and of Tesseract). --peer-python runs bench/img2table_peer.py on the same images in the same run.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import time
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from serving import serving
from visualproof import Client, FieldSpec, Status
from visualproof.v1 import block_pb2
from visualproof_server.model.document import ReadOptions, TextLayer
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits
from visualproof_server.reading.tables.rules import find_rules
from visualproof_server.worker.engines import engines

Cell = tuple[int, int, int, int, str]
"""Row, column, row span, column span, text; rows and columns 0-based."""
OWN = Path(__file__).parent.parent / "examples" / "invoice"
OPTIONS = ReadOptions(("eng",), 300, 1, 1, "", False, TextLayer.IGNORED)
CHANGES = ("true", "wrong row", "wrong column", "wrong value")


@dataclass
class Score:
    """Sums over pages."""

    right: int = 0
    found: int = 0
    true: int = 0
    cells_right: int = 0
    cells: int = 0
    pages: int = 0
    with_table: int = 0
    claims: Counter[str] = field(default_factory=Counter)

    def add(self, truth: list[list[Cell]], read: list[list[Cell]]) -> None:
        wanted, got = _all_relations(truth), _all_relations(read)
        self.right += (wanted & got).total()
        self.found += got.total()
        self.true += wanted.total()
        for table in truth:
            self.cells += len(_shifted(table))
            self.cells_right += len(_matched(table, read)[1])

    def row(self) -> dict[str, Any]:
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.true)
        out: dict[str, Any] = {"pages": self.pages, "with_table": self.with_table}
        if self.true:
            out |= {
                "precision": round(precision, 3),
                "recall": round(recall, 3),
                "f1": round(2 * precision * recall / max(1e-9, precision + recall), 3),
                "cells": round(self.cells_right / max(1, self.cells), 3),
            }
        for change in CHANGES:
            if self.claims[change]:
                out[change] = f"{self.claims[change + ' verified']} of {self.claims[change]}"
        return out


def plain(text: str) -> str:
    """What counts of a cell's text."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[‐-―−]", "-", text)
    text = re.sub("[‘’`´]", "'", text)
    return re.sub(r"\s+", "", re.sub("[“”]", '"', text))


def relations(cells: list[Cell]) -> Counter[tuple[str, str, str]]:
    """Each cell with its next neighbours that have text."""
    cells = [c for c in cells if plain(c[4])]
    grid: dict[tuple[int, int], int] = {}
    for number, (row, column, rows, columns, _) in enumerate(cells):
        for r in range(row, row + rows):
            for c in range(column, column + columns):
                grid[r, c] = number
    height = max((r for r, _ in grid), default=0) + 1
    width = max((c for _, c in grid), default=0) + 1
    out: Counter[tuple[str, str, str]] = Counter()
    for row, column, rows, columns, text in cells:
        right = {
            next((grid[r, c] for c in range(column + columns, width) if (r, c) in grid), -1)
            for r in range(row, row + rows)
        }
        below = {
            next((grid[r, c] for r in range(row + rows, height) if (r, c) in grid), -1)
            for c in range(column, column + columns)
        }
        for side, others in (("right", right), ("below", below)):
            for other in others - {-1}:
                out[plain(text), plain(cells[other][4]), side] += 1
    return out


def _all_relations(tables: list[list[Cell]]) -> Counter[tuple[str, str, str]]:
    total: Counter[tuple[str, str, str]] = Counter()
    for table in tables:
        total += relations(table)
    return total


def _shifted(cells: list[Cell]) -> list[Cell]:
    """Cells with text, counted from the first row and column that have some."""
    cells = [c for c in cells if plain(c[4])]
    row = min((c[0] for c in cells), default=0)
    column = min((c[1] for c in cells), default=0)
    return [(r - row, c - column, rs, cs, plain(t)) for r, c, rs, cs, t in cells]


def _matched(truth: list[Cell], read: list[list[Cell]]) -> tuple[int, list[Cell]]:
    """Which table read is the true one, and its cells that are right (as truth counts them)."""
    wanted = Counter(_shifted(truth))
    best: tuple[int, list[Cell]] = (-1, [])
    for number, table in enumerate(read):
        right = list((wanted & Counter(_shifted(table))).elements())
        if len(right) > len(best[1]):
            best = number, right
    return best


def is_ruled(image: np.ndarray[Any, Any], tables: list[dict[str, Any]]) -> bool:
    """Whether upright rules run between most columns of every table."""
    rules = find_rules(np.ascontiguousarray(image), 0.01 * image.shape[0])
    for table in tables:
        left, top, right, bottom = table["bbox"]
        columns = 1 + max(c["col"] for c in table["cells"]) - min(c["col"] for c in table["cells"])
        inner = [
            r for r in rules.upright
            if left + 10 < r.at < right + 5 and r.covers(top, bottom) > 0.7
        ]  # fmt: skip
        if len(inner) < 0.6 * (columns - 1):
            return False
    return bool(tables)


def read_tables(client: Client, document: Any) -> tuple[list[list[Cell]], list[int]]:
    """Tables as cells, and the number of each."""
    tables: dict[int, list[Cell]] = {}
    for block in client.blocks(document, kinds=[block_pb2.BLOCK_KIND_CELL]):
        at = block.cell
        number = int(block.block_id[1:].split(".")[0])
        tables.setdefault(number, []).append(
            (at.row - 1, at.column - 1, at.row_span, at.column_span, block.text)
        )
    return list(tables.values()), list(tables)


def plant(
    client: Client, document: Any, number: int, table: list[Cell], right: list[Cell], score: Score
) -> None:
    """Claims about cells that were read right."""
    texts = {(r, c): t for r, c, rs, cs, t in table if rs == cs == 1 and t}
    known = {(c[0], c[1]): c[4] for c in _shifted(table) if c in right}
    row0 = min((c[0] for c in table if plain(c[4])), default=0)
    column0 = min((c[1] for c in table if plain(c[4])), default=0)
    answer: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for (row, column), text in texts.items():
        if (row - row0, column - column0) not in known or not re.fullmatch(r"[\d,.]*\d", text):
            continue
        places = {
            "true": (row, column, text),
            "wrong row": (row + 1, column, text),
            "wrong column": (row, column + 1, text),
            "wrong value": (row, column, text[:-1] + str((int(text[-1]) + 3) % 10)),
        }
        for change, (r, c, value) in places.items():
            if change in ("wrong row", "wrong column") and plain(texts.get((r, c), "")) == plain(
                value
            ):
                continue
            proof = {"type": "CELL", "table": number, "row": r + 1, "column": c + 1}
            key = f"{change}-{row}-{column}"
            answer[key] = {"value": value, "proof": [proof]}
            kinds[f"/{key}"] = change
    if not answer:
        return
    specs = [FieldSpec(path=path, kind="number", locale="en-US") for path in kinds]
    for result in client.verify(document, answer, fields=specs):
        change = kinds[result.path]
        score.claims[change] += 1
        score.claims[change + " verified"] += result.status is Status.VERIFIED


def truth_of(side: Path) -> tuple[dict[str, Any], list[list[Cell]]]:
    data = json.loads(side.read_text())
    return data, [
        [
            (c["row"], c["col"], c.get("rowspan", 1), c.get("colspan", 1), c["text"])
            for c in table["cells"]
        ]
        for table in data.get("tables", [])
    ]


def images_of(folder: Path) -> list[tuple[Path, Path]]:
    """(image, JSON) pairs."""
    sides = [s for s in sorted(folder.glob("*.json")) if "image" in json.loads(s.read_text())]
    pairs = [(folder / json.loads(s.read_text())["image"], s) for s in sides]
    return [(image, side) for image, side in pairs if image.exists()]


def peer_tables(python: str, images: list[Path]) -> dict[str, list[list[Cell]]]:
    script = Path(__file__).parent / "img2table_peer.py"
    found = subprocess.run(
        [python, str(script), *map(str, images)], check=True, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "OMP_THREAD_LIMIT": "1"},
    )  # fmt: skip
    lines = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    return {line["file"]: [[tuple(c) for c in t] for t in line["tables"]] for line in lines}


def cost(folders: list[Path], engine: str) -> dict[str, float]:
    """CPU seconds for all pages without and with tables, in turns, and the share they add."""

    def spent() -> float:
        own, children = (
            resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    reader = engines()[engine]
    images = [image for folder in folders for image, _ in images_of(folder)]
    seconds = {True: 0.0, False: 0.0}
    read_page(images[0], 1, replace(OPTIONS, engine=engine), PageLimits(), reader)
    for image in images:
        for disabled in (True, False):
            options = replace(OPTIONS, engine=engine, tables_disabled=disabled)
            start = spent()
            read_page(image, 1, options, PageLimits(), reader)
            seconds[disabled] += spent() - start
    return {
        "without_s": round(seconds[True], 1),
        "with_s": round(seconds[False], 1),
        "added": round(seconds[False] / seconds[True] - 1, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[OWN])
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--cost", action="store_true")
    args = parser.parse_args()
    if args.cost:
        print(json.dumps(cost(args.folders, args.engine)))
        return
    scores: dict[str, Score] = {}
    with serving("--engine", args.engine) as (target, _), Client(target) as client:
        for folder in args.folders:
            pairs = images_of(folder)
            peer = peer_tables(args.peer_python, [i for i, _ in pairs]) if args.peer_python else {}
            for image, side in pairs:
                data, truth = truth_of(side)
                document = client.ingest(image)
                read, numbers = read_tables(client, document)
                grey = cv2.imread(str(image), cv2.IMREAD_GRAYSCALE)
                names = [folder.name]
                if truth and grey is not None and all("bbox" in t for t in data["tables"]):
                    names.append(
                        f"{folder.name} {'ruled' if is_ruled(grey, data['tables']) else 'other'}"
                    )
                for name in names:
                    score = scores.setdefault(name, Score())
                    score.pages += 1
                    score.with_table += bool(read)
                    score.add(truth, read)
                    if image.as_posix() in peer:
                        other = scores.setdefault(f"{name} img2table", Score())
                        other.pages += 1
                        other.with_table += bool(peer[image.as_posix()])
                        other.add(truth, peer[image.as_posix()])
                for table in truth:
                    number, right = _matched(table, read)
                    if number >= 0:
                        plant(
                            client,
                            document,
                            numbers[number],
                            read[number],
                            right,
                            scores[folder.name],
                        )
    rows = {name: score.row() for name, score in scores.items()}
    print(json.dumps(rows))
    for name, row in rows.items():
        print(f"{name:36} " + "  ".join(f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"{time.perf_counter() - start:.0f} s")
