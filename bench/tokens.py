"""Prompt tokens over the plain text, and of the same page as Textract-shaped JSON (o200k).

    python bench/tokens.py [FILE...]

Without files, the project's own invoice. Needs node and npm: the tokenizer is the npm package
gpt-tokenizer, installed into a temporary folder. Prints JSON and a table.
"""

import argparse
import json
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Any

from serving import serving
from visualproof import Block, BlockKind, Client

OWN = Path(__file__).parent.parent / "examples" / "invoice" / "scan.jpg"
COUNT = """
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import fs from "fs";
const texts = JSON.parse(fs.readFileSync("texts.json"));
const count = (t) => encode(t, { disallowedSpecial: new Set() }).length;
console.log(JSON.stringify(texts.map((t) => Object.fromEntries(Object.entries(t).map(([k, v]) => [k, count(v)])))));
"""


def textract(blocks: list[Block]) -> str:
    """The blocks as AWS Textract's JSON spells them."""
    out: list[dict[str, Any]] = []
    for b in blocks:
        left, top, right, bottom = (
            b.box.left,
            b.box.top,
            b.box.left + b.box.width,
            b.box.top + b.box.height,
        )
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        out.append({
            "BlockType": BlockKind.Name(b.kind).removeprefix("BLOCK_KIND_"),
            "Confidence": b.confidence * 100,
            "Text": b.text,
            "Geometry": {
                "BoundingBox": {"Width": b.box.width, "Height": b.box.height, "Left": left, "Top": top},
                "Polygon": [{"X": x, "Y": y} for x, y in corners],
            },
            "Id": str(uuid.uuid5(uuid.NAMESPACE_OID, b.block_id)),
        })  # fmt: skip
    return json.dumps({"Blocks": out}, indent=4)


def plain(blocks: list[Block]) -> str:
    """Lines, and rows of tables with a space between cells: what OCR alone would print."""
    out: list[str] = []
    row = ""
    for b in blocks:
        at = b.block_id.split("C")[0]
        if b.kind == BlockKind.BLOCK_KIND_CELL and b.text:
            if at == row:
                out[-1] += f" {b.text}"
            else:
                out.append(b.text)
            row = at
        elif b.kind == BlockKind.BLOCK_KIND_LINE:
            out.append(b.text)
            row = ""
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[OWN])
    args = parser.parse_args()
    texts = []
    with serving() as (target, _), Client(target) as client:
        for file in args.files:
            document = client.ingest(file)
            blocks = list(client.blocks(document))
            texts.append({
                "plain": plain(blocks),
                "line": client.prompt(document).text,
                "compact": client.prompt(document, compact=True).text,
                "textract": textract(blocks),
            })  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "install", "--silent", "gpt-tokenizer"], cwd=folder, check=True)
        (Path(folder) / "texts.json").write_text(json.dumps(texts))
        (Path(folder) / "count.mjs").write_text(COUNT)
        done = subprocess.run(
            ["node", "count.mjs"], cwd=folder, check=True, capture_output=True, text=True
        )
    counts = json.loads(done.stdout)
    print(json.dumps(counts))
    print(f"{'file':40} {'plain':>7} {'line':>6} {'compact':>8} {'textract':>9}")
    for file, n in zip(args.files, counts, strict=True):
        row = (n["line"] / n["plain"], n["compact"] / n["plain"], n["textract"] / n["plain"])
        print(f"{file.name[:40]:40} {n['plain']:7} {row[0]:6.2f} {row[1]:8.2f} {row[2]:9.1f}")


if __name__ == "__main__":
    main()
