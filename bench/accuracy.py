"""Planted claims: true values and the same corrupted, asked bare, cited and one line off.

    python bench/accuracy.py [FOLDER] [--engine rapidocr]

FOLDER holds documents, each with a JSON beside it: {"fields": {name: {"value": ..., "kind": ...}}}.
Without one, the project's own invoice is used. Prints JSON and a table; false_verified must be 0.
"""

import argparse
import json
import random
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from serving import serving
from visualproof import Client, FieldSpec, Status

OWN = Path(__file__).parent.parent / "examples" / "invoice"
OWN_FIELDS = {
    "vendor": ("Northgate Kitchen Supply Ltd", "text"),
    "number": ("INV-2026-0417", "identifier"),
    "date": ("2026-10-15", "date"),
    "due": ("2026-11-14", "date"),
    "po": ("PO-88213", "identifier"),
    "subtotal": ("13350.00", "money"),
    "vat": ("2670.00", "money"),
    "total": ("16020.00", "money"),
    "account": ("40817712", "identifier"),
}


def corrupted(value: str, kind: str, rng: random.Random) -> list[str]:
    """The value as models and typists get it wrong."""
    digits = [i for i, c in enumerate(value) if c.isdigit()]
    out = []
    for _ in range(3):
        if digits:
            i = rng.choice(digits)
            out.append(value[:i] + str((int(value[i]) + rng.randint(1, 9)) % 10) + value[i + 1 :])
    for i, j in pairwise(digits):
        if value[i] != value[j] and j == i + 1:
            out.append(value[:i] + value[j] + value[i] + value[j + 1 :])
    if kind == "money":
        out += [str(Decimal(value) * 10), str(-Decimal(value))]
    elif kind != "date":
        words = value.split()
        out += [value[:-1], " ".join(words[1:][::-1] + words[:1])]
    return [w for w in dict.fromkeys(out) if w != value and not _bad_date(w, kind)]


def _bad_date(text: str, kind: str) -> bool:
    from datetime import date

    if kind != "date":
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return True
    return False


def documents(folder: Path | None) -> list[tuple[Path, dict[str, tuple[str, str]]]]:
    if folder is None:
        return [(OWN / "scan.jpg", OWN_FIELDS), (OWN / "invoice.pdf", OWN_FIELDS)]
    found = []
    for side in sorted(folder.glob("*.json")):
        fields = json.loads(side.read_text()).get("fields", {})
        typed = {
            k: (str(v["value"]), str(v["kind"])) for k, v in fields.items() if isinstance(v, dict)
        }
        for suffix in (".pdf", ".png", ".jpg", ".tif", ".webp"):
            if typed and side.with_suffix(suffix).exists():
                found.append((side.with_suffix(suffix), typed))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--engine", default="tesseract")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with serving("--engine", args.engine) as (target, _), Client(target) as client:
        for file, fields in documents(args.folder):
            document = client.ingest(file)
            lines = places(client, document, fields)
            for mode in ("bare", "cited", "slipped"):
                score(client, document, lines, fields, mode, counts)
    rows = {
        mode: {k: counts[f"{mode} {k}"] for k in ("true", "verified", "false", "false_verified")}
        for mode in ("bare", "cited", "slipped")
    }
    print(json.dumps(rows))
    print(f"{'mode':8} {'true':>5} {'verified':>9} {'false':>6} {'false_verified':>15}")
    for mode, row in rows.items():
        share = row["verified"] / max(1, row["true"])
        print(f"{mode:8} {row['true']:5} {share:9.0%} {row['false']:6} {row['false_verified']:15}")


def places(client: Client, document: Any, fields: dict[str, tuple[str, str]]) -> dict[str, int]:
    """The line of each true value, as its bare claim finds it."""
    answer = {n: float(v) if kind == "money" else v for n, (v, kind) in fields.items()}
    specs = [FieldSpec(path=f"/{n}", kind=k, locale="en-GB") for n, (_, k) in fields.items()]
    report = client.verify(document, answer, fields=specs)
    return {
        r.path[1:]: int(r.evidence[0].block_ids[0][1:].split(".")[0]) for r in report if r.evidence
    }


def score(
    client: Client, document: Any, lines: dict[str, int], fields: dict[str, tuple[str, str]], mode: str,
    counts: Counter[str],
) -> None:  # fmt: skip
    rng = random.Random(7)
    answer: dict[str, Any] = {}
    specs, truth = [], {}
    for name, (value, kind) in fields.items():
        for number, claimed in enumerate([value, *corrupted(value, kind, rng)]):
            key = f"{name}{number}"
            line = lines.get(name, 1) + (mode == "slipped")
            proof = [] if mode == "bare" else [{"type": "WORD", "line": line, "value": claimed}]
            shown: Any = float(claimed) if kind == "money" else claimed
            answer[key] = {"value": shown, "proof": proof}
            specs.append(FieldSpec(path=f"/{key}", kind=kind, locale="en-GB"))
            truth[f"/{key}"] = number == 0
    for result in client.verify(document, answer, fields=specs):
        green = result.status is Status.VERIFIED
        side = "true" if truth[result.path] else "false"
        counts[f"{mode} {side}"] += 1
        counts[f"{mode} {'verified' if side == 'true' else 'false_verified'}"] += green


if __name__ == "__main__":
    main()
