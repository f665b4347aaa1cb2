"""The annotated PDF: a copy of the original with a highlight annotation on each frame."""

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pikepdf
from pikepdf import Array, Dictionary, Name, Stream, String

from visualproof_server.evidence.presentation import COLOURS, said, shown
from visualproof_server.model.document import Document, Page
from visualproof_server.model.geometry import Point, Quad, box_of, grown, moved_out
from visualproof_server.model.passwords import spellings
from visualproof_server.model.report import Action, FieldResult, Report

_PRINT = 4  # Annotation flag: printed with the page (ISO 32000-1, 12.5.3).
_AIR = 0.1  # Of a line's height, around it.
Transform = tuple[float, ...]


def annotated_pdf(
    original: Path | None,
    password: str,
    document: Document,
    report: Report,
    image_of: Callable[[int], bytes],
) -> bytes:
    """The PDF's bytes; the same input gives the same bytes.

    original is the PDF that was read, None for what was no PDF: the pages are then images, as
    image_of (page number -> JPEG, grey) gives them; so they are where the original cannot be
    opened to be copied, or has other pages than were read.
    """
    for spelled in spellings(password):
        if original is None:
            break
        try:
            with pikepdf.open(original, password=spelled) as pdf:
                last = max(p.number for p in document.pages)
                if len(pdf.pages) >= last:
                    return _annotated(pdf, document, report, lambda p: p.pdf_transform)
        except pikepdf.PasswordError:
            continue
        except (pikepdf.PdfError, ValueError, RuntimeError, TypeError):
            # Renderers mend more than qpdf does: show what was read.
            pass
        break
    with pikepdf.new() as pdf:
        for page in document.pages:
            _add_image(pdf, page, image_of)
        first = document.pages[0].number
        return _annotated(pdf, document, report, _of_image, first)


def _of_image(page: Page) -> Transform:
    return (page.width_pt, 0.0, 0.0, -page.height_pt, 0.0, page.height_pt)


def _add_image(pdf: pikepdf.Pdf, page: Page, image_of: Callable[[int], bytes]) -> None:
    width, height = max(page.width_pt, 3.0), max(page.height_pt, 3.0)
    made = pdf.add_blank_page(page_size=(width, height))
    if page.failure is not None or not page.pixels:
        return
    data = image_of(page.number)
    image = Stream(pdf, data)
    image.stream_dict = Dictionary(
        Type=Name.XObject, Subtype=Name.Image, Width=page.width, Height=page.height,
        ColorSpace=Name.DeviceGray, BitsPerComponent=8, Filter=Name.DCTDecode,
    )  # fmt: skip
    made.Resources = Dictionary(XObject=Dictionary(Im0=pdf.make_indirect(image)))
    made.Contents = Stream(pdf, f"q {width:.4f} 0 0 {height:.4f} 0 0 cm /Im0 Do Q".encode())


def _annotated(
    pdf: pikepdf.Pdf,
    document: Document,
    report: Report,
    transform_of: Callable[[Page], Transform],
    first: int = 1,
) -> bytes:
    for page in document.pages:
        transform = transform_of(page)
        if page.failure is not None or len(transform) != 6:
            continue
        target = pdf.pages[page.number - first]
        made = [
            pdf.make_indirect(_annotation(pdf, result, quad, page, transform, f"{number}.{part}"))
            for number, result in enumerate(report.results)
            for part, quad in enumerate(_quads(result, page.number))
        ]
        if made:
            # Pages may share one list, so the page gets its own.
            there = target.obj.get("/Annots")
            target.obj.Annots = Array([*(there if isinstance(there, Array) else ()), *made])
    out = io.BytesIO()
    # The id follows from the content; an encrypted original's copy is not encrypted.
    pdf.save(out, deterministic_id=True, encryption=False)
    return out.getvalue()


def _quads(result: FieldResult, number: int) -> Iterator[Quad]:
    for evidence in shown(result):
        if evidence.page == number:
            yield from evidence.quads


def _annotation(
    pdf: pikepdf.Pdf, result: FieldResult, quad: Quad, page: Page, transform: Transform, name: str
) -> Dictionary:
    corners = [
        _mapped(transform, x / page.width, y / page.height)
        for x, y in grown(quad, _AIR * box_of(quad).height)
    ]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    rect = [min(xs), min(ys), max(xs), max(ys)]
    red, green, blue = (round(c / 255, 4) for c in COLOURS[result.action])
    top_left, top_right, bottom_right, bottom_left = corners
    # Upper corners first, then lower ones, each from the left: as viewers take it.
    order = (top_left, top_right, bottom_left, bottom_right)
    return Dictionary(
        Type=Name.Annot,
        Subtype=Name.Highlight,
        Rect=Array([round(v, 4) for v in rect]),
        QuadPoints=Array([round(v, 4) for point in order for v in point]),
        C=Array([red, green, blue]),
        CA=0.35,
        F=_PRINT,
        NM=String(f"visualproof-{name}"),
        T=String("visualproof"),
        Subj=String(f"{result.status.name} {result.path}"),
        Contents=String(said(result)),
        AP=Dictionary(N=_appearance(pdf, corners, rect, result.action)),
    )


def _mapped(transform: Transform, u: float, v: float) -> Point:
    a, b, c, d, e, f = transform
    return a * u + c * v + e, b * u + d * v + f


def _appearance(
    pdf: pikepdf.Pdf, corners: list[Point], rect: list[float], action: Action
) -> Stream:
    """Colour through which the words stay readable, and a border in the action's style."""
    red, green, blue = (c / 255 for c in COLOURS[action])
    line = 0.07 * min(math.dist(corners[0], corners[1]), math.dist(corners[0], corners[3]))
    dash = f"[{4 * line:.4f} {3 * line:.4f}] 0 d" if action is Action.REVIEW else ""
    draw = [
        f"/Soft gs {red:.4f} {green:.4f} {blue:.4f} rg",
        f"{_path(corners, 0)} f",
        f"/Full gs {red:.4f} {green:.4f} {blue:.4f} RG {line:.4f} w {dash}",
        f"{_path(corners, line / 2)} S",
    ]
    if action is Action.BLOCK:
        # A second line within the first: told apart without colour.
        draw.append(f"{line / 2:.4f} w {_path(corners, 2.2 * line)} S")
    form = Stream(pdf, "\n".join(draw).encode())
    form.stream_dict = Dictionary(
        Type=Name.XObject,
        Subtype=Name.Form,
        BBox=Array([round(v, 4) for v in rect]),
        Group=Dictionary(S=Name.Transparency),
        Resources=Dictionary(
            ExtGState=Dictionary(Soft=Dictionary(BM=Name.Multiply, ca=0.2), Full=Dictionary(CA=1.0))
        ),
    )
    return form


def _path(corners: list[Point], inset: float) -> str:
    """A closed path along the corners, `inset` within."""
    a, b, c, d = (f"{x:.4f} {y:.4f}" for x, y in moved_out(corners, -inset))
    return f"{a} m {b} l {c} l {d} l h"
