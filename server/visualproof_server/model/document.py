"""What was read: words in lines on pages, numbered through the whole document."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from visualproof_server.model.geometry import Box, Quad, union


class State(IntEnum):
    """Where a document stands; values as in the proto."""

    QUEUED = 1
    READING = 2
    READY = 3
    FAILED = 4


class Source(IntEnum):
    """Where words come from; values as in the proto."""

    OCR = 1
    TEXT_LAYER = 2
    IMPORTED = 3


class TextLayer(IntEnum):
    """What to do with a PDF's text layer; values as in the proto."""

    IGNORED = 1
    VISIBLE = 2


class MediaType(Enum):
    """File types that can be read, by their magic bytes."""

    PDF = "application/pdf"
    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"
    TIFF = "image/tiff"
    GIF = "image/gif"
    # Another reader's output, without the document.
    READING = "application/x-reading"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options with all defaults filled in. last_page 0 means the last of the file.

    reading_sha256 is the hash of another reader's output that the words come from, or empty.
    """

    languages: tuple[str, ...]
    dpi: int
    first_page: int
    last_page: int
    engine: str
    tables_disabled: bool
    text_layer: TextLayer
    password: str = ""
    reading_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a document or page cannot be read; code from model.errors."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Warning:
    """Something a person should know; page_number 0 concerns the whole document."""

    code: str
    message: str
    page_number: int = 0


class Trust(IntEnum):
    """How far the reading of a word can be trusted, set where it was read; least trusted last.

    Of words that become one, the least trust holds: max().
    """

    # Two engines said the same of its pixels.
    AGREED = 1
    # One engine, with a confidence at which few words are misread.
    SURE = 2
    # One engine, not sure of it.
    DOUBTFUL = 3
    # Only a file says so: its pixels must confirm it.
    UNSEEN = 4
    # Its print can be meant in two ways, so that no reading of the pixels settles it.
    UNCLEAR = 5


@dataclass(frozen=True, slots=True)
class Word:
    """A printed word. confidence is 0 to 1, None if the reader gave none."""

    text: str
    box: Box
    quad: Quad
    confidence: float | None
    engine: str = ""
    trust: Trust = Trust.DOUBTFUL


def _lowest(words: tuple[Word, ...]) -> float | None:
    """The confidence of the least sure word, None if none has one."""
    return min((w.confidence for w in words if w.confidence is not None), default=None)


@dataclass(frozen=True, slots=True)
class Line:
    """Words of one line, left to right in reading order, at least one."""

    words: tuple[Word, ...]
    block: int = 0

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    @property
    def box(self) -> Box:
        return union([w.box for w in self.words])

    @property
    def confidence(self) -> float | None:
        return _lowest(self.words)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; row and column are 1-based. words are in reading order, maybe none."""

    row: int
    column: int
    row_span: int
    column_span: int
    column_header: bool
    row_header: bool
    box: Box
    words: tuple[Word, ...]
    quad: Quad | None = None

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)

    @property
    def confidence(self) -> float | None:
        return _lowest(self.words)

    def stands_at(self, row: int | None, column: int | None) -> bool:
        """Whether it covers a row and a column, with its spans; None is any."""
        return (row is None or self.row <= row < self.row + self.row_span) and (
            column is None or self.column <= column < self.column + self.column_span
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or its part on one page; after_line is the number of page lines before it.

    doubtful: words do not fit its rows and columns well; what it says is for a person to check.
    """

    box: Box
    cells: tuple[Cell, ...]
    after_line: int = 0
    doubtful: bool = False
    quad: Quad | None = None

    @property
    def rows(self) -> int:
        """Number of the last row."""
        return max(c.row + c.row_span - 1 for c in self.cells)

    @property
    def columns(self) -> int:
        return max(c.column + c.column_span - 1 for c in self.cells)


@dataclass(frozen=True, slots=True)
class Page:
    """One page as read. Lines and tables are in reading order, unnumbered.

    hidden is text of the file that is not visible on the page: never evidence. pixels is False for
    a page that was imported without its image.
    """

    number: int
    label: str
    width: int
    height: int
    width_pt: float
    height_pt: float
    rotation: int
    dpi: float
    source: Source
    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    pdf_transform: tuple[float, ...] = ()
    warnings: tuple[Warning, ...] = ()
    tenant: str = ""
    failure: Failure | None = None
    hidden: str = ""
    pixels: bool = True

    @property
    def damaged(self) -> bool:
        """Whether it may lack what the file holds."""
        return any(w.code == "PAGE_DAMAGED" for w in self.warnings)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, those of lines first."""
        return tuple(w for li in self.lines for w in li.words) + tuple(
            w for t in self.tables for c in t.cells for w in c.words
        )

    @property
    def confidence(self) -> float | None:
        known = [w.confidence for w in self.words if w.confidence is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line with its number through the document: `<LINE number>`, block id `L{number}`."""

    number: int
    page: int
    line: Line


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table with its number through the document: `<TABLE number>`, block id `T{number}`.

    A table that goes on over pages has one number and a part for each page. Rows run on: cells
    have the row numbers of the whole table. A head that is printed again has the rows of the head;
    a row broken by the page's end has one number on both pages.
    """

    number: int
    page: int
    table: Table
    rows_before: int = 0

    def cell_id(self, cell: Cell) -> str:
        """`T3.R2C5`; `T3.R2C5.P4` for what page 4 prints of a row that an earlier page began."""
        name = f"T{self.number}.R{cell.row}C{cell.column}"
        return f"{name}.P{self.page}" if cell.row <= self.rows_before else name


@dataclass(frozen=True, slots=True)
class Document:
    """A document that is READY. Pages that failed are in `pages`, without lines."""

    document_id: str
    source_sha256: str
    reader_version: str
    options: ReadOptions
    pages: tuple[Page, ...]
    lines: tuple[NumberedLine, ...] = field(default=())
    tables: tuple[NumberedTable, ...] = field(default=())

    def page(self, number: int) -> Page | None:
        """The page at a 1-based position in the file."""
        first = self.pages[0].number if self.pages else 1
        index = number - first
        return self.pages[index] if 0 <= index < len(self.pages) else None

    def in_order(self) -> Iterator[tuple[Page, list[NumberedLine | NumberedTable]]]:
        """Each page with its lines and tables in reading order."""
        lines, tables = iter(self.lines), iter(self.tables)
        for page in self.pages:
            blocks: list[NumberedLine | NumberedTable] = []
            waiting = [next(tables) for _ in page.tables]
            for position in range(len(page.lines) + 1):
                while waiting and waiting[0].table.after_line <= position:
                    blocks.append(waiting.pop(0))
                if position < len(page.lines):
                    blocks.append(next(lines))
            yield page, blocks


@dataclass(frozen=True, slots=True)
class DocumentState:
    """Where a document stands, as stored and as watchers see it."""

    document_id: str
    source_sha256: str
    file_name: str
    options: ReadOptions
    reader_version: str
    state: State
    page_count: int
    read_page_count: int
    expire_time: float
    failure: Failure | None = None
    warnings: tuple[Warning, ...] = ()
    tenant: str = ""
