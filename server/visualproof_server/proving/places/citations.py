"""Proofs resolved: which printed words each one points at."""

from dataclasses import dataclass

from visualproof_server.model.answer import Claim, Proof
from visualproof_server.model.geometry import Box
from visualproof_server.model.report import Reason
from visualproof_server.model.request import ShownPages
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Words that a proof points at.

    words: what the value must touch. strict: the value must lie wholly inside (a quote, cell or
    region), rather than begin in it and run on. printed: the proof's own text where it is printed
    exactly. nearest: the most similar run where it is not.
    """

    proof: Proof
    words: frozenset[int]
    rows: tuple[int, ...]
    strict: bool
    printed: Run | None = None
    nearest: Run | None = None


def resolve(
    claim: Claim, index: Index, shown: tuple[ShownPages, ...]
) -> tuple[list[CitedSpan], list[Reason]]:
    """Areas of the proofs that are valid, and a reason for each that is not."""
    areas: list[CitedSpan] = []
    reasons: list[Reason] = []
    if claim.malformed:
        reasons.append(
            Reason("PROOF_MALFORMED", f"{claim.malformed} of its proofs have not the right shape.")
        )
    for proof in claim.proofs:
        found = _RESOLVERS[proof.form](proof, index)
        if isinstance(found, Reason):
            reasons.append(found)
        elif shown and not all(_is_shown(index.rows[r].page, shown) for r in found.rows):
            reasons.append(
                Reason("PROOF_NOT_SHOWN", f"A {proof.form} proof cites a page not shown before.")
            )
        else:
            areas.append(found)
    return areas, reasons


def _is_shown(page: int, shown: tuple[ShownPages, ...]) -> bool:
    return any(s.first <= page <= s.last for s in shown)


def _line(proof: Proof, index: Index) -> CitedSpan | Reason:
    row_number = index.row_by_line.get(proof.id or 0)
    if row_number is None:
        return Reason("PROOF_ID_UNKNOWN", f"There is no line {proof.id}.")
    row = index.rows[row_number]
    words = frozenset(range(row.start, row.end))
    if not proof.text:
        return CitedSpan(proof, words, (row_number,), False)
    touching = [r for r in locate.exact(proof.text, index) if words & set(r.words)]
    if touching:
        best = min(touching, key=lambda r: len(r.words))
        return CitedSpan(proof, words, (row_number,), False, printed=best)
    near = locate.nearest(proof.text, index, [row_number])
    run = near.run if near is not None and words & set(near.run.words) else None
    return CitedSpan(proof, words, (row_number,), False, nearest=run)


def _quote(proof: Proof, index: Index) -> CitedSpan | Reason:
    if proof.page is not None and index.page(proof.page) is None:
        return Reason("PAGE_OUT_OF_RANGE", f"The document has no page {proof.page}.")
    text = proof.text or ""
    runs = locate.exact(text, index)
    if not runs:
        runs = _sentences(text, index)
    here = [r for r in runs if proof.page in (None, index.page_of(r.words[0]))]
    if here:
        words = frozenset(w for r in here for w in r.words)
        rows = tuple(sorted({index.row_of[w] for w in words}))
        return CitedSpan(proof, words, rows, True, printed=here[0])
    if runs:
        return Reason(
            "WRONG_PAGE",
            f"The quote is printed on page {index.page_of(runs[0].words[0])}, not {proof.page}.",
        )
    near = locate.nearest(text, index)
    if near is None or proof.page not in (None, index.page_of(near.run.words[0])):
        return Reason("PROOF_NOT_FOUND", "The quote is not printed.")
    rows = tuple(sorted({index.row_of[w] for w in near.run.words}))
    return CitedSpan(proof, frozenset(near.run.words), rows, True, nearest=near.run)


def _sentences(text: str, index: Index) -> list[Run]:
    """A quote that joins whole sentences of different places, each printed exactly."""
    parts = [p.strip() for p in text.replace("! ", ". ").replace("? ", ". ").split(". ")]
    parts = [p for p in parts if p]
    if not 2 <= len(parts) <= 10:
        return []
    words: list[int] = []
    texts: list[str] = []
    for part in parts:
        runs = locate.exact(part, index)
        if len(runs) != 1 or len(part.split()) < 3:
            return []
        words += runs[0].words
        texts.append(runs[0].text)
    return [Run(tuple(words), " … ".join(texts))]


def _table(proof: Proof, index: Index) -> CitedSpan | Reason:
    if not index.document.tables:
        return Reason("TABLES_NOT_READ", "No table was read in this document.")
    rows = tuple(n for n, row in enumerate(index.rows) if row.table == proof.id)
    if not rows:
        return Reason("PROOF_ID_UNKNOWN", f"There is no table {proof.id}.")
    return CitedSpan(proof, frozenset(index.table_words(proof.id or 0)), rows, True)


def _cell(proof: Proof, index: Index) -> CitedSpan | Reason:
    area = _table(proof, index)
    if isinstance(area, Reason):
        return area
    words = [
        word
        for word in sorted(area.words)
        if (cell := index.cells[word]) and cell.stands_at(proof.row, proof.column)
    ]
    if not words:
        parts = [t.table for t in index.document.tables if t.number == proof.id]
        if any(c.stands_at(proof.row, proof.column) for table in parts for c in table.cells):
            level = tuple(n for n in area.rows if index.rows[n].table_row == proof.row)
            return CitedSpan(proof, frozenset(), level, True)
        return Reason(
            "PROOF_ID_UNKNOWN", f"Table {proof.id} has no row {proof.row}, column {proof.column}."
        )
    rows = tuple(sorted({index.row_of[w] for w in words}))
    printed = None
    if proof.text:
        inside = [r for r in locate.exact(proof.text, index) if set(r.words) <= set(words)]
        printed = inside[0] if inside else None
    run = Run(tuple(words), " ".join(index.words[w].text for w in words))
    named = proof.row is not None and proof.column is not None
    return CitedSpan(proof, frozenset(words), rows, True, printed, run if named else None)


def _region(proof: Proof, index: Index) -> CitedSpan | Reason:
    page = index.page(proof.page or 0)
    if page is None or proof.box is None:
        return Reason("PAGE_OUT_OF_RANGE", f"The document has no page {proof.page}.")
    left, top, width, height = proof.box
    region = Box(
        round(left * page.width),
        round(top * page.height),
        round((left + width) * page.width),
        round((top + height) * page.height),
    )
    words = [
        w
        for n, row in enumerate(index.rows)
        if row.page == page.number
        for w in range(row.start, row.end)
        if _centre_in(index.words[w].box, region)
    ]
    if not words:
        return Reason("PROOF_NOT_FOUND", "Nothing is printed in the region.")
    rows = tuple(sorted({index.row_of[w] for w in words}))
    return CitedSpan(proof, frozenset(words), rows, True)


def _centre_in(box: Box, region: Box) -> bool:
    x = (box.left + box.right) / 2
    return region.left <= x <= region.right and region.top <= box.middle <= region.bottom


_RESOLVERS = {
    "WORD": _line,
    "LINE": _line,
    "QUOTE": _quote,
    "TABLE": _table,
    "CELL": _cell,
    "REGION": _region,
}
