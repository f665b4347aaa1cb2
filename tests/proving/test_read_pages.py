"""The cases of ../shared/cases on pages that both engines misread alike; skipped where not there."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED
from visualproof_server.model.document import ReadOptions, TextLayer
from visualproof_server.model.numbering import number_document
from visualproof_server.model.report import FieldSpec
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.second_reading import Place, Reading
from visualproof_server.proving.prove import Index, prove
from visualproof_server.reading.reader import decode, read_page
from visualproof_server.reading.second_reading import second_readings
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker.engines import engines

FILE = SHARED / "cases" / "pages.json"
PAGES = (
    "raised-price", "raised-cents", "raised-net", "superscripts", "receipt-shadow-straight",
    "marks-read-alike", "bounds-symbols", "comb-employer",
)  # fmt: skip
CASES: list[dict[str, Any]] = [
    case
    for case in (json.loads(FILE.read_text()) if FILE.exists() else [])
    if Path(case["file"]).stem in PAGES
]
OPTIONS = ReadOptions(("eng",), 300, 1, 1, "auto", False, TextLayer.IGNORED)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="needs both engines")
@pytest.mark.skipif(not CASES, reason="../shared is not there")
@pytest.mark.parametrize("page", PAGES)
def test_a_wrong_value_does_not_turn_green(page: str) -> None:
    installed = engines()
    mine = [case for case in CASES if Path(case["file"]).stem == page]
    read = read_page(FILE.parent / mine[0]["file"], 1, OPTIONS, PageLimits(), installed["auto"])
    image = decode(read.image)
    index = Index(number_document("d" * 16, "a" * 64, "reader/1", OPTIONS, (read.page,)))

    def second(places: Sequence[Place]) -> dict[Place, tuple[Reading, ...]]:
        return second_readings(image, places, ("eng",), installed)

    for case in mine:
        fields = tuple(
            FieldSpec(**{**f, "labels": tuple(f.get("labels", ()))}) for f in case["fields"]
        )
        answer = json.dumps(case["answer"]).encode()
        report = prove(index, answer, ProveRequest(fields), second)
        for result in report.results:
            refused = case["expect"][result.path].get("not", ())
            assert result.status.name not in refused, (case["id"], case["why"])
