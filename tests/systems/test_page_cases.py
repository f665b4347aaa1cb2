"""The drawn pages of ../shared/cases, read by the real service; skipped where they are not there."""

import json
import runpy
from pathlib import Path

import pytest
from conftest import SHARED
from visualproof import Client, VisualProofError

pytestmark = pytest.mark.slow

FILE, REPLAY = SHARED / "cases" / "pages.json", SHARED / "eval" / "cases.py"
# What still comes out green, misread alike by both engines at every size: codes of look-alike letters.
MISREAD = {"code-3-3", "code-4-3", "code-4-5"}
# Right values that are refused; a change may only lower it.
MOST_REFUSED = 9


@pytest.mark.timeout(1200)
@pytest.mark.skipif(not FILE.exists(), reason="the shared cases are not here")
def test_what_a_page_does_not_say_is_not_green(client: Client, tmp_path: Path) -> None:
    shapes = runpy.run_path(str(REPLAY))
    green: set[str] = set()
    refused: set[str] = set()
    for case in json.loads(FILE.read_text()):
        try:
            failures = shapes["replay"](client, case, FILE.parent, tmp_path)
        except VisualProofError as error:
            failures = [("error", str(error))]
        if failures:
            (green if shapes["asks_refusal"](case) else refused).add(case["id"])
    assert green - MISREAD == set()
    assert len(refused) <= MOST_REFUSED, refused
