"""Pages a minute beside bare `tesseract` on the same pages in the same run, and memory.

    python bench/speed.py [FILE...] [--pages 12]

Without files, the project's own invoice is read under several names. Prints JSON and a table:
bare tesseract on the raw page, on the page cleaned as we clean it, and the service with 1 and 2
workers; `overhead` is what reading costs beyond Tesseract itself on the same cleaned pages.
"""

import argparse
import io
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytesseract
from PIL import Image
from serving import serving
from visualproof import Client
from visualproof_server.reading.cleanup import clean
from visualproof_server.reading.raster import raster_image
from visualproof_server.reading.source import PageLimits, open_image, plan_image
from visualproof_server.reading.tesseract import enlarged

OWN = Path(__file__).parent.parent / "examples" / "invoice" / "scan.jpg"


def pages_of(files: list[Path], count: int) -> list[Image.Image]:
    """Grey page images."""
    greys = [np.asarray(Image.open(file).convert("L")) for file in files]
    return [Image.fromarray(greys[n % len(greys)]) for n in range(count)]


def by_pytesseract(pages: list[Image.Image]) -> float:
    """Seconds for pytesseract as it is commonly used: one process, one page after the other."""
    os.environ["OMP_THREAD_LIMIT"] = "1"
    start = time.perf_counter()
    for page in pages:
        pytesseract.image_to_data(page)
    return time.perf_counter() - start


def document_of(pages: list[Image.Image]) -> bytes:
    """One TIFF with all pages, as a scanner makes it."""
    data = io.BytesIO()
    pages[0].save(data, "TIFF", save_all=True, append_images=pages[1:])
    return data.getvalue()


def bare(files: list[Path]) -> float:
    """Seconds for one process after the other."""
    start = time.perf_counter()
    for file in files:
        command = ["tesseract", str(file), "-", "--oem", "1", "--psm", "3", "tsv"]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_THREAD_LIMIT": "1"},
        )  # fmt: skip
    return time.perf_counter() - start


def served(document: bytes, workers: int) -> tuple[float, float]:
    """(seconds, peak MB of the server process itself)."""
    with (
        serving("--workers", str(workers), "--max-upload-mb", "500") as (target, pid),
        Client(target) as client,
    ):
        process, peak, done = psutil.Process(pid), 0.0, threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.is_set():
                peak = max(peak, process.memory_info().rss / 1e6)
                done.wait(0.05)

        watcher = threading.Thread(target=watch)
        watcher.start()
        client.ingest(OWN)
        start = time.perf_counter()
        client.ingest(document)
        seconds = time.perf_counter() - start
        done.set()
        watcher.join()
        return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[OWN])
    parser.add_argument("--pages", type=int, default=12)
    args = parser.parse_args()
    pages = pages_of(args.files, args.pages)
    document = document_of(pages)
    with tempfile.TemporaryDirectory() as folder:
        raw, cleaned = [], []
        for number, page in enumerate(pages):
            raw.append(Path(folder) / f"raw-{number}.png")
            page.save(raw[-1], compress_level=1)
            with open_image(raw[-1]) as image:
                grey = raster_image(raw[-1], image, plan_image(image, 1, PageLimits())).image
            cleaned.append(Path(folder) / f"clean-{number}.pgm")
            Image.fromarray(enlarged(clean(grey).image)[0]).save(cleaned[-1])
        raw_s, clean_s = bare(raw), bare(cleaned)
    python_s = by_pytesseract(pages)
    one_s, _ = served(document, 1)
    two_s, peak = served(document, 2)
    result = {
        "pages": len(pages),
        "pytesseract_s": round(python_s, 2),
        "tesseract_raw_s": round(raw_s, 2),
        "tesseract_cleaned_s": round(clean_s, 2),
        "one_worker_s": round(one_s, 2),
        "two_workers_s": round(two_s, 2),
        "speedup_over_pytesseract": round(python_s / two_s, 2),
        "overhead": round(one_s / clean_s - 1, 3),
        "server_peak_mb": round(peak),
    }
    print(json.dumps(result))
    for name, value in result.items():
        print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
