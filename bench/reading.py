"""Word errors and CPU of reading, beside plain Tesseract and RapidOCR alone, on human transcripts.

    python bench/reading.py FOLDER... [--engines auto,rapidocr,tesseract] [--limit 60] [--steps]

A FOLDER holds images with a JSON beside each: {"image", and "text", or "lines" or "words" with
"text"}. Word errors are order-free (words missed or misread, plus words too many, over true words;
letters and digits, without case): pages of columns and tables have no one order. `plain` is
`tesseract --psm 3` on the image as it is, told 300 dpi. CPU is that of this process and of what it
starts. --steps reads with Tesseract instead, as ever and with each step of the clean-up left out,
and names the pages that a step harms. Prints JSON and a table.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from visualproof_server.model.document import ReadOptions, TextLayer
from visualproof_server.reading import cleanup
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker.engines import engines


def bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def truth_of(data: dict[str, Any]) -> str:
    if isinstance(data.get("text"), str):
        return str(data["text"])
    return "\n".join(item["text"] for item in data.get("lines") or data.get("words") or [])


def plain(image: Path) -> str:
    command = ["tesseract", str(image), "-", "--psm", "3", "--dpi", "300"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "OMP_THREAD_LIMIT": "1"},
    )  # fmt: skip
    return done.stdout


def spent() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


STEPS = {
    "light print on dark": ("_light_ground", lambda image: image),
    "uneven light": ("_spread", lambda background: 0.0),
    "speckle": ("_speckled", lambda image: False),
    "deskew": ("skew_degrees", lambda image: 0.0),
}
"""Each step of the clean-up: the function of reading.cleanup that decides it, and what skips it."""


def errors_of(image: Path, wanted: Counter[str], engine: OcrEngine) -> int:
    options = ReadOptions(("eng",), 300, 1, 1, engine.name, True, TextLayer.IGNORED)
    found = bag(
        " ".join(w.text for w in read_page(image, 1, options, PageLimits(), engine).page.words)
    )
    return max(wanted.total(), found.total()) - (wanted & found).total()


def steps(folders: list[Path], limit: int) -> None:
    """Word errors with all steps and without each, and the pages where leaving it out is better."""
    engine = engines()["tesseract"]
    for folder in folders:
        totals: Counter[str] = Counter()
        harmed: dict[str, list[str]] = {name: [] for name in STEPS}
        for image, wanted in truths(folder, limit):
            best = errors_of(image, wanted, engine)
            totals["words"] += wanted.total()
            totals["all"] += best
            for name, (function, skip) in STEPS.items():
                with mock.patch.object(cleanup, function, skip):
                    left_out = errors_of(image, wanted, engine)
                totals[name] += left_out
                if left_out < best:
                    harmed[name].append(f"{image.stem} ({best - left_out})")
        print(f"{folder.name}: WER with all steps {totals['all'] / max(1, totals['words']):.1%}")
        for name in STEPS:
            wer = totals[name] / max(1, totals["words"])
            print(
                f"  without {name:20} {wer:6.1%}  harmed by it: {', '.join(harmed[name]) or 'none'}"
            )


def truths(folder: Path, limit: int) -> Iterator[tuple[Path, Counter[str]]]:
    for side in sorted(folder.glob("*.json"))[:limit]:
        data = json.loads(side.read_text())
        image, wanted = folder / str(data.get("image", "")), bag(truth_of(data))
        if image.is_file() and wanted:
            yield image, wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--engines", default="auto,rapidocr,tesseract")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--steps", action="store_true")
    args = parser.parse_args()
    if args.steps:
        steps(args.folders, args.limit)
        return
    known = engines()
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for folder in args.folders:
        sums: dict[str, list[float]] = {}
        for image, wanted in truths(folder, args.limit):
            for name in ("plain", *args.engines.split(",")):
                start = spent()
                if name == "plain":
                    text = plain(image)
                else:
                    options = ReadOptions(("eng",), 300, 1, 1, name, False, TextLayer.IGNORED)
                    page = read_page(image, 1, options, PageLimits(), known[name]).page
                    text = " ".join(word.text for word in page.words)
                found = bag(text)
                right = (wanted & found).total()
                errors = max(wanted.total(), found.total()) - right
                total = sums.setdefault(name, [0.0, 0.0, 0.0, 0.0])
                for at, value in enumerate((errors, right, wanted.total(), spent() - start)):
                    total[at] += value
        rows[folder.name] = {
            name: {
                "wer": round(errors / true, 3), "located": round(right / true, 3), "cpu_s": round(cpu, 1),
            }
            for name, (errors, right, true, cpu) in sums.items()
        }  # fmt: skip
    print(json.dumps(rows))
    for folder_name, found_row in rows.items():
        for name, row in found_row.items():
            print(
                f"{folder_name:22} {name:10} WER {row['wer']:6.1%}  located {row['located']:6.1%}"
                f"  CPU {row['cpu_s']:6.1f} s"
            )


if __name__ == "__main__":
    main()
