"""What evidence costs: export and replay of a bundle, and the page's opening in Chromium.

    python bench/bundles.py [--pages 20] [--long 300]

A scan of --pages pages (the project's own invoice, repeated as a TIFF with other noise on each) is
read, an answer of all its values is verified, exported as a bundle twice (the second finds the
pages' pictures made) and replayed. A page of --long pages is opened in Chromium: time until the
first value and its page show, and until all is loaded. Prints JSON and a table.
"""

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from serving import serving
from visualproof import Client
from visualproof.cli import fields
from visualproof_server.evidence.page import PageFacts, review_page
from visualproof_server.model.document import (
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
from visualproof_server.model.request import ProveRequest
from visualproof_server.proving.prove import Index, prove

OWN = Path(__file__).parent.parent / "examples" / "invoice"


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = call()
    return round(time.perf_counter() - started, 2), result


def scan(pages: int) -> bytes:
    rng = np.random.default_rng(1)
    with Image.open(OWN / "scan.jpg") as opened:
        grey = np.asarray(opened.convert("L")).astype(int)
    images = [
        Image.fromarray(np.clip(grey + rng.normal(0, 2, grey.shape), 0, 255).astype(np.uint8))
        for _ in range(pages)
    ]
    out = io.BytesIO()
    images[0].save(
        out, "TIFF", save_all=True, append_images=images[1:], compression="jpeg", dpi=(200, 200)
    )
    return out.getvalue()


def bundle(pages: int) -> dict[str, float]:
    wanted = fields.load(str(OWN / "fields.json"))
    answer = (OWN / "answer.json").read_bytes()
    with serving() as (target, _), Client(target) as client, tempfile.TemporaryDirectory() as name:
        document = client.ingest(scan(pages))
        verify, _ = timed(lambda: client.verify(document, answer, fields=wanted.fields))

        def export() -> Any:
            return client.export(
                document, answer, fields=wanted.fields, to=Path(name) / "a.zip", with_original=True
            )

        first, made = timed(export)
        again, _ = timed(export)
        command = [sys.executable, "-m", "visualproof_server.replay", str(made.path)]
        replay, done = timed(lambda: subprocess.run(command, check=False, capture_output=True))
        assert done.returncode == 0, done.stdout
        return {
            "verify_s": verify, "export_s": first, "export_again_s": again, "replay_s": replay,
            "bundle_mb": round(made.size / 1e6, 1),
        }  # fmt: skip


def opening(pages: int) -> dict[str, float]:
    """A value a page; pictures are noise of the size that a scan's has."""
    rng = np.random.default_rng(2)
    out = io.BytesIO()
    Image.fromarray(rng.integers(90, 255, (1800, 1273), np.uint8)).save(out, "WEBP", quality=3)
    made, answer = [], {}
    for number in range(1, pages + 1):
        text = f"{number},{number % 1000:03}.00"
        box = Box(200, 300, 400, 340)
        line = Line((Word(text, box, quad_of(box), 0.99, "tesseract", Trust.AGREED),))
        made.append(
            Page(number, str(number), 1654, 2339, 595, 842, 0, 200, Source.OCR, (line,))
        )  # fmt: skip
        answer[f"value {number}"] = text
    options = ReadOptions(("eng",), 200, 1, 0, "tesseract", False, TextLayer.IGNORED)
    document = number_document("d" * 32, "a" * 64, "bench", options, tuple(made))
    report = prove(Index(document), json.dumps(answer).encode(), ProveRequest(), lambda *_: {})
    pictures = {p.number: out.getvalue() for p in document.pages}
    whole = review_page(document, report, PageFacts("bench", "0", "0" * 64), pictures)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        file = Path(name) / "index.html"
        file.write_bytes(whole)
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1400, "height": 900})

        def shown() -> None:
            page.goto(file.as_uri(), wait_until="commit")
            page.wait_for_function(
                "() => { const i = document.getElementById('image');"
                " return i && i.complete && i.naturalWidth > 0; }"
            )

        first, _ = timed(shown)
        rest, _ = timed(lambda: page.wait_for_load_state("load"))
        turn, _ = timed(
            lambda: page.evaluate(
                f"showPage({pages}, true).then(() => document.getElementById('image').decode())"
            )
        )
        browser.close()
    return {
        "page_mb": round(len(whole) / 1e6, 1), "first_shown_s": first,
        "all_loaded_s": round(first + rest, 2), "turn_to_last_s": turn,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--long", type=int, default=300)
    args = parser.parse_args()
    figures = bundle(args.pages) | opening(args.long)
    print(json.dumps(figures))
    for name, figure in figures.items():
        print(f"{name:<16}{figure:>8}")


if __name__ == "__main__":
    main()
