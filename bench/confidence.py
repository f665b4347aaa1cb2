"""How sure a word's confidence is: errors by engine and confidence, on human transcripts.

    python bench/confidence.py FOLDER [--engine auto] [--limit 60]

FOLDER holds images with a JSON beside each: {"lines": [{"text", "bbox": [x0, y0, x1, y1]}]} in
pixels (as ../shared/data/sroie). For each threshold: the share of tokens that are read with at
least that confidence, and how many of those differ from the transcript. The thresholds in
reading/tesseract.py and rapid.py (SURE_FROM) and reading/auto.py (DOUBT) were chosen on this curve.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from visualproof_server.model.document import ReadOptions, TextLayer, Word
from visualproof_server.proving.text.folding import compact, tokens
from visualproof_server.reading.reader import read_page
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker.engines import engines

OPTIONS = ReadOptions(("eng",), 300, 1, 1, "", True, TextLayer.IGNORED)
THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def judged(
    words: tuple[Word, ...], truth: list[dict[str, object]]
) -> list[tuple[str, float, bool]]:
    """(engine, confidence, right) of each token that stands where the transcript has a line."""
    out = []
    for word in words:
        x, y = (word.box.left + word.box.right) / 2, word.box.middle
        texts = [
            compact(tokens(str(t["text"])))
            for t in truth
            if _inside(x, y, t["bbox"])  # type: ignore[arg-type]
        ]
        for token in tokens(word.text) if texts else ():
            right = any(token.text in text for text in texts)
            out.append((word.engine, word.confidence or 0.0, right))
    return out


def _inside(x: float, y: float, box: list[float]) -> bool:
    return box[0] - 4 <= x <= box[2] + 4 and box[1] - 2 <= y <= box[3] + 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--limit", type=int, default=60)
    args = parser.parse_args()
    engine = engines()[args.engine]
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for side in sorted(args.folder.glob("*.json"))[: args.limit]:
        data = json.loads(side.read_text())
        file = side.with_suffix(Path(data.get("image", "x.jpg")).suffix)
        if not file.exists() or not data.get("lines"):
            continue
        page = read_page(file, 1, OPTIONS, PageLimits(), engine).page
        for name, confidence, right in judged(page.words, data["lines"]):
            found[name].append((confidence, right))
    rows = []
    for name, items in sorted(found.items()):
        for threshold in THRESHOLDS:
            kept = [right for confidence, right in items if confidence >= threshold]
            wrong = sum(not right for right in kept)
            rows.append({
                "engine": name, "threshold": threshold, "tokens": len(items),
                "kept": round(len(kept) / len(items), 3), "wrong": round(wrong / max(1, len(kept)), 4),
            })  # fmt: skip
    print(json.dumps(rows))
    print(f"{'engine':12} {'threshold':>9} {'kept':>7} {'wrong':>7}")
    for row in rows:
        print(f"{row['engine']:12} {row['threshold']:9} {row['kept']:7.1%} {row['wrong']:7.2%}")


if __name__ == "__main__":
    main()
