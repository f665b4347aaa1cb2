"""Pages a minute of a digital PDF by its proven text layer, beside OCR of the same pages.

    python bench/textlayer.py [PDF...] [--pages 250] [--ocr-pages 10] [--engine auto]

The PDFs (without any, a page of text made here) are repeated to one of --pages pages. Both go
through the service with two workers in one run. Prints JSON.
"""

import argparse
import io
import json
import logging
import time
from pathlib import Path

import pypdf
from serving import serving
from visualproof import Client

LINE = "In line {} of page {} the quick brown fox jumps over {} lazy dogs for {}.50 a piece"


def own() -> bytes:
    """One A4 page of 50 lines of text, Helvetica 10."""
    text = "".join(
        f"BT /F1 10 Tf 60 {780 - 14 * n} Td ({LINE.format(n, 1, 3 * n, 7 * n)}) Tj ET\n"
        for n in range(50)
    ).encode()
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(text), text),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(b"%010d 00000 n \n" % len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"xref\n0 6\n0000000000 65535 f \n" + b"".join(places)
    return out + table + b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n%d\n%%%%EOF" % len(out)


def repeated(files: list[Path], count: int) -> bytes:
    """One PDF of `count` pages out of the files' pages, in turns."""
    sources: list[Path | io.BytesIO] = [*files] or [io.BytesIO(own())]
    pages = [page for source in sources for page in pypdf.PdfReader(source).pages]
    writer = pypdf.PdfWriter()
    for number in range(count):
        writer.add_page(pages[number % len(pages)])
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--pages", type=int, default=250)
    parser.add_argument("--ocr-pages", type=int, default=10)
    parser.add_argument("--engine", default="auto")
    args = parser.parse_args()
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
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
