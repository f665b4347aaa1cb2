"""The page for reviewers: one HTML file, results on the left, the document's page on the right.

Everything in it comes from hostile text. It is data, not markup: one JSON block that a script with
a known hash sets as text, under a Content-Security-Policy (CSP 3) that runs nothing else and loads
nothing from anywhere.
"""

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from visualproof_server.model.document import Document, Page, Warning
from visualproof_server.model.geometry import Quad
from visualproof_server.model.report import Evidence, Report

PICTURE_MEDIA = "image/webp"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the page says beside the report. title is for people, as the caller named the file."""

    title: str
    service_version: str
    report_sha256: str
    warnings: tuple[Warning, ...] = ()


def review_page(
    document: Document, report: Report, facts: PageFacts, pictures: Mapping[int, bytes]
) -> bytes:
    """The file; pictures are WebP by page number. The same input gives the same bytes."""
    css, script = _part("page.css"), _part("page.js") + _part("review.js")
    policy = (
        "default-src 'none'; img-src blob:; base-uri 'none'; form-action 'none';"
        f" style-src '{_hash(css)}'; script-src '{_hash(script)}'"
    )
    data = {
        "title": facts.title,
        "document_id": document.document_id,
        "source_sha256": document.source_sha256,
        "report_sha256": facts.report_sha256,
        "reader_version": document.reader_version,
        "rules_version": report.rules_version,
        "service_version": facts.service_version,
        "options": _options(document),
        "action": report.action.name.lower(),
        "warnings": [
            {"code": w.code, "message": w.message, "page": w.page_number} for w in facts.warnings
        ],
        "pages": [_page(page, page.number in pictures) for page in document.pages],
        "results": [
            {
                "path": r.path,
                "value": r.value_json,
                "kind": r.kind,
                "status": r.status.name,
                "action": r.action.name.lower(),
                "reasons": [{"code": n.code, "message": n.message} for n in r.reasons],
                "printed": r.printed_text,
                "evidence": _places(r.evidence, document),
                "candidates": _places(r.candidates, document),
                "nearest": next(iter(_places((r.nearest,), document)), None) if r.nearest else None,
            }
            for r in report.results
        ],
        "relations": [
            {
                "expression": r.expression,
                "outcome": r.outcome.name,
                "message": r.message,
                "action": r.action.name.lower(),
            }
            for r in report.relations
        ],
    }
    parts = {
        "@CSP@": policy,
        "@TITLE@": html.escape(facts.title or "Evidence"),
        "@CSS@": css,
        "@DATA@": _inert(data),
        "@JS@": script,
        "@PICTURES@": "\n".join(
            f'<script type="text/plain" id="picture-{n}" data-type="{PICTURE_MEDIA}">'
            f"{base64.b64encode(data).decode()}</script>"
            for n, data in sorted(pictures.items())
        ),
    }
    made: list[str] = []
    rest = _part("page.html")
    # One place after the other, so that what is put in is never searched for a place.
    for place, text in parts.items():
        before, found, rest = rest.partition(place)
        assert found
        made += [before, text]
    return "".join([*made, rest]).encode("utf-8", "replace")


def _page(page: Page, picture: bool) -> dict[str, Any]:
    return {
        "number": page.number,
        "label": page.label,
        "width": max(page.width, 1),
        "height": max(page.height, 1),
        "confidence": page.confidence,
        "picture": picture,
        "failure": f"could not be read ({page.failure.code})" if page.failure else "",
        "damaged": page.damaged,
    }


def _places(places: Iterable[Evidence], document: Document) -> list[dict[str, Any]]:
    return [
        {
            "page": e.page,
            "quads": [_fractions(q, page) for q in e.quads],
            "text": e.text,
            "context": e.context,
            "method": e.method.name,
            "confidence": e.confidence,
            "cited": e.cited,
            "coarse": e.coarse,
        }
        for e in places
        if (page := document.page(e.page)) is not None
    ]


def _fractions(quad: Quad, page: Page) -> list[list[float]]:
    return [[round(x / page.width, 6), round(y / page.height, 6)] for x, y in quad]


def _options(document: Document) -> str:
    options = document.options
    parts = [f"languages {'+'.join(options.languages)}", f"{options.dpi} dpi", options.engine]
    if options.tables_disabled:
        parts.append("without tables")
    return ", ".join(p for p in parts if p)


def _inert(data: object) -> str:
    """JSON that ends no script element and opens no comment, whatever its texts hold."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _part(name: str) -> str:
    return resources.files(__package__).joinpath("static", name).read_text(encoding="utf-8")
