"""What callers see of pages without their words: enough to translate boxes, and little to fetch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from visualproof_server.model.document import Document, Failure, Page, Source


class PageFrame(Protocol):
    """What places on a page need: its number, label and size in pixels."""

    @property
    def number(self) -> int: ...
    @property
    def label(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def source(self) -> Source: ...
    @property
    def failure(self) -> Failure | None: ...


class Framed(Protocol):
    """A document or its summary: pages by number."""

    def page(self, number: int) -> PageFrame | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """A page without lines and tables; members as Page's."""

    number: int
    label: str
    width: int
    height: int
    width_pt: float
    height_pt: float
    rotation: int
    dpi: float
    source: Source
    confidence: float | None
    pdf_transform: tuple[float, ...]
    failure: Failure | None
    pixels: bool
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """The pages of a document that is READY, in order; written once."""

    document_id: str
    pages: tuple[PageSummary, ...]

    def page(self, number: int) -> PageSummary | None:
        """The page at a 1-based position in the file."""
        index = number - self.pages[0].number if self.pages else -1
        return self.pages[index] if 0 <= index < len(self.pages) else None


def summary_of_page(page: Page) -> PageSummary:
    return PageSummary(
        number=page.number,
        label=page.label,
        width=page.width,
        height=page.height,
        width_pt=page.width_pt,
        height_pt=page.height_pt,
        rotation=page.rotation,
        dpi=page.dpi,
        source=page.source,
        confidence=page.confidence,
        pdf_transform=page.pdf_transform,
        failure=page.failure,
        pixels=page.pixels,
        damaged=page.damaged,
    )


def summary_of(document: Document) -> DocumentSummary:
    return summary_of_pages(document.document_id, document.pages)


def summary_of_pages(document_id: str, pages: Sequence[Page]) -> DocumentSummary:
    return DocumentSummary(document_id, tuple(summary_of_page(page) for page in pages))
