"""Whether frames lie on the right words: on marked images, in the annotated PDF, on the page.

    python bench/frames.py FOLDER... [--engine auto] [--limit N]

FOLDER holds documents with a JSON beside each that says where its values are printed (`fields`,
`field_boxes`, `field_box_alternatives`, `field_box_pages`; pixels of `width` x `height`, or of
`pages`). Each value is asked for alone; of those that come out VERIFIED, each frame's area within
the true boxes (grown by 0.4% of the page) is measured on the pixels of what is exported, by
Chromium for the page. Prints JSON and a table.
"""

import argparse
import io
import json
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pikepdf
import pypdfium2
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page as Browsed
from playwright.sync_api import sync_playwright
from serving import serving
from visualproof import Client, Document, Report, Status

SIDE = 1600
GROWN = 0.004
Box = tuple[float, float, float, float]
Truth = dict[str, list[tuple[int, Box]]]


def truth_of(about: dict[str, Any]) -> Truth:
    """All places of each field: (page, left, top, right, bottom in fractions)."""
    pages = {p["page"]: (p["width"], p["height"]) for p in about.get("pages", [])}
    pages = pages or {1: (about["width"], about["height"])}
    out: Truth = {}
    for name, boxes in about.get("field_boxes", {}).items():
        numbers = about.get("field_box_pages", {}).get(name) or [1] * len(boxes)
        found = list(zip(numbers, boxes, strict=False))
        for other in about.get("field_box_alternatives", {}).get(name) or []:
            if isinstance(other, dict):
                found += [(other["page"], box) for box in other["boxes"]]
            else:
                found += [(1, box) for box in other]
        out[name] = [
            (number, (b[0] / w, b[1] / h, b[2] / w, b[3] / h))
            for number, b in found
            for w, h in [pages[number]]
        ]
    return out


def true_area(places: list[tuple[int, Box]], number: int, shape: tuple[int, ...]) -> NDArray[Any]:
    mask = np.zeros(shape[:2], bool)
    height, width = shape[:2]
    for page, (left, top, right, bottom) in places:
        if page == number:
            rows = slice(max(0, round((top - GROWN) * height)), round((bottom + GROWN) * height))
            columns = slice(max(0, round((left - GROWN) * width)), round((right + GROWN) * width))
            mask[rows, columns] = True
    return mask


def filled_frames(marked: NDArray[Any], plain: NDArray[Any]) -> NDArray[Any]:
    """What frames enclose: holes in what was drawn, larger than those in a tag's letters."""
    changed = (np.abs(marked.astype(int) - plain.astype(int)).max(2) > 40).astype(np.uint8)
    contours, levels = cv2.findContours(changed, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    out = np.zeros(changed.shape, np.uint8)
    holes = [c for c, level in zip(contours, levels[0], strict=True) if level[3] >= 0]
    largest = max((cv2.boundingRect(c)[3] for c in holes), default=0)
    for hole in holes:
        if cv2.boundingRect(hole)[3] > 0.6 * largest:
            cv2.drawContours(out, [hole], -1, 1, cv2.FILLED)
    return out > 0


class Tally:
    """Frame area, and how much of it lies within the true boxes, by set and medium."""

    def __init__(self) -> None:
        self.area: dict[tuple[str, str], float] = defaultdict(float)
        self.inside: dict[tuple[str, str], float] = defaultdict(float)
        self.frames: dict[tuple[str, str], int] = defaultdict(int)

    def add(self, name: str, medium: str, frame: NDArray[Any], true: NDArray[Any]) -> None:
        if frame.any():
            # Each value counts alike, whatever its size.
            self.area[name, medium] += 1.0
            self.inside[name, medium] += float((frame & true).sum() / frame.sum())
            self.frames[name, medium] += 1


def measure(
    client: Client, document: Document, truth: Truth, values: dict[str, str], name: str,
    tally: Tally, browser: Browsed, folder: Path,
) -> None:  # fmt: skip
    report = client.verify(document, values)
    proven = [r for r in report if r.status is Status.VERIFIED and r.evidence]
    plains: dict[int, NDArray[Any]] = {}
    made = client.export(document, values, to=folder / "a.html")
    browser.goto(made.path.as_uri())
    pdf = client.export(document, values, to=folder / "a.pdf").path.read_bytes()
    for result in proven:
        places = truth.get(result.path[1:]) or []
        numbers = {e.page_number for e in result.evidence}
        if not places or not numbers & {n for n, _ in places}:
            continue
        alone = Report(type(report.message)())
        alone.message.CopyFrom(report.message)
        del alone.message.results[:]
        alone.message.results.append(result.message)
        for number in numbers:
            if number not in plains:
                image = client.page_image(document, number, longest_side=SIDE, format="png")
                plains[number] = decoded(image.image)
            plain = plains[number]
            true = true_area(places, number, plain.shape)
            (picture,) = client.annotate(
                document, alone, pages=[number], longest_side=SIDE, format="png"
            )
            marked = decoded(picture.image)[: plain.shape[0], : plain.shape[1]]
            tally.add(name, "image", filled_frames(marked, plain), true)
            tally.add(name, "PDF", pdf_frames(pdf, result.path, number, plain.shape), true)
            tally.add(name, "page", page_frames(browser, result.path, number, plain.shape), true)


def decoded(data: bytes) -> NDArray[Any]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def pdf_frames(pdf: bytes, path: str, number: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """What pdfium colours for one value: its page drawn with that value's marks, and with none."""

    def drawn(keep: str) -> NDArray[Any]:
        out = io.BytesIO()
        with pikepdf.open(io.BytesIO(pdf)) as opened:
            page = opened.pages[number - 1].obj
            if "/Annots" in page:
                page.Annots = pikepdf.Array(
                    [
                        a
                        for a in page.Annots
                        if str(a.get("/T", "")) != "visualproof"
                        or str(a.get("/Subj", "")).partition(" ")[2] == keep
                    ]
                )
            opened.save(out)
        with pypdfium2.PdfDocument(out.getvalue()) as document:
            shown = document[number - 1]
            image = shown.render(scale=shape[1] / shown.get_size()[0]).to_pil()
        return np.asarray(image.convert("RGB").resize((shape[1], shape[0]))).astype(int)

    return np.asarray(np.abs(drawn(path) - drawn("")).max(2) > 12)


def page_frames(browser: Browsed, path: str, number: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """Where Chromium puts a value's frames, as parts of the page's picture."""
    browser.evaluate("(n) => showPage(n)", number)
    browser.wait_for_function(
        "() => { const i = document.getElementById('image'); return i.complete && i.naturalWidth; }"
    )
    found = browser.evaluate(
        """(path) => { const s = document.getElementById("image").getBoundingClientRect();
          return [...document.querySelectorAll("#frames polygon")].filter((n) => n.dataset.path === path)
            .map((n) => [...n.points].map((p) => { const q = p.matrixTransform(n.getScreenCTM());
              return [(q.x - s.left) / s.width, (q.y - s.top) / s.height]; })); }""",
        path,
    )
    mask = np.zeros(shape[:2], np.uint8)
    for quad in found:
        corners = [[round(x * shape[1]), round(y * shape[0])] for x, y in quad]
        cv2.fillConvexPoly(mask, np.array(corners, np.int32), 1)
    return mask > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--engine", default="")
    parser.add_argument("--limit", type=int, default=0, help="documents of each folder")
    args = parser.parse_args()
    tally = Tally()
    flags = ["--engine", args.engine] if args.engine else []
    with serving(*flags) as (target, _), Client(target) as client, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        browser = chromium.new_page(viewport={"width": 1400, "height": 900})
        with tempfile.TemporaryDirectory() as name:
            for folder in args.folders:
                for about in sorted(folder.glob("*.json"))[: args.limit or None]:
                    said = json.loads(about.read_text())
                    file = said.get("image") or said.get("pdf")
                    if not file or not said.get("field_boxes"):
                        continue
                    values = {k: v for k, v in said["fields"].items() if isinstance(v, str) and v}
                    measure(
                        client, client.ingest(folder / file), truth_of(said), values, folder.name,
                        tally, browser, Path(name),
                    )  # fmt: skip
        chromium.close()
    rows = {
        f"{name} {medium}": {
            "frames": tally.frames[name, medium],
            "inside": round(tally.inside[name, medium] / tally.area[name, medium], 4),
        }
        for name, medium in tally.area
    }
    print(json.dumps(rows))
    for row, figures in rows.items():
        print(f"{row:<28}{figures['frames']:>6}{figures['inside']:>9.1%}")


if __name__ == "__main__":
    main()
