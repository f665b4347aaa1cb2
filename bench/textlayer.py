"""Pages a minute of a digital PDF by its proven text layer, beside OCR of the same pages.

    python bench/textlayer.py [PDF...] [--pages 250] [--ocr-pages 10] [--engine auto]

The PDFs (without any, the project's own invoice) are repeated to one of --pages pages. Both go
through the service with two workers in one run. Prints JSON.
"""

import argparse
import io
import json
import time
from pathlib import Path

import pypdf
from serving import serving
from visualproof import Client

OWN = Path(__file__).parent.parent / "examples" / "invoice" / "invoice.pdf"


def repeated(files: list[Path], count: int) -> bytes:
    """One PDF of `count` pages out of the files' pages, in turns."""
    pages = [page for file in files for page in pypdf.PdfReader(file).pages]
    writer = pypdf.PdfWriter()
    for number in range(count):
        writer.add_page(pages[number % len(pages)])
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[OWN])
    parser.add_argument("--pages", type=int, default=250)
    parser.add_argument("--ocr-pages", type=int, default=10)
    parser.add_argument("--engine", default="auto")
    args = parser.parse_args()
    document = repeated(args.files, args.pages)
    flags = ("--engine", args.engine, "--workers", "2", "--max-upload-mb", "500")
    with serving(*flags) as (target, _), Client(target) as client:
        client.ingest(repeated(args.files, 2))
        start = time.perf_counter()
        client.ingest(document, last_page=args.ocr_pages)
        ocr = args.ocr_pages / (time.perf_counter() - start) * 60
        start = time.perf_counter()
        read = client.ingest(document, text_layer=True)
        layer = args.pages / (time.perf_counter() - start) * 60
        words = sum(len(b.text.split()) for b in client.blocks(read) if b.marker)
    print(json.dumps({
        "engine": args.engine, "pages": args.pages, "words": words, "ocr_pages_a_minute": round(ocr, 1),
        "layer_pages_a_minute": round(layer, 1), "times": round(layer / ocr, 1),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
