"""Proven values as citations for the Ethos verifier (ethos-pdf 0.6, `ethos verify --citations`).

Ids are those of the blocks (`P2`, `L19`, `T3`); rows and columns count from 0, as there.
"""

import json
import re
from typing import Any

from visualproof_server.model.document import Document
from visualproof_server.model.report import Evidence, Report, Status

_CELL = re.compile(r"(T\d+)\.R(\d+)C(\d+)")


def citations(document: Document, report: Report) -> bytes:
    """One claim for each printed place of a value that is VERIFIED; other values cite nothing."""
    claims = [
        _claim(evidence)
        for result in report.results
        if result.status is Status.VERIFIED
        for evidence in result.evidence
    ]
    body = {"document_fingerprint": f"sha256:{document.source_sha256}", "claims": claims}
    return json.dumps(body, ensure_ascii=False, indent=1).encode() + b"\n"


def _claim(evidence: Evidence) -> dict[str, Any]:
    first = evidence.block_ids[0]
    page = f"P{evidence.page}"
    cell = _CELL.match(first)
    if cell is not None:
        place = {"row": int(cell[2]) - 1, "col": int(cell[3]) - 1}
        where: dict[str, Any] = {"page": page, "table_id": cell[1], "cell": place}
        return {"kind": "table_cell", "text": evidence.text, "citation": where}
    lines = {block_id.partition(".")[0] for block_id in evidence.block_ids}
    where = {"page": page}
    if len(lines) == 1:
        where["element_id"] = lines.pop()
    return {"kind": "quote", "text": evidence.text, "citation": where}
