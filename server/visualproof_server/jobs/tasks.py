"""What workers do: each task joins rooms that do not know each other."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from visualproof_server.evidence import draw
from visualproof_server.jobs.exports import Answered, Exports
from visualproof_server.jobs.second_readings import StoredReadings
from visualproof_server.model import codec
from visualproof_server.model.document import Document, MediaType, ReadOptions
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest
from visualproof_server.model.report import Report
from visualproof_server.model.second_reading import SecondReading, SecondReadings
from visualproof_server.proving import prove
from visualproof_server.proving.decide import prose
from visualproof_server.proving.kept_readings import recorded
from visualproof_server.proving.request import ProveRequest
from visualproof_server.reading import reader, steps
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.source import PageLimits
from visualproof_server.storing import documents
from visualproof_server.storing.store import LocalReader

Task = Callable[..., list[bytes]]
_CACHED_DOCUMENTS = 4


class Tasks:
    """The tasks of one worker process, by name in `table`."""

    def __init__(
        self,
        store: LocalReader,
        engines: Mapping[str, OcrEngine],
        limits: PageLimits,
        layers: Sequence[str] = (),
    ) -> None:
        self._layers = list(layers)
        self._store = store
        self._engines = engines
        self._limits = limits
        self._indexes: OrderedDict[str, prove.Index] = OrderedDict()
        self.table: dict[str, Task] = {
            "describe": self.describe,
            "probe": self.probe,
            "count_pages": self.count_pages,
            "read_page": self.read_page,
            "warm": self.warm,
            "verify": self.verify,
            "check_prose": self.check_prose,
            "annotate": self.annotate,
            "export": self.export,
            "page_image": self.page_image,
        }

    def describe(self) -> list[bytes]:
        """Installed engines, the reader version and the sandbox's layers, as JSON."""
        engines = [
            {"name": e.name, "version": e.version, "languages": e.languages()}
            for e in self._engines.values()
        ]
        text = {
            "engines": engines,
            "reader_version": reader.reader_version(self._engines),
            "sandbox": self._layers,
        }
        return [json.dumps(text).encode()]

    def probe(self, engine: str) -> list[bytes]:
        """Nothing, if the engine reads a word that is drawn for it; error INTERNAL."""
        if not reader.reads(self._engines[engine]):
            raise VisualProofError("INTERNAL", f"{engine} does not read a test page.")
        return []

    def count_pages(self, document_id: str, password: str) -> list[bytes]:
        path = self._store.local(document_id, documents.SOURCE)
        return [str(reader.pages_of(path, password)).encode()]

    def read_page(self, document_id: str, number: int, options: bytes) -> list[bytes]:
        """The page, its image, and the seconds of each step as JSON."""
        steps.taken()
        read_options = codec.loads(ReadOptions, options)
        engine = self._engines.get(read_options.engine)
        if engine is None:
            raise VisualProofError("ENGINE_UNKNOWN", "This engine is not installed on this worker.")
        path = self._store.local(document_id, documents.SOURCE)
        if read_options.reading_sha256 or reader.file_type(path) is MediaType.READING:
            beside = self._store.local(document_id, documents.READING)
            read = reader.import_page(path, beside, number, read_options, self._limits)
        else:
            read = reader.read_page(path, number, read_options, self._limits, engine)
        return [codec.dumps(read.page), read.image, json.dumps(steps.taken()).encode()]

    def warm(self, document_id: str) -> list[bytes]:
        self._index(document_id).warm()
        return []

    def verify(
        self, document_id: str, seconds: float, answer: bytes, request: bytes
    ) -> list[bytes]:
        """The report, what was read a second time for it, and if that changed, what is to be kept
        of all second readings. seconds: how long they may take."""
        index = self._index(document_id)
        second = StoredReadings(self._store, index.document, self._engines, seconds)
        asked: list[SecondReading] = []
        wanted = codec.loads(ProveRequest, request)
        report = prove.prove(index, answer, wanted, recorded(second.read, asked))
        kept = second.changed()
        made = [codec.dumps(report), codec.dumps(SecondReadings(tuple(asked)))]
        return made if kept is None else [*made, kept]

    def export(
        self,
        document_id: str,
        report: bytes,
        request: bytes,
        *answered: bytes,
    ) -> list[bytes]:
        """Evidence, then each page's picture that was made on the way, after its number.

        answered are the members of Answered.
        """
        exports = Exports(self._store)
        made = exports.make(
            self._document(document_id),
            codec.loads(Report, report),
            codec.loads(ExportRequest, request),
            Answered(*answered),
        )
        pictures = [(str(n).encode(), data) for n, data in exports.made.items()]
        return [made, *(part for pair in pictures for part in pair)]

    def check_prose(self, rounding: bool, text: bytes, *reports: bytes) -> list[bytes]:
        made = [codec.loads(Report, report) for report in reports]
        return [codec.dumps(prose.check_prose(text.decode(), made, rounding))]

    def annotate(self, document_id: str, report: bytes, request: bytes) -> list[bytes]:
        """Pairs of JSON header and encoded image."""
        wanted = codec.loads(draw.DrawRequest, request)
        made = codec.loads(Report, report)

        def image_of(number: int) -> Any:
            return reader.decode(documents.page_image(self._store, document_id, number))

        parts: list[bytes] = []
        for picture in draw.pictures(self._document(document_id), made, wanted, image_of):
            parts += [json.dumps(picture.header()).encode(), picture.data]
        return parts

    def page_image(self, document_id: str, number: int, side: int, media: str) -> list[bytes]:
        image = reader.decode(documents.page_image(self._store, document_id, number))
        picture = draw.encode_page(image, number, side, media)
        return [json.dumps(picture.header()).encode(), picture.data]

    def _document(self, document_id: str) -> Document:
        return self._index(document_id).document

    def _index(self, document_id: str) -> prove.Index:
        """Documents do not change once READY, so an index stays good until it is deleted."""
        if documents.STATE not in self._store.names(document_id):
            self._indexes.pop(document_id, None)
        if document_id not in self._indexes:
            self._indexes[document_id] = prove.Index(documents.load(self._store, document_id))
            while len(self._indexes) > _CACHED_DOCUMENTS:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(document_id)
        return self._indexes[document_id]
