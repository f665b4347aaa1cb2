"""Evidence made of a stored document, an answer and its report."""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from visualproof_server.evidence import bundle, draw, ethos, hocr, pdf, textract, web_annotation
from visualproof_server.evidence.page import PICTURE_MEDIA, PageFacts, review_page
from visualproof_server.evidence.version import PAGE_VERSION
from visualproof_server.model import codec
from visualproof_server.model.document import Document, MediaType
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest, Format
from visualproof_server.model.report import Report
from visualproof_server.model.tasks import Answered
from visualproof_server.reading import reader
from visualproof_server.reading.source import media_type
from visualproof_server.storing import documents
from visualproof_server.storing.store import LocalReader

# Longest side of a page's picture: what a reviewer reads at full width of a large screen.
PICTURE_SIDE = 1800


class Exports:
    """Makes evidence of one document; `made` holds the pictures that the store had not yet."""

    def __init__(self, store: LocalReader) -> None:
        self._store = store
        self.made: dict[int, bytes] = {}

    def make(
        self, document: Document, report: Report, request: ExportRequest, answered: Answered
    ) -> bytes:
        """The bytes of what is asked for; the same input gives the same bytes."""
        makers: dict[Format, Callable[[], bytes]] = {
            Format.BUNDLE: lambda: self._bundle(document, report, request, answered),
            Format.PDF: lambda: self._pdf(document, report, request),
            Format.HTML: lambda: review_page(
                document, report, _facts(request, answered), self._pictures(document)
            ),
            Format.WEB_ANNOTATION: lambda: web_annotation.annotations(document, report),
            Format.ETHOS_CITATIONS: lambda: ethos.citations(document, report),
            Format.HOCR: lambda: hocr.document(document, request.title),
            Format.TEXTRACT: lambda: textract.document(document),
        }
        return makers[request.format]()

    def _bundle(
        self, document: Document, report: Report, request: ExportRequest, answered: Answered
    ) -> bytes:
        pictures = self._pictures(document)
        files = {
            "answer.json": answered.answer,
            "fields.json": answered.request,
            "report.json": answered.report,
            "second_readings.json": answered.second_readings,
            "blocks.jsonl": bundle.blocks(document),
            "annotated.pdf": self._pdf(document, report, request),
            "index.html": review_page(document, report, _facts(request, answered), pictures),
            **{f"pages/{number:04}.webp": data for number, data in pictures.items()},
        }
        if request.with_original:
            files["original"] = self._source(document).read_bytes()
        facts = {
            "document": bundle.identity(document),
            "title": request.title,
            "warnings": [codec.plain(w) for w in request.warnings],
            "reader_version": document.reader_version,
            "rules_version": report.rules_version,
            "page_version": PAGE_VERSION,
            "service_version": request.service_version,
        }
        return bundle.seal(files, facts)

    def _pdf(self, document: Document, report: Report, request: ExportRequest) -> bytes:
        path = self._source(document)
        with path.open("rb") as file:
            is_pdf = media_type(file.read(1024)) is MediaType.PDF
        return pdf.annotated_pdf(
            path if is_pdf else None,
            request.password,
            document,
            report,
            lambda number: self._image(document, number),
        )

    def _pictures(self, document: Document) -> dict[int, bytes]:
        """Each page as WebP, by number; made once a document, since nothing else takes as long."""
        return {
            page.number: self._picture(document.document_id, page.number)
            for page in document.pages
            if page.failure is None and page.pixels
        }

    def _picture(self, document_id: str, number: int) -> bytes:
        name = documents.picture_name(number)
        made = None
        with contextlib.suppress(VisualProofError):
            # A damaged one is made again.
            made = self._store.get(document_id, name)
        if made is None:
            image: Any = reader.decode(documents.page_image(self._store, document_id, number))
            made = draw.encode_page(image, number, PICTURE_SIDE, PICTURE_MEDIA).data
            self.made[number] = made
        return made

    def _image(self, document: Document, number: int) -> bytes:
        try:
            return documents.page_image(self._store, document.document_id, number)
        except VisualProofError as error:
            if error.code == "DOCUMENT_DAMAGED":
                raise
            return b""

    def _source(self, document: Document) -> Path:
        return documents.whole_file(
            self._store, document.document_id, documents.SOURCE, document.source_sha256
        )


def _facts(request: ExportRequest, answered: Answered) -> PageFacts:
    return PageFacts(
        request.title,
        request.service_version,
        hashlib.sha256(answered.report).hexdigest(),
        request.warnings,
    )
