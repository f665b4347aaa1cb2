"""What was read, as hOCR 1.2 (http://kba.github.io/hocr-spec/1.2/)."""

from collections.abc import Iterator
from html import escape

from visualproof_server.model.document import (
    Cell,
    Document,
    NumberedLine,
    NumberedTable,
    Word,
)
from visualproof_server.model.geometry import Box, Quad, quad_of

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
<head>
<title>{title}</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<meta name="ocr-system" content="{system}"/>
<meta name="ocr-capabilities" content="ocr_page ocr_line ocr_table ocrx_word"/>
</head>
<body>
"""


def document(read: Document, title: str) -> bytes:
    """Pages, lines, words, and tables as XHTML tables; boxes in pixels of the page image."""
    out = [_HEAD.format(title=_text(title), system=_text(f"visualproof {read.reader_version}"))]
    for page, blocks in read.in_order():
        out.append(
            f'<div class="ocr_page" id="P{page.number}" title="bbox 0 0 {page.width} {page.height};'
            f' ppageno {page.number - 1}; scan_res {page.dpi:.0f} {page.dpi:.0f}">\n'
        )
        for block in blocks:
            out += _table(block) if isinstance(block, NumberedTable) else _line(block)
        out.append("</div>\n")
    out.append("</body>\n</html>\n")
    return "".join(out).encode()


def _line(block: NumberedLine) -> Iterator[str]:
    name = f"L{block.number}"
    yield f'<span class="ocr_line" id="{name}" title="{_bbox(block.line.box)}">'
    yield " ".join(_words(block.line.words, name))
    yield "</span>\n"


def _table(block: NumberedTable) -> Iterator[str]:
    name = f"T{block.number}.P{block.page}"
    yield f'<table class="ocr_table" id="{name}" title="{_bbox(block.table.box)}">\n'
    row = 0
    for cell in sorted(block.table.cells, key=lambda c: (c.row, c.column)):
        if cell.row != row:
            yield "</tr>\n<tr>" if row else "<tr>"
            row = cell.row
        yield _cell(cell, block.cell_id(cell))
    yield "</tr>\n</table>\n"


def _cell(cell: Cell, name: str) -> str:
    tag = "th" if cell.column_header or cell.row_header else "td"
    spans = f' rowspan="{cell.row_span}" colspan="{cell.column_span}"'
    place = f"{_bbox(cell.box)}; x_cell {cell.row} {cell.column}"
    return (
        f'<{tag} id="{name}"{spans} title="{place}">{" ".join(_words(cell.words, name))}</{tag}>\n'
    )


def _words(words: tuple[Word, ...], parent: str) -> Iterator[str]:
    for number, word in enumerate(words, 1):
        about = _bbox(word.box)
        if word.quad != quad_of(word.box):
            about += f"; poly {_corners(word.quad)}"
        if word.confidence is not None:
            about += f"; x_wconf {100 * word.confidence:.4g}"
        yield (
            f'<span class="ocrx_word" id="{parent}.W{number}" title="{about}">'
            f"{_text(word.text)}</span>"
        )


def _bbox(box: Box) -> str:
    return f"bbox {box.left} {box.top} {box.right} {box.bottom}"


def _corners(quad: Quad) -> str:
    return " ".join(f"{x} {y}" for x, y in quad)


def _text(text: str) -> str:
    """Escaped, without the control characters that XML 1.0 has no place for."""
    return escape("".join(c for c in text if c >= " " or c in "\t\n"), quote=True)
