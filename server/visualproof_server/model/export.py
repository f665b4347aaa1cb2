"""What is exported, and what is known about it beside document and report."""

from dataclasses import dataclass
from enum import IntEnum

from visualproof_server.model.document import Warning


class Format(IntEnum):
    """Kinds of evidence; values as in the proto."""

    BUNDLE = 1
    PDF = 2
    HTML = 3
    WEB_ANNOTATION = 4
    ETHOS_CITATIONS = 5
    HOCR = 6
    TEXTRACT = 7

    @property
    def of_reading(self) -> bool:
        """Whether it shows what was read, whatever is claimed about it."""
        return self in (Format.HOCR, Format.TEXTRACT)

    @property
    def media(self) -> str:
        """Its media type."""
        return _MEDIA[self]


_MEDIA = {
    Format.BUNDLE: "application/zip",
    Format.PDF: "application/pdf",
    Format.HTML: "text/html; charset=utf-8",
    Format.WEB_ANNOTATION: "application/ld+json",
    Format.ETHOS_CITATIONS: "application/json",
    Format.HOCR: "application/xhtml+xml",
    Format.TEXTRACT: "application/json",
}


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """title is for people; password opens an encrypted original."""

    format: Format
    title: str
    service_version: str
    warnings: tuple[Warning, ...] = ()
    with_original: bool = False
    password: str = ""
