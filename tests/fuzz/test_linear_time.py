"""No text of the contract or of a file costs more than linear time: 20 times the text, at most 30
times the time, whatever the text is made of."""

import json
import time
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from documents.hostile_readings import ethos, textract
from proving.pages import printed
from visualproof._terminal import harmless
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof_server.evidence import hocr as hocr_out
from visualproof_server.evidence import textract as textract_out
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.passwords import spellings
from visualproof_server.model.report import (
    Action,
    Evidence,
    FieldResult,
    FieldSpec,
    Method,
    Outcome,
    Relation,
    RelationResult,
    Report,
    Status,
)
from visualproof_server.model.request import ProveRequest
from visualproof_server.prompting import schema
from visualproof_server.prompting.disguise import defuse
from visualproof_server.prompting.render import MarkerStyle, render
from visualproof_server.proving.answer import parse_answer
from visualproof_server.proving.decide.prose import check_prose
from visualproof_server.proving.decide.relations import derive, recompute
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.prove import prove
from visualproof_server.reading.imported.ethos import EthosReading
from visualproof_server.reading.imported.hocr import HocrReading
from visualproof_server.reading.imported.textract import TextractReading
from visualproof_server.reading.pages import label_of
from visualproof_server.reading.tesseract import parse_tsv
from visualproof_server.rpc import limits, listing

from fuzz.shapes import PIECES, text_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MORE, MOST = 20, 30
# Less than this is noise (s).
FLOOR = 0.01
INDEX = Index(printed(["Total due 16,020.00 on 15 October 2026", "Name Acme Ltd"]))
VALUES: dict[str, Any] = {
    "text": "Acme Ltd", "quote": "Acme Ltd", "number": 16, "money": "16,020.00 EUR", "percent": "5%",
    "quantity": "5 kg", "date": "2026-01-01", "time": "12:30", "datetime": "2026-01-01 12:30",
    "identifier": "AB-12", "phone": "+49 30 1234", "email": "a@b.cd", "url": "http://a.b/c", "boolean": True,
    "choice": "yes",
}  # fmt: skip


def answered(index: Index, answer: Any, *fields: FieldSpec) -> Report:
    return prove(index, json.dumps(answer).encode(), ProveRequest(fields=fields), lambda _: {})


def answer(text: str) -> None:
    for data in (text, f'{{"a":"{text}', f'{{"a":{text}', f"[{text}]", f'{{"{text}":1}}'):
        refusing(parse_answer, data.encode("utf-8", "surrogatepass"))


def answer_parts(text: str) -> None:
    refusing(parse_answer, json.dumps({"a": {"value": text, "derivation": text}}).encode())
    refusing(parse_answer, json.dumps({text[:1000]: {text[:1000]: 1}}).encode())


def refusing(call: Callable[..., object], *args: object) -> None:
    try:
        call(*args)
    except VisualProofError:
        pass


def claims(text: str) -> None:
    proof = [
        {"type": "WORD", "line": 1, "value": text}, {"type": "QUOTE", "text": text},
        {"type": "CELL", "table": 1, "value": text},
    ]  # fmt: skip
    for kind in ("text", "quote", "number", "date", "identifier", "url", "boolean"):
        answered(INDEX, {"a": {"value": text, "proof": proof}}, FieldSpec("/a", kind=kind))
    answered(INDEX, {"a": text, "b": {"value": 5, "proof": proof}})


def values(text: str) -> None:
    for kind in KINDS.values():
        for locale in ("", "de-DE"):
            kind.parse(text, FieldSpec("/a", locale=locale), INDEX)


def page(text: str) -> None:
    """A line of it between others: claims of every kind, and nulls, are asked of the page."""
    index = Index(printed(["Total 5", text, "Name x"]))
    fields = [FieldSpec(f"/{k}", kind=k, labels=("Total", "Name")) for k in VALUES]
    items = [{"price": 1, "name": "x"}, {"price": 2, "name": "y"}]
    answered(index, {**VALUES, "due_date": None, "vat": None, "items": items}, *fields)


def page_of_lines(text: str) -> None:
    lines = [part for at in range(0, len(text), 60) if (part := text[at : at + 60].strip())]
    index = Index(printed(["Total 5", *lines, "Name x"]))
    answered(index, {"name": "Acme", "total": "5.00", "items": [{"price": 1}, {"price": 2}]})


def shown(text: str) -> None:
    document = printed(["Total 5", text])
    render(document, 0, 0, 0, MarkerStyle.LINE)
    defuse(f"<{text}")
    listing.blocks(document, pb.ListBlocksRequest())
    hocr_out.document(document, text)
    textract_out.document(document)


def schemas(text: str) -> None:
    spelled = json.dumps(text)
    for data in (
        text, f'{{"type":"object","properties":{{"a":{{"description":{spelled}}}}}}}',
        f'{{"type":"object","properties":{{"a":{{"$ref":{spelled}}}}}}}',
        f'{{"type":"object","properties":{{"a":{text}',
    ):  # fmt: skip
        refusing(schema.from_schema, data)


def fields(text: str) -> None:
    """Paths, labels and units: the contract has 1,000 characters of each."""
    spec = FieldSpec(
        "/" + text, kind="money", locale=text, currency=text, unit=text, labels=(text, "x" + text),
        row_label=text, column_label=text,
    )  # fmt: skip
    refusing(schema.from_fields, [spec])
    refusing(answered, INDEX, {text[:900]: 5, "total": {"a": 5}}, spec, FieldSpec("/*/" + text))


def expressions(text: str) -> None:
    """The contract has 500 characters; what is printed may be long."""
    derive("1+2", text, Decimal(3))
    derive(text[:500], "1 2 3", Decimal(3))
    recompute([Relation(text, ""), Relation(f"/a = {text[:400]}", text)], [], lambda _: None)


def prose(text: str) -> None:
    check_prose(text, [], True)


def prose_reports(text: str) -> None:
    place = Evidence(1, (), (), (), text, text, Method.EXACT, 1.0, None, False, False)
    results = [
        FieldResult("/a", json.dumps(text), "text", status, Action.RELEASE, (), (place,), text)
        for status in (Status.VERIFIED, Status.DERIVED)
    ]
    relation = RelationResult(text, Outcome.HOLDS, text, Action.RELEASE)
    report = Report("d", "", "", "", tuple(results), (relation,), Action.RELEASE)
    check_prose("It is 5.00 kg, or 12 on 1 May 2026.", [report], True)


def readings(text: str) -> None:
    TextractReading(json.loads(textract(text))).content(1, 1000, 1000)
    spans = [{"id": "s", "page": "p", "text": text, "bbox": [1, 1, 9, 9]}]
    EthosReading(json.loads(ethos(spans=spans))).content(1, 1000, 1000)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;")
    for body in (f"title='bbox 1 1 9 9'>{escaped}", f"title='bbox 1 1 9 9; {escaped}'>x", text):
        line = f"<span class='ocr_line' {body}</span>"
        data = f"<html><div class='ocr_page' title='bbox 0 0 99 99; {escaped}'>{line}".encode()
        try:
            HocrReading(data).content(1, 1000, 1000)
        except (ValueError, OverflowError):
            pass


def small_texts(text: str) -> None:
    """What is looked at once: labels of pages, passwords, tokens, the terminal, Tesseract's table."""
    label_of(text, 1)
    spellings(text[:256])
    harmless(text)
    list(parse_tsv(f"5\t1\t1\t1\t1\t1\t10\t10\t20\t20\t96\t{text}", 1.0, 2))
    list(parse_tsv(text, 1.0, 2))
    refusing(listing.pages, SimpleNamespace(pages=()), pb.ListPagesRequest(page_token=text[:100]))
    for method in limits.SERVICE.methods:
        refusing(limits.read, method.input_type, text.encode())


# Characters of the smaller text; the larger has 20 times as many.
TARGETS: dict[Callable[[str], None], int] = {
    answer: 1000, answer_parts: 400, claims: 120, values: 200, page: 80, page_of_lines: 100, shown: 150,
    schemas: 1000, fields: 45, expressions: 150, prose: 250, prose_reports: 80, readings: 300,
    small_texts: 500,
}  # fmt: skip


def seconds(target: Callable[[str], None], piece: str, size: int, tries: int) -> float:
    """CPU time of the best of some runs, each with a text of its own: none is known already."""
    best = float("inf")
    for attempt in range(tries):
        text = text_of(piece, size - 2) + f"{attempt}{size % 7}"
        started = time.process_time()
        target(text)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.__name__)
def test_twenty_times_the_text_takes_thirty_times_the_time_at_most(
    target: Callable[[str], None],
) -> None:
    size = TARGETS[target]
    target("a first call, which loads words and tables, 5.00 EUR on 1 May 2026")
    slow = {}
    for piece in PIECES:
        large = seconds(target, piece, MORE * size, 1)
        if large <= MOST * FLOOR:
            continue
        # A machine does other things, too: what is slow is so each time.
        for tries in (3, 5, 7):
            small = max(seconds(target, piece, size, tries), FLOOR)
            if large <= MOST * small:
                break
            large = min(large, seconds(target, piece, MORE * size, tries - 1))
        else:
            slow[piece] = (round(small, 4), round(large, 3))
    assert slow == {}
