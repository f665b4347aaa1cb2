"""What a person sees: a table of values, a progress bar."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from visualproof._terminal import harmless
from visualproof.report import Action, FieldResult, Report
from visualproof.v1 import document_pb2

_STYLES = {Action.RELEASE: "green", Action.REVIEW: "yellow", Action.BLOCK: "bold red"}
_SIGNS = {Action.RELEASE: "✓", Action.REVIEW: "?", Action.BLOCK: "✗"}


class Terminal(Console):
    """A console that no text speaks to: neither by control characters nor by rich's own markup."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is shown of it; styles are added later."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else harmless(text), style, control)


def report_table(report: Report) -> Table:
    """One row a value: what the model said, how it came out, what is printed, and where."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, options in (
        ("", {}),
        ("field", {"overflow": "fold"}),
        ("value", {"overflow": "fold"}),
        ("status", {"no_wrap": True}),
        ("printed", {"overflow": "fold"}),
        ("page", {"justify": "right"}),
    ):
        table.add_column(name, **options)
    for result in report:
        style = _STYLES.get(result.action, "")
        table.add_row(
            Text(_SIGNS.get(result.action, ""), style),
            result.path.removeprefix("/"),
            Text(_value(result)),
            Text(result.status.name, style),
            Text(result.printed_text),
            str(result.evidence[0].page_number) if result.evidence else "",
        )
    for relation in report.relations:
        action = Action(relation.action)
        table.add_row(
            Text(_SIGNS[action], _STYLES[action]),
            Text(relation.expression),
            "",
            Text(("", "HOLDS", "FAILS", "UNDEFINED")[relation.outcome], _STYLES[action]),
            Text(relation.message),
            "",
        )
    return table


def _value(result: FieldResult) -> str:
    value = result.value
    return (
        "null" if value is None else value if isinstance(value, str) else result.message.value_json
    )


def _why(result: FieldResult) -> str:
    text = result.reasons[0].message if result.reasons else ""
    if result.nearest is not None and result.nearest.text:
        text += f" Nearest: {result.nearest.text!r} on page {result.nearest.page_number}."
    return text


def print_report(report: Report) -> None:
    """The table, a line for each value that is not released, and one that sums it up."""
    console = Terminal()
    console.print(report_table(report))
    console.print()
    for result in report:
        if result.action is not Action.RELEASE and result.reasons:
            style = _STYLES.get(result.action, "")
            name = f"{_SIGNS.get(result.action, '')} {result.path.removeprefix('/')}: "
            console.print(Text.assemble((name, style), _why(result)))
    counts = ", ".join(f"{n} {s.name}" for s, n in report.counts.items())
    console.print(Text(f"{report.action.name}: {counts}", _STYLES[report.action]))


class ProgressBar:
    """A bar a file, on a terminal only."""

    def __init__(self, enabled: bool) -> None:
        self._progress: Progress | None = None
        if enabled and sys.stderr.isatty():
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("pages"),
                TimeElapsedColumn(),
                console=Terminal(stderr=True),
            )

    def __enter__(self) -> "ProgressBar":
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def follow(self, name: str) -> Callable[[document_pb2.Document], Any]:
        """A callback for `ingest`."""
        progress = self._progress
        if progress is None:
            return lambda _: None
        task = progress.add_task(name, total=None)

        def update(document: document_pb2.Document) -> None:
            progress.update(
                task, total=document.page_count or None, completed=document.read_page_count
            )

        return update
