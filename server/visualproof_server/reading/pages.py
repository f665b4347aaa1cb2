"""A page of the model, from the plan of its size and what stands on it: bounded, whoever read it."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from visualproof_server.model.document import Line, Page, Source, Table, Trust, Warning, Word
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import clipped, clipped_quad
from visualproof_server.reading.source import PagePlan

# Several times what the densest pages print.
MAX_WORDS = 50_000
MAX_CELLS = 20_000
MAX_CHARACTERS = 1_000_000
# A longer word is cut, and then proves nothing.
MAX_WORD = 1_000
MAX_LABEL = 64
# Places of a table's grid: the empty ones are made up of a few cells' numbers.
_FEW_PLACES, _PLACES_A_CELL = 1_000, 20
# What no page prints: controls, halves of surrogate pairs, what is no character.
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def page_of(
    plan: PagePlan, source: Source, lines: tuple[Line, ...], tables: tuple[Table, ...]
) -> Page:
    """Error READING_INVALID, or PAGE_TOO_LARGE for a page of ours, where it is more than a page has."""
    lines = tuple(Line(_clipped(line.words, plan), line.block) for line in lines)
    tables = tuple(_clipped_table(table, plan) for table in tables)
    why = _too_much(lines, tables)
    if why:
        code = "READING_INVALID" if source is Source.IMPORTED else "PAGE_TOO_LARGE"
        raise VisualProofError(code, f"Page {plan.number} {why}.")
    warnings = []
    if plan.lowered:
        text = f"Page {plan.number} is read at {plan.dpi:.0f} dpi to stay within the limits."
        warnings.append(Warning("DPI_LOWERED", text, plan.number))
    if any(t.doubtful for t in tables):
        text = f"Rows or columns of a table on page {plan.number} are doubtful; see to its cells."
        warnings.append(Warning("TABLE_DOUBTFUL", text, plan.number))
    if plan.damaged:
        text = f"Page {plan.number} may lack content: something of it cannot be decoded or drawn."
        warnings.append(Warning("PAGE_DAMAGED", text, plan.number))
    if plan.xfa:
        text = "The document is an XFA form, which its page does not show; print it to PDF first."
        warnings.append(Warning("XFA_FORM", text, plan.number))
    return Page(
        plan.number,
        label_of(plan.label, plan.number),
        plan.width,
        plan.height,
        plan.width_pt,
        plan.height_pt,
        plan.rotation,
        plan.dpi,
        source,
        lines,
        tables,
        plan.pdf_transform,
        tuple(warnings),
    )


def label_of(stated: str, number: int) -> str:
    """A page's label on one line, at most MAX_LABEL characters; its number where it states none."""
    label = " ".join(_NO_TEXT.sub(" ", stated[: 4 * MAX_LABEL]).split())
    if len(label) > MAX_LABEL or len(stated) > 4 * MAX_LABEL:
        label = label[: MAX_LABEL - 1] + "\u2026"
    return label or str(number)


def _too_much(lines: Sequence[Line], tables: Sequence[Table]) -> str:
    """What is more, or other, than a page can have; empty if nothing is."""
    cells = [cell for table in tables for cell in table.cells]
    words = [w for line in lines for w in line.words] + [w for cell in cells for w in cell.words]
    if len(words) > MAX_WORDS or len(cells) > MAX_CELLS:
        return f"has more than {MAX_WORDS} words or {MAX_CELLS} cells"
    if sum(len(word.text) for word in words) > MAX_CHARACTERS:
        return f"has more than {MAX_CHARACTERS} characters"
    if not all(w.confidence is None or math.isfinite(w.confidence) for w in words):
        return "has a confidence that is no number"
    for table in tables:
        if not table.cells or min(
            min(c.row, c.column, c.row_span, c.column_span) for c in table.cells
        ) < 1:  # fmt: skip
            return "has a table with rows or columns below 1, or without cells"
        places = max(
            table.rows * table.columns, sum(c.row_span * c.column_span for c in table.cells)
        )
        if places > _FEW_PLACES + _PLACES_A_CELL * len(table.cells):
            return "has a table with far more rows and columns than cells"
    return ""


def _clipped_table(table: Table, plan: PagePlan) -> Table:
    size = plan.width, plan.height
    cells = tuple(
        replace(
            cell,
            box=clipped(cell.box, *size),
            quad=clipped_quad(cell.quad, *size) if cell.quad else None,
            words=_clipped(cell.words, plan),
        )
        for cell in table.cells
    )
    quad = clipped_quad(table.quad, *size) if table.quad else None
    return replace(table, box=clipped(table.box, *size), quad=quad, cells=cells)


def _clipped(words: tuple[Word, ...], plan: PagePlan) -> tuple[Word, ...]:
    """Boxes within the page: deskewing may carry a word over the edge; texts as print has them."""
    size = plan.width, plan.height
    return tuple(
        _sound(
            word
            if clipped(word.box, *size) == word.box
            else replace(word, box=clipped(word.box, *size), quad=clipped_quad(word.quad, *size))
        )
        for word in words
    )


def _sound(word: Word) -> Word:
    if len(word.text) <= MAX_WORD and not _NO_TEXT.search(word.text):
        return word
    text = _NO_TEXT.sub("\ufffd", word.text[:MAX_WORD])
    return replace(word, text=text, trust=Trust.UNCLEAR)
