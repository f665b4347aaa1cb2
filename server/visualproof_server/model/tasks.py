"""Everything that is asked of workers: each request with its result, and on which terms it is done.

A task names the blobs that it needs; whether it may ask for more of the same document; how long it may
take and how much it may answer; and which errors it becomes where that goes wrong.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from visualproof_server.model.document import ReadOptions
from visualproof_server.model.drawing import DrawRequest, PictureHead
from visualproof_server.model.export import ExportRequest
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.report import Report
from visualproof_server.model.request import ProveRequest

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """needs: blobs that lie there when the task begins; more: it may ask for others.

    timeout_s and answer_mb hold to the last byte of the answer; a caller may say another time.
    """

    timeout_s: float
    answer_mb: int = 256
    needs: tuple[str, ...] = ()
    more: bool = False
    timeout_code: str = "PAGE_TIMEOUT"
    crash_code: str = "PAGE_CRASHED"


# What reading may see: hostile bytes of one document.
_TO_READ = ("source", "reading")


def _answering(timeout_s: float, answer_mb: int = 256) -> Terms:
    """Terms of what is asked about a document that is READY: that there is one, the rest as needed."""
    return Terms(
        timeout_s=timeout_s,
        answer_mb=answer_mb,
        needs=("state.json",),
        more=True,
        timeout_code="VERIFY_TIMEOUT",
        crash_code="VERIFY_CRASHED",
    )


class Task(Generic[R]):
    """A request; its class says what comes back."""

    __slots__ = ()
    terms: ClassVar[Terms]
    result: ClassVar[type[Any]]

    @classmethod
    def name(cls) -> str:
        """As metrics say it: read_page of ReadPage."""
        return re.sub(r"(?<=.)([A-Z])", r"_\1", cls.__name__).lower()


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing but that it was done."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An OCR engine that is installed."""

    name: str
    version: str
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What a worker has: engines, the best first; layers of its sandbox; kinds of values."""

    engines: tuple[Engine, ...]
    reader_version: str
    rules_version: str
    sandbox: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Describe(Task[Description]):
    """What is installed."""

    terms: ClassVar = Terms(timeout_s=60.0)
    result: ClassVar = Description


@dataclass(frozen=True, slots=True)
class Probe(Task[Done]):
    """Whether an engine reads a word that is drawn for it; error INTERNAL."""

    engine: str
    terms: ClassVar = Terms(timeout_s=60.0)
    result: ClassVar = Done


@dataclass(frozen=True, slots=True)
class PageCount:
    """How many pages a file has."""

    pages: int


@dataclass(frozen=True, slots=True)
class CountPages(Task[PageCount]):
    """Opens a file; errors are the file's own."""

    document_id: str
    source_sha256: str
    password: str
    terms: ClassVar = Terms(timeout_s=30.0, needs=_TO_READ)
    result: ClassVar = PageCount


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page as codec spells it, its image, and the seconds of each step."""

    page: bytes
    image: bytes
    seconds: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ReadPage(Task[PageRead]):
    """Reads one page; errors are the page's own."""

    document_id: str
    source_sha256: str
    number: int
    options: ReadOptions
    terms: ClassVar = Terms(timeout_s=120.0, needs=_TO_READ)
    result: ClassVar = PageRead


@dataclass(frozen=True, slots=True)
class Warm(Task[Done]):
    """Has a document's index built before it is asked for."""

    document_id: str
    terms: ClassVar = _answering(120.0)
    result: ClassVar = Done


@dataclass(frozen=True, slots=True)
class Verified:
    """The report, and what was read a second time for it, as codec spells it.

    kept is what the store keeps of all second readings from now on; empty where it has that.
    """

    report: Report
    second_readings: bytes
    kept: bytes = b""


@dataclass(frozen=True, slots=True)
class Verify(Task[Verified]):
    """Proves an answer; errors ANSWER_NOT_JSON, ANSWER_TOO_LARGE.

    reading_s is how long second readings may take.
    """

    document_id: str
    answer: bytes
    request: ProveRequest
    reading_s: float
    terms: ClassVar = _answering(30.0)
    result: ClassVar = Verified


@dataclass(frozen=True, slots=True)
class CheckProse(Task[ProseReport]):
    """Classes every number of a text; error ANSWER_TOO_LARGE."""

    text: bytes
    reports: tuple[Report, ...]
    rounding: bool
    terms: ClassVar = Terms(
        timeout_s=30.0, timeout_code="VERIFY_TIMEOUT", crash_code="VERIFY_CRASHED"
    )
    result: ClassVar = ProseReport


@dataclass(frozen=True, slots=True)
class Pictures:
    """Encoded images, each with its head."""

    heads: tuple[PictureHead, ...]
    images: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Annotate(Task[Pictures]):
    """Draws pages or crops with the values of a report."""

    document_id: str
    report: Report
    request: DrawRequest
    terms: ClassVar = _answering(120.0)
    result: ClassVar = Pictures


@dataclass(frozen=True, slots=True)
class PageImage(Task[Pictures]):
    """One page as read, unmarked; errors PAGE_OUT_OF_RANGE, NO_PIXELS."""

    document_id: str
    number: int
    side: int
    media: str
    terms: ClassVar = _answering(120.0)
    result: ClassVar = Pictures


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer as it came, the request and report as the caller sees them, and what was read
    again on the way, each as JSON."""

    answer: bytes
    request: bytes
    report: bytes
    second_readings: bytes


@dataclass(frozen=True, slots=True)
class Exported:
    """The evidence, and pictures that were made on the way, by page number."""

    made: bytes
    numbers: tuple[int, ...]
    pictures: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export(Task[Exported]):
    """Makes evidence; the last four are the members of Answered."""

    document_id: str
    report: Report
    request: ExportRequest
    answer: bytes
    asked: bytes
    shown: bytes
    second_readings: bytes
    # It may hold the original and all pages.
    terms: ClassVar = _answering(600.0, answer_mb=2048)
    result: ClassVar = Exported


KINDS: tuple[type[Task[Any]], ...] = (
    Describe, Probe, CountPages, ReadPage, Warm, Verify, CheckProse, Annotate, PageImage, Export,
)  # fmt: skip
