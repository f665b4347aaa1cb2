"""Planted values on long texts: 1,800 values on 300 pages, and a miss in 1 MB. No OCR.

    python bench/reconcile.py

Prints JSON and a table: seconds to build the index, to verify, milliseconds for a miss, and how
many of the planted values were verified at their own place (all must be).
"""

import json
import random
import statistics
import time

from visualproof_server.model.document import (
    Document,
    Line,
    Page,
    ReadOptions,
    Source,
    TextLayer,
    Trust,
    Word,
)
from visualproof_server.model.geometry import Box, quad_of
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldSpec, Status
from visualproof_server.model.request import ProveRequest
from visualproof_server.proving.prove import Index, prove
from visualproof_server.proving.vocabulary.words import vocabulary

WORDS = [
    "the",
    "supplier",
    "shall",
    "deliver",
    "goods",
    "within",
    "period",
    "stated",
    "order",
    "amount",
    "total",
    "rent",
    "notice",
    "term",
]


def document(pages: int, rng: random.Random) -> Document:
    made = []
    for number in range(1, pages + 1):
        lines = []
        for row in range(45):
            texts = [rng.choice(WORDS) for _ in range(9)] + [
                f"{rng.randint(1000, 9_999_999) / 100:,.2f}"
            ]
            words, left = [], 100
            for text in texts:
                box = Box(left, 100 + row * 60, left + 20 * len(text), 140 + row * 60)
                words.append(Word(text, box, quad_of(box), 0.99, "tesseract", Trust.AGREED))
                left += 20 * len(text) + 20
            lines.append(Line(tuple(words)))
        made.append(
            Page(number, str(number), 2480, 3508, 595, 842, 0, 300, Source.OCR, tuple(lines))
        )
    options = ReadOptions(("eng",), 300, 1, 0, "tesseract", False, TextLayer.IGNORED)
    return number_document("0" * 32, "0" * 64, "bench", options, tuple(made))


def main() -> None:
    # Loaded once a process.
    _ = vocabulary().captions, vocabulary().units
    rng = random.Random(7)
    long = document(300, rng)
    start = time.perf_counter()
    index = Index(long)
    index.lines, index.columns, index.numbers, index.dates  # noqa: B018
    built = time.perf_counter() - start
    answer, fields, wanted = {}, [], {}
    for number, line in enumerate(rng.sample(long.lines, 1800)):
        text = (
            line.line.words[-1].text
            if number % 2
            else " ".join(w.text for w in line.line.words[2:8])
        )
        kind = "money" if number % 2 else "quote"
        value = float(text.replace(",", "")) if number % 2 else text
        answer[f"f{number}"] = {
            "value": value,
            "proof": [{"type": "WORD", "line": line.number, "value": text}],
        }
        fields.append(FieldSpec(f"/f{number}", kind, locale="en-GB"))
        wanted[f"/f{number}"] = f"L{line.number}."
    data = json.dumps(answer).encode()
    start = time.perf_counter()
    report = prove(index, data, ProveRequest(tuple(fields)), lambda *_: {})
    verified = time.perf_counter() - start
    right = sum(
        r.status is Status.VERIFIED and r.evidence[0].block_ids[0].startswith(wanted[r.path])
        for r in report.results
    )
    size = sum(len(row.text) for row in index.rows)
    misses = []
    for number in range(20):
        miss = json.dumps(f"indemnity clause nowhere printed {number} 77,777,777.77").encode()
        start = time.perf_counter()
        prove(index, miss, ProveRequest(), lambda *_: {})
        misses.append((time.perf_counter() - start) * 1000)
    result = {
        "pages": 300,
        "text_bytes": size,
        "index_s": round(built, 2),
        "values": len(fields),
        "verify_s": round(verified, 2),
        "right_place": right,
        "miss_ms": round(statistics.median(misses), 1),
        "miss_ms_per_mb": round(statistics.median(misses) / (size / 1e6), 1),
    }
    print(json.dumps(result))
    for name, value in result.items():
        print(f"{name:16} {value}")


if __name__ == "__main__":
    main()
