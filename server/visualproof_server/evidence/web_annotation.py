"""A report as W3C Web Annotations (https://www.w3.org/TR/annotation-model/), JSON-LD."""

import json
from typing import Any

from visualproof_server.evidence.presentation import said, shown
from visualproof_server.model.document import Document, Page
from visualproof_server.model.geometry import Box
from visualproof_server.model.report import Evidence, FieldResult, Report

_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
# A page of a file (RFC 8118), and a part of it in per cent (Media Fragments URI 1.0).
_PAGE = "http://tools.ietf.org/rfc/rfc3778"
_PART = "http://www.w3.org/TR/media-frags/"


def annotations(document: Document, report: Report) -> bytes:
    """One annotation a value, with a target for each frame; values printed nowhere have the
    document as target."""
    source = f"urn:sha256:{document.source_sha256}"
    items = [
        _annotation(document, source, result, number)
        for number, result in enumerate(report.results)
    ]
    page = {
        "@context": _CONTEXT,
        "id": f"urn:visualproof:{document.document_id}",
        "type": "AnnotationPage",
        "items": items,
    }
    return json.dumps(page, ensure_ascii=False, indent=1).encode() + b"\n"


def _annotation(
    document: Document, source: str, result: FieldResult, number: int
) -> dict[str, Any]:
    targets: list[Any] = [
        _target(source, evidence, page, box)
        for evidence in shown(result)
        if (page := document.page(evidence.page)) is not None
        for box in evidence.boxes
    ]
    return {
        "id": f"urn:visualproof:{document.document_id}:{number}",
        "type": "Annotation",
        "motivation": "assessing",
        "body": [
            {"type": "TextualBody", "purpose": "identifying", "value": result.path},
            {"type": "TextualBody", "purpose": "tagging", "value": result.status.name},
            {"type": "TextualBody", "purpose": "tagging", "value": result.action.name},
            {
                "type": "TextualBody",
                "purpose": "describing",
                "format": "text/plain",
                "value": said(result),
            },
        ],
        "target": targets or [source],
    }


def _target(source: str, evidence: Evidence, page: Page, box: Box) -> dict[str, Any]:
    part = ",".join(
        f"{value:.4f}"
        for value in (
            100 * box.left / page.width,
            100 * box.top / page.height,
            100 * box.width / page.width,
            100 * box.height / page.height,
        )
    )
    return {
        "source": source,
        "selector": [
            {
                "type": "FragmentSelector",
                "conformsTo": _PAGE,
                "value": f"page={evidence.page}",
                "refinedBy": {
                    "type": "FragmentSelector",
                    "conformsTo": _PART,
                    "value": f"xywh=percent:{part}",
                },
            },
            {"type": "TextQuoteSelector", "exact": evidence.text},
        ],
    }
