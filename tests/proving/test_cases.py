"""The cases of ../shared/cases over stored blocks; skipped where they are not there."""

import json
import runpy
from typing import Any

import pytest
from conftest import SHARED
from visualproof_server.model.document import Document, Page, Source
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldResult, FieldSpec, Relation
from visualproof_server.model.request import ProveRequest
from visualproof_server.proving.decide.prose import check_prose
from visualproof_server.proving.prove import Index, prove
from visualproof_server.reading.imported.textract import TextractReading

from proving.pages import OPTIONS, printed


def cases(name: str) -> list[dict[str, Any]]:
    file = SHARED / "cases" / name
    return json.loads(file.read_text()) if file.exists() else []


# How the cases' texts are laid out, and what is asked of them.
REPLAY = SHARED / "eval" / "cases.py"
SHAPES = runpy.run_path(str(REPLAY)) if REPLAY.exists() else {}
SCRIPTS = [c for c in cases("scripts.json") if "pages" in c and SHAPES["asks_refusal"](c)]


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


@pytest.mark.parametrize("case", cases("proving.json"), ids=lambda c: c["id"])
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


def laid_out(case: dict[str, Any]) -> Document:
    """The pages of a case as another reader's output, without pixels."""
    reading = TextractReading(SHAPES["textract"](case))
    pages = []
    for number in reading.numbers():
        content = reading.content(number, 1700, 2200)
        page = Page(number, str(number), 1700, 2200, 612, 792, 0, 200, Source.IMPORTED,
                    content.lines, content.tables, pixels=False)  # fmt: skip
        pages.append(page)
    return number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, tuple(pages))


@pytest.mark.parametrize("case", [*cases("meaning.json"), *SCRIPTS], ids=lambda c: c["id"])
def test_a_case_of_meaning(case: dict[str, Any]) -> None:
    specs = case.get("fields", [])
    fields = tuple(FieldSpec(**{**f, "labels": tuple(f.get("labels", ()))}) for f in specs)
    request = ProveRequest(fields, tuple(Relation(r) for r in case.get("relations", [])))
    answer = json.dumps(case["answer"]).encode()
    report = prove(Index(laid_out(case)), answer, request, lambda *_: {})
    if "prose" in case:
        made = check_prose(case["prose"], [report], False)
        assert made.safe is case["expect"]["prose"]["safe"]
        return
    status = {r.path: r.status.name for r in report.results} | {"report": report.action.name}
    outcome = {f"rel {r.expression}": r.outcome.name for r in report.relations}
    for name, want in case["expect"].items():
        if name.startswith("rel "):
            assert (outcome[name] == "HOLDS") is ("not_outcome" not in want)
        else:
            assert SHAPES["wrong"](want, status[name]) in (None, "")
