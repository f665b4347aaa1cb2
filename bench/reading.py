"""Word errors and CPU of reading, beside plain Tesseract and RapidOCR alone, on human transcripts.

    python bench/reading.py FOLDER... [--engines auto,rapidocr,tesseract] [--limit 60]

A FOLDER holds images with a JSON beside each: {"image", and "text", or "lines" or "words" with
"text"}. Word errors are order-free (words missed or misread, plus words too many, over true words;
letters and digits, without case): pages of columns and tables have no one order. `plain` is
`tesseract --psm 3` on the image as it is, told 300 dpi. CPU is that of this process and of what it
starts. Prints JSON and a table.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from visualproof_server.model.document import ReadOptions, TextLayer
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker import engines


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--engines", default="auto,rapidocr,tesseract")
    parser.add_argument("--limit", type=int, default=60)
    args = parser.parse_args()
    known = engines()
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for folder in args.folders:
        sums: dict[str, list[float]] = {}
        for side in sorted(folder.glob("*.json"))[: args.limit]:
            data = json.loads(side.read_text())
            image, wanted = folder / str(data.get("image", "")), bag(truth_of(data))
            if not image.is_file() or not wanted:
                continue
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
