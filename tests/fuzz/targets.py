"""Readers of text that anybody may write: each takes bytes and breaks a promise only by raising.

Run by hypothesis in the tests, and by atheris as long as one likes: bench/fuzzing.py.
"""

import json
import re
import tempfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from documents import hostile_readings as readings
from proving.pages import printed
from visualproof_server.model.document import Source
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import FieldSpec, Outcome, Relation
from visualproof_server.prompting import schema
from visualproof_server.prompting.render import MarkerStyle, render
from visualproof_server.proving.answer import MAX_DEPTH, MAX_FIELDS, MAX_PROOFS, parse_answer
from visualproof_server.proving.decide.relations import derive, recompute
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.numbers import scan_numbers
from visualproof_server.reading.imported.page import content_of, plan_sheet
from visualproof_server.reading.pages import MAX_LABEL, MAX_WORD, label_of, page_of
from visualproof_server.reading.source import PageLimits
from visualproof_server.reading.tesseract import parse_tsv
from visualproof_server.storing.disk import checked


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def answers(data: bytes) -> None:
    """An answer is claims within limits, or one of two codes."""
    try:
        claims = parse_answer(data)
    except VisualProofError as error:
        assert error.code in ("ANSWER_NOT_JSON", "ANSWER_TOO_LARGE")
        return
    assert len(claims) <= MAX_FIELDS
    for claim in claims:
        assert len(claim.proofs) <= MAX_PROOFS
        assert claim.path.count("/") <= MAX_DEPTH + 1


def markers(data: bytes) -> None:
    """What is rendered reads back: a marker opens each line, with its number, and none is forged."""
    lines = [" ".join(t.split()) for t in text_of(data).split("\n")[:20]]
    document = printed(lines)
    shown = render(document, 0, 0, 0, MarkerStyle.LINE).text.split("\n")
    found = [(int(m[1]), m[2]) for row in shown if (m := re.fullmatch(r"<LINE (\d+)>(.*)", row))]
    assert [n for n, _ in found] == [block.number for block in document.lines]
    assert len(found) + len(document.pages) == len(shown)
    for _, text in found:
        assert not re.search(r"<\s*/?\s*(?:LINE|TABLE|PAGE|[LTP])\s*\d+\s*>", text, re.I)


def tsv(data: bytes) -> None:
    """Words within their image, whatever a broken Tesseract prints."""
    for image in parse_tsv(text_of(data), 1.0, 2):
        for word in image:
            assert word.text
            assert 0.0 <= word.confidence <= 1.0


def ids(data: bytes) -> None:
    """An id or blob name is one folder or file down, or it is refused."""
    text = text_of(data)
    document, _, name = text.partition("/")
    try:
        path = checked(document, name or None)
    except (VisualProofError, ValueError):
        return
    assert not path.is_absolute()
    assert ".." not in path.parts
    assert len(path.parts) <= 2


def numbers(data: bytes) -> None:
    """Each number lies where it says, and none costs more than its length."""
    text = plain(text_of(data))[:2000]
    for read in scan_numbers(text):
        assert 0 <= read.start < read.end <= len(text)
        assert read.readings
    for name in ("number", "money", "percent", "quantity"):
        KINDS[name].parse(text[:200], FieldSpec("/a"), INDEX)


def dates(data: bytes) -> None:
    """Any text is a date or none, in any locale."""
    text = text_of(data)[:500]
    for locale in ("", "en-US", "de-DE", "fa-IR"):
        KINDS["date"].parse(text, FieldSpec("/a", locale=locale), INDEX)
    Index(printed([" ".join(text.split())]))


def schemas(data: bytes) -> None:
    """A schema is doubled into JSON of bounded size, or refused."""
    try:
        made = schema.from_schema(text_of(data))
    except VisualProofError as error:
        assert error.code == "SCHEMA_INVALID"
        return
    assert isinstance(json.loads(made), dict)
    made.encode()


def expressions(data: bytes) -> None:
    """An expression over nothing printed derives nothing; a relation over nothing never holds by it."""
    text = text_of(data)
    assert derive(text, "nothing", Decimal(1))[0].startswith("DERIVATION_")
    (made,) = recompute([Relation(f"/a = {text}", text)], [], lambda _: None)
    assert made.outcome is Outcome.UNDEFINED


def labels(data: bytes) -> None:
    """A label is short, on one line, and text."""
    label = label_of(text_of(data), 3)
    assert 0 < len(label) <= MAX_LABEL
    assert not {"\n", "\r", "\x1b", "\0"} & set(label)


def imports(data: bytes) -> None:
    """Another reader's output is a page within limits, or refused."""
    text = text_of(data)
    for body in (
        data, readings.textract(text), readings.ethos(spans=[{"page": "p", "text": text, "bbox": [1, 1, 9, 9]}]),
        readings.hocr(text), readings.cell_at(text, text), readings.table(RowIndex=len(text), RowSpan=text),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "reading"
            file.write_bytes(body)
            try:
                plan = plan_sheet(file, 1, PageLimits())
                content = content_of(file, plan)
                page = page_of(plan, Source.IMPORTED, content.lines, content.tables)
            except VisualProofError as error:
                assert error.code in ("READING_INVALID", "PAGE_TOO_LARGE", "PAGE_TOO_SMALL")
                continue
        for word in page.words:
            assert len(word.text) <= MAX_WORD
            word.text.encode()


INDEX = Index(printed(["Total due 16,020.00 on 15 October 2026"]))
TARGETS: dict[str, Callable[[bytes], None]] = {
    "answers": answers, "markers": markers, "tsv": tsv, "ids": ids, "numbers": numbers,
    "dates": dates, "schemas": schemas, "expressions": expressions, "labels": labels,
    "imports": imports,
}  # fmt: skip
