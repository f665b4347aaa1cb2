"""What second readings cost and catch: words with digits, on human transcripts.

    python bench/second_readings.py FOLDER [--engine auto] [--limit 60]

FOLDER is as for bench/confidence.py. Prints JSON and a table: CPU seconds of reading a page, and of
reading again the words of five fields of it, drawn by chance; and by trust how many words that were
misread, and how many that were read right, may turn green. WORD_CROPS and the confidences of
proving/second_reading.py were chosen on this.
"""

import argparse
import json
import os
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from visualproof_server.model.document import Document, ReadOptions, TextLayer, Trust
from visualproof_server.model.geometry import Box
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.second_reading import SecondReadings
from visualproof_server.proving.text.folding import compact, tokens
from visualproof_server.reading.reader import decode, read_page
from visualproof_server.reading.second_reading import second_readings
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker.engines import engines

OPTIONS = ReadOptions(("eng",), 300, 1, 1, "", True, TextLayer.IGNORED)
FIELDS = 5


def cpu() -> float:
    """Seconds of this process and of the programs that it ran."""
    return sum(os.times()[:4])


def is_right(text: str, box: Box, truth: list[dict[str, Any]]) -> bool | None:
    """Whether a word is what the transcript has at its place; None where it has nothing."""
    lines = [compact(tokens(str(t["text"]))) for t in truth if _inside(box, t["bbox"])]
    said = compact(tokens(text))
    return any(said in line for line in lines) if lines and said else None


def _inside(box: Box, area: Iterable[Any]) -> bool:
    left, top, right, bottom = (float(v) for v in area)
    x, y = (box.left + box.right) / 2, box.middle
    return bool(left - 4 <= x <= right + 4 and top - 2 <= y <= bottom + 2)


def found(index: Index, word: int) -> Finding:
    """A word as the place that proves a value."""
    return Finding(status=Status.VERIFIED, places=(Run((word,), index.words[word].text),))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--limit", type=int, default=60)
    args = parser.parse_args()
    installed = engines()
    rng = random.Random(1)
    counts: Counter[tuple[str, bool, bool]] = Counter()
    pages, again = [], []
    for side in sorted(args.folder.glob("*.json"))[: args.limit]:
        data = json.loads(side.read_text())
        file = side.with_suffix(Path(data.get("image", "x.jpg")).suffix)
        if not file.exists() or not data.get("lines"):
            continue
        start = cpu()
        read = read_page(file, 1, OPTIONS, PageLimits(), installed[args.engine])
        pages.append(cpu() - start)
        document = number_document("d" * 16, "a" * 64, "bench", OPTIONS, (read.page,))
        index = Index(document)
        numbers = [n for n, w in enumerate(index.words) if len(re.sub(r"\D", "", w.text)) > 1]

        def second(read_image: bytes = read.image, at: Document = document) -> SecondReadings:
            return SecondReadings(
                Index(at),
                lambda places: second_readings(
                    decode(read_image), places, OPTIONS.languages, installed
                ),
            )

        start = cpu()
        chosen = [found(index, n) for n in rng.sample(numbers, min(FIELDS, len(numbers)))]
        asked = second()
        asked.ahead(chosen)
        for finding in chosen:
            asked.doubt(finding)
        again.append(cpu() - start)
        asked = second()
        asked.ahead([found(index, n) for n in numbers])
        for number in numbers:
            word = index.words[number]
            right = is_right(word.text, word.box, data["lines"])
            if right is not None:
                green = asked.doubt(found(index, number)) is None
                counts[word.trust.name, right, green] += 1
    result = {
        "pages": len(pages),
        "page_cpu_s": round(statistics.mean(pages), 3),
        "five_fields_cpu_s": round(statistics.mean(again), 3),
        "share": round(sum(again) / sum(pages), 3),
        "words": [
            {"trust": t.name, "right": right, "green": counts[t.name, right, True],
             "of": counts[t.name, right, True] + counts[t.name, right, False]}
            for t in Trust for right in (False, True)
        ],
    }  # fmt: skip
    print(json.dumps(result))
    print(f"page {result['page_cpu_s']} s, five fields {result['five_fields_cpu_s']} s of CPU"
          f" ({result['share']:.1%})")  # fmt: skip
    print(f"{'trust':10} {'misread, green':>16} {'right, green':>16}")
    for t in Trust:
        cells = []
        for kind in (False, True):
            kept = counts[t.name, kind, True]
            of = kept + counts[t.name, kind, False]
            cells.append(f"{kept} of {of}" if of else "-")
        print(f"{t.name:10} {cells[0]:>16} {cells[1]:>16}")


if __name__ == "__main__":
    main()
