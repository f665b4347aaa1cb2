"""What is read of the sample pages changes with a new reader version only: ids and answers hang on it.

Rewrite the golden file with VISUALPROOF_UPDATE_GOLDEN=1 after raising reader.LAYOUT_VERSION.
"""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE, WORKER_OPTIONS
from proving.pages import OPTIONS
from visualproof_server.model import codec
from visualproof_server.model.document import TextLayer
from visualproof_server.reading import reader
from visualproof_server.reading.children import ProgramLimits
from visualproof_server.reading.source import PageLimits
from visualproof_server.worker.engines import engines

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "golden" / "blocks.json"
UPDATE = bool(os.environ.get("VISUALPROOF_UPDATE_GOLDEN"))
# File, engine, whether the text layer is read.
SAMPLES = {
    "scan by Tesseract": ("scan.jpg", "tesseract", False),
    "scan by RapidOCR": ("scan.jpg", "rapidocr", False),
    "PDF by both": ("invoice.pdf", "auto", False),
    "PDF by its text layer": ("invoice.pdf", "tesseract", True),
}


def read(sample: str) -> dict[str, Any]:
    """The words in order, for people; a digest of all, with places and tables, for the test."""
    file, engine, layer = SAMPLES[sample]
    limits = PageLimits(
        WORKER_OPTIONS["page_pixels"],  # type: ignore[arg-type]
        WORKER_OPTIONS["page_side"],  # type: ignore[arg-type]
        ProgramLimits(30, 20, 1024),
    )
    options = replace(
        OPTIONS, dpi=150, engine=engine,
        text_layer=TextLayer.VISIBLE if layer else TextLayer.IGNORED,
    )  # fmt: skip
    page = reader.read_page(EXAMPLE / file, 1, options, limits, engines()[engine]).page
    lines = [line.text for line in page.lines]
    tables = [[cell.text for cell in table.cells] for table in page.tables]
    digest = hashlib.sha256(codec.dumps(page)).hexdigest()
    return {"lines": lines, "tables": tables, "sha256": digest}


def versions() -> tuple[str, str]:
    """(ours, the libraries' and programs')."""
    ours, _, theirs = reader.reader_version(engines()).partition(" ")
    return ours, theirs


@pytest.mark.parametrize("sample", SAMPLES)
def test_blocks_change_with_the_version_only(sample: str) -> None:
    ours, theirs = versions()
    if UPDATE:
        FILE.parent.mkdir(exist_ok=True)
        kept = json.loads(FILE.read_text()) if FILE.exists() else {}
        kept |= {"reader": ours, "with": theirs, sample: read(sample)}
        FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        return
    kept = json.loads(FILE.read_text())
    assert kept["reader"] == ours, "a new version: rewrite the golden file"
    if kept["with"] != theirs:
        pytest.skip(f"read with other programs than here: {kept['with']}")
    assert read(sample) == kept[sample], "blocks changed: raise LAYOUT_VERSION, rewrite the file"


def test_blocks_are_not_being_rewritten() -> None:
    assert not UPDATE, "unset VISUALPROOF_UPDATE_GOLDEN"
