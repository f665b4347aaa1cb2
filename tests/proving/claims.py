"""Claims asked of printed documents, in one line."""

import json
from typing import Any

from visualproof_server.model.document import Document
from visualproof_server.model.report import (
    FieldResult,
    FieldSpec,
    Report,
)
from visualproof_server.proving.prove import Index, LookAgain, prove
from visualproof_server.proving.request import ProveRequest

from proving.pages import printed


def report_of(
    document: Document,
    answer: Any,
    *fields: FieldSpec,
    look: LookAgain = lambda *_: [],
    **request: Any,
) -> Report:
    wanted = ProveRequest(fields=fields, **request)
    return prove(Index(document), json.dumps(answer).encode(), wanted, look)


def result_of(
    lines: list[str],
    value: Any,
    proof: Any = None,
    confidence: float | None = 0.97,
    look: LookAgain = lambda *_: [],
    **spec: Any,
) -> FieldResult:
    answer = {"a": {"value": value, "proof": proof} if proof is not None else value}
    document = printed(lines, confidence=confidence)
    return report_of(document, answer, FieldSpec("/a", **spec), look=look).results[0]


def word(line: int, text: str) -> list[dict[str, Any]]:
    return [{"type": "WORD", "line": line, "value": text}]


def codes(result: FieldResult) -> list[str]:
    return [r.code for r in result.reasons]
