"""Wrong values planted on real documents whose truth nobody needs to know: none may be VERIFIED.

    python bench/plants.py FOLDER [FOLDER ...] --target HOST:PORT [--seed 1] [--each 14]

What an OCR engine read is changed as models and typists err, and as engines split words: digits
changed, dropped, doubled, swapped; heads and tails of numbers and codes; words left out, in another
order, or off by a letter. A changed value that the page prints anywhere is left out. Each is claimed
bare, cited with itself, and cited with what is printed, with its kind and without. Prints each that
came out VERIFIED, for a person to judge (a day may be written in two ways), then the counts.
"""

import argparse
import itertools
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from visualproof import CallError, Client, DocumentFailed, FieldSpec, Status

FILES = {".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff"}
AMOUNT = re.compile(r"\d{1,3}(?:[.,]\d{3})*[.,]\d{2}|\d{2,}[.,]\d{2}|\d{3,7}|\d{1,3}(?:,\d{3})+")
CODE = re.compile(r"(?=.*\d)[A-Za-z0-9/-]{6,}")
MODES = ("bare", "cited", "lying", "untyped", "untyped lying")


def squeezed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


def wrong_digits(text: str, rng: random.Random) -> Iterator[str]:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    at = rng.choice(places)
    yield f"{text[:at]}{(int(text[at]) + rng.randrange(1, 10)) % 10}{text[at + 1 :]}"
    yield text[:at] + text[at + 1 :]
    yield text[: at + 1] + text[at:]
    swaps = [(a, b) for a, b in itertools.pairwise(places) if text[a] != text[b]]
    if swaps:
        a, b = rng.choice(swaps)
        yield text[:a] + text[b] + text[a + 1 : b] + text[a] + text[b + 1 :]
    for cut in (1, 2):
        yield text[cut:]
        yield text[:-cut]
    parts = re.split(r"[.,/:-]", text)
    if len(parts) > 1:
        yield from (parts[0], parts[-1], text[len(parts[0]) + 1 :], text[: -len(parts[-1]) - 1])


def wrong_words(words: list[str], rng: random.Random) -> Iterator[str]:
    at = rng.randrange(len(words))
    letter = rng.randrange(len(words[at]))
    for new in (chr(97 + rng.randrange(26)), ""):
        changed = words[at][:letter] + new + words[at][letter + 1 :]
        yield " ".join([*words[:at], changed, *words[at + 1 :]])
    yield " ".join([words[0][1:], *words[1:]])
    yield " ".join([*words[:-1], words[-1][:-1]])
    yield " ".join([words[0], *words[2:]])
    yield " ".join([words[1], words[0], *words[2:]])


def plants(lines: list[Any], each: int, rng: random.Random) -> Iterator[tuple[str, str, Any, Any]]:
    """(kind, what is printed, its line, a wrong value)."""
    printed = {squeezed(word) for line in lines for word in line.text.split()}
    everything = squeezed(" ".join(line.text for line in lines))
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for line in lines:
        words = line.text.split()
        for word in (w.strip("$€£.,:;()") for w in words):
            if AMOUNT.fullmatch(word):
                found["money"].append((word, line))
            elif CODE.fullmatch(word):
                found["identifier"].append((word, line))
        if 2 <= len(words) <= 8 and sum(w.isalpha() and len(w) > 3 for w in words) > 1:
            found["text"].append((line.text, line))
    for kind, places in found.items():
        for text, line in rng.sample(places, min(each, len(places))):
            if kind == "text":
                wrong = wrong_words(text.split(), rng)
            else:
                wrong = wrong_digits(text, rng)
            for value in wrong:
                if not squeezed(value) or squeezed(value) in (
                    printed if kind == "money" else everything
                ):
                    continue
                if kind != "money":
                    yield kind, text, line, value
                    continue
                decimal = value.replace(",", "") if value[-3:-2] != "," else value.replace(",", ".")
                try:
                    number = float(decimal)
                except ValueError:
                    continue
                if not {f"{number:g}", squeezed(str(number)), squeezed(f"{number:.2f}")} & printed:
                    yield kind, text, line, number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--target", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=14)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    counts: Counter[str] = Counter()
    files = [p for f in args.folders for p in sorted(f.rglob("*")) if p.suffix.lower() in FILES]
    with Client(args.target) as client:
        for file in files:
            try:
                document = client.ingest(file, last_page=1)
            except (DocumentFailed, CallError) as error:
                print(file.name, error.code, file=sys.stderr)
                continue
            lines = [b for b in client.blocks(document) if re.fullmatch(r"L\d+", b.block_id)]
            planted = list(plants(lines, args.each, rng))
            for mode in MODES if planted else ():
                typed = not mode.startswith("untyped")
                answer, fields = {}, []
                for number, (kind, text, line, value) in enumerate(planted):
                    says = {"cited": str(value), "lying": text, "untyped lying": text}.get(mode)
                    proof = [{"type": "WORD", "line": line.marker, "value": says}] if says else []
                    answer[f"f{number}"] = {"value": value if typed else str(value), "proof": proof}
                    fields.append(FieldSpec(path=f"/f{number}", kind=kind))
                report = client.verify(document, answer, fields=fields if typed else [])
                for number, (kind, text, line, value) in enumerate(planted):
                    result = report[f"/f{number}"]
                    counts["planted"] += 1
                    if result.status is Status.VERIFIED:
                        counts["verified"] += 1
                        row = [file.name, mode, kind, text, value, result.printed_text, line.text]
                        print(json.dumps(row, ensure_ascii=False), flush=True)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
