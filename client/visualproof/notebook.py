"""A report as a table for notebooks. Text of the document is hostile: all of it is escaped."""

import base64
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

from visualproof._channel import Picture

if TYPE_CHECKING:
    from visualproof.report import FieldResult, Report

# Text and sign too, so that colour is not the only difference.
_COLOURS = {"RELEASE": "#00843d", "REVIEW": "#c76c00", "BLOCK": "#c8102e"}
_SIGNS = {"RELEASE": "✓", "REVIEW": "?", "BLOCK": "✗"}
_CELL = "text-align:left;vertical-align:top;padding:4px 10px"


def report_html(report: "Report", pictures: Mapping[str, Picture]) -> str:
    """HTML without scripts; pictures are by path, inlined."""
    heads = "".join(
        f'<th style="{_CELL}">{name}</th>'
        for name in ("", "field", "extracted", "status", "printed", "page", "on the page")
    )
    rows = "".join(_row(result, pictures.get(result.path)) for result in report)
    counts = ", ".join(f"{n} {status.name}" for status, n in report.counts.items())
    colour = _COLOURS.get(report.action.name, "inherit")
    return (
        f'<p><b style="color:{colour}">{report.action.name}</b> {escape(counts)}</p>'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(result: "FieldResult", picture: Picture | None) -> str:
    cells = "".join(f'<td style="{_CELL}">{text}</td>' for text in _cells(result, picture))
    return f"<tr>{cells}</tr>"


def _cells(result: "FieldResult", picture: Picture | None) -> Iterator[str]:
    action = result.action.name
    colour = _COLOURS.get(action, "inherit")
    value = result.value if isinstance(result.value, str) else result.message.value_json
    yield f'<b style="color:{colour}">{_SIGNS.get(action, "")}</b>'
    yield escape(result.path.removeprefix("/"))
    yield escape(value)
    why = "".join(f"<br><small>{escape(r.message)}</small>" for r in result.reasons[:2])
    yield f'<span style="color:{colour}">{result.status.name}</span>{why}'
    yield escape(result.printed_text)
    yield str(result.evidence[0].page_number) if result.evidence else ""
    if picture is None:
        yield ""
        return
    data = base64.b64encode(picture.image).decode()
    yield (
        f'<img src="data:{escape(picture.mime_type)};base64,{data}" style="max-width:420px;'
        f'max-height:110px" alt="{escape(result.printed_text)}">'
    )
