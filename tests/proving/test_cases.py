"""The cases of ../shared/cases over stored blocks; skipped where they are not there."""

import json
from typing import Any

import pytest
from conftest import SHARED
from visualproof_server.model.report import FieldResult, FieldSpec, Relation
from visualproof_server.model.request import ProveRequest
from visualproof_server.proving.prove import Index, prove

from proving.pages import printed

FILE = SHARED / "cases" / "proving.json"
CASES = json.loads(FILE.read_text()) if FILE.exists() else []


def check(result: FieldResult, want: dict[str, Any]) -> None:
    allowed = want["status"] if isinstance(want["status"], list) else [want["status"]]
    assert result.status.name in allowed
    if "reason" in want:
        assert want["reason"] in [r.code for r in result.reasons]
    if "printed_text" in want:
        assert result.printed_text == want["printed_text"]
    if "evidence_text" in want:
        assert result.evidence[0].text == want["evidence_text"]
    if "line" in want:
        assert result.evidence[0].block_ids[0].startswith(f"L{want['line']}.")
    if "page" in want:
        assert result.evidence[0].page == want["page"]
    if "boxes" in want:
        assert sum(len(e.boxes) for e in result.evidence) == want["boxes"]
    if "candidates" in want:
        assert len(result.candidates) == want["candidates"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_case(case: dict[str, Any]) -> None:
    fields = tuple(FieldSpec(**{**f, "labels": tuple(f.get("labels", ()))}) for f in case["fields"])
    request = ProveRequest(fields, tuple(Relation(r) for r in case["relations"]))
    report = prove(
        Index(printed(*case["pages"])), json.dumps(case["answer"]).encode(), request, lambda *_: {}
    )
    results = {r.path: r for r in report.results}
    for path, want in case["expect"].items():
        if path == "relations":
            assert [r.outcome.name for r in report.relations] == want
        else:
            check(results[path], want)
