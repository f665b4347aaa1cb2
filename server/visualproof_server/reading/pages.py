"""A page of the model, from the plan of its size and what stands on it."""

from dataclasses import replace

from visualproof_server.model.document import Line, Page, Source, Table, Warning, Word
from visualproof_server.model.geometry import clipped, clipped_quad
from visualproof_server.reading.source import PagePlan


def page_of(
    plan: PagePlan, source: Source, lines: tuple[Line, ...], tables: tuple[Table, ...]
) -> Page:
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
        plan.label,
        plan.width,
        plan.height,
        plan.width_pt,
        plan.height_pt,
        plan.rotation,
        plan.dpi,
        source,
        tuple(Line(_clipped(line.words, plan), line.block) for line in lines),
        tuple(_clipped_table(table, plan) for table in tables),
        plan.pdf_transform,
        tuple(warnings),
    )


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
    """Boxes within the page: deskewing may carry a word over the edge."""
    size = plan.width, plan.height
    return tuple(
        word
        if clipped(word.box, *size) == word.box
        else replace(word, box=clipped(word.box, *size), quad=clipped_quad(word.quad, *size))
        for word in words
    )
