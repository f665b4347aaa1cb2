"""Claims asked of printed documents, in one line."""

import json
from collections.abc import Callable
from typing import Any

from visualproof_server.model.document import Document
from visualproof_server.model.report import (
    FieldResult,
    FieldSpec,
    Report,
)
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.second_reading import Reading, SecondReader
from visualproof_server.proving.prove import Index, prove

from proving.pages import printed

Words = list[tuple[str, float]]
LookAgain = Callable[..., list[Words]]
"""Readings of any place, each by an engine of its own: the first at once, the others if asked."""


def second_reader(look: LookAgain) -> SecondReader:
    return lambda places: {
        place: tuple(
            Reading(f"engine {number}", tuple(words))
            for number, words in enumerate(look())
            if (number > 0) == (place.attempt > 0)
        )
        for place in places
    }


def report_of(
    document: Document,
    answer: Any,
    *fields: FieldSpec,
    look: LookAgain = lambda *_: [],
    **request: Any,
) -> Report:
    wanted = ProveRequest(fields=fields, **request)
    return prove(Index(document), json.dumps(answer).encode(), wanted, second_reader(look))


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
