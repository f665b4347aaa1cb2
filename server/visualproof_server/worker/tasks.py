"""What workers do: each task joins rooms that do not know each other."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from visualproof_server.evidence import draw
from visualproof_server.model import codec, tasks
from visualproof_server.model.document import Document, MediaType
from visualproof_server.model.drawing import PictureHead
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.second_reading import SecondReading, SecondReadings
from visualproof_server.proving import prove
from visualproof_server.proving.decide import prose
from visualproof_server.proving.kept_readings import recorded
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.proving.version import RULES_VERSION
from visualproof_server.reading import reader, steps
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.source import PageLimits
from visualproof_server.storing import documents
from visualproof_server.storing.store import LocalReader
from visualproof_server.worker.exports import Exports
from visualproof_server.worker.second_readings import StoredReadings

_CACHED_DOCUMENTS = 4


class Tasks:
    """The tasks of one worker process, by the class of their request in `table`."""

    def __init__(
        self,
        store: LocalReader,
        engines: Mapping[str, OcrEngine],
        limits: PageLimits,
        layers: Sequence[str] = (),
    ) -> None:
        self._layers = tuple(layers)
        self._store = store
        self._engines = engines
        self._limits = limits
        self._indexes: OrderedDict[str, prove.Index] = OrderedDict()
        self.table: dict[type[tasks.Task[Any]], Callable[[Any], Any]] = {
            tasks.Describe: self.describe,
            tasks.Probe: self.probe,
            tasks.CountPages: self.count_pages,
            tasks.ReadPage: self.read_page,
            tasks.Warm: self.warm,
            tasks.Verify: self.verify,
            tasks.CheckProse: self.check_prose,
            tasks.Annotate: self.annotate,
            tasks.Export: self.export,
            tasks.PageImage: self.page_image,
        }

    def describe(self, task: tasks.Describe) -> tasks.Description:
        return tasks.Description(
            tuple(
                tasks.Engine(e.name, e.version, tuple(e.languages()))
                for e in self._engines.values()
            ),
            reader.reader_version(self._engines),
            RULES_VERSION,
            self._layers,
            tuple(KINDS),
        )

    def probe(self, task: tasks.Probe) -> tasks.Done:
        if not reader.reads(self._engines[task.engine]):
            raise VisualProofError("INTERNAL", f"{task.engine} does not read a test page.")
        return tasks.Done()

    def count_pages(self, task: tasks.CountPages) -> tasks.PageCount:
        path = self._whole(task, documents.SOURCE, task.source_sha256)
        return tasks.PageCount(reader.pages_of(path, task.password))

    def read_page(self, task: tasks.ReadPage) -> tasks.PageRead:
        steps.taken()
        engine = self._engines.get(task.options.engine)
        if engine is None:
            raise VisualProofError("ENGINE_UNKNOWN", "This engine is not installed on this worker.")
        path = self._whole(task, documents.SOURCE, task.source_sha256)
        if task.options.reading_sha256 or reader.file_type(path) is MediaType.READING:
            sha256 = task.options.reading_sha256
            beside = self._whole(task, documents.READING, sha256) if sha256 else path
            read = reader.import_page(path, beside, task.number, task.options, self._limits)
        else:
            read = reader.read_page(path, task.number, task.options, self._limits, engine)
        return tasks.PageRead(codec.dumps(read.page), read.image, tuple(steps.taken().items()))

    def _whole(self, task: tasks.CountPages | tasks.ReadPage, name: str, sha256: str) -> Path:
        return documents.whole_file(self._store, task.document_id, name, sha256)

    def warm(self, task: tasks.Warm) -> tasks.Done:
        self._index(task.document_id).warm()
        return tasks.Done()

    def verify(self, task: tasks.Verify) -> tasks.Verified:
        index = self._index(task.document_id)
        second = StoredReadings(self._store, index.document, self._engines, task.reading_s)
        asked: list[SecondReading] = []
        report = prove.prove(index, task.answer, task.request, recorded(second.read, asked))
        made = codec.dumps(SecondReadings(tuple(asked)))
        return tasks.Verified(report, made, second.changed() or b"")

    def export(self, task: tasks.Export) -> tasks.Exported:
        exports = Exports(self._store)
        answered = tasks.Answered(task.answer, task.asked, task.shown, task.second_readings)
        made = exports.make(self._document(task.document_id), task.report, task.request, answered)
        return tasks.Exported(made, tuple(exports.made), tuple(exports.made.values()))

    def check_prose(self, task: tasks.CheckProse) -> ProseReport:
        return prose.check_prose(task.text.decode(), list(task.reports), task.rounding)

    def annotate(self, task: tasks.Annotate) -> tasks.Pictures:
        def image_of(number: int) -> Any:
            return reader.decode(documents.page_image(self._store, task.document_id, number))

        document = self._document(task.document_id)
        return _pictures(list(draw.pictures(document, task.report, task.request, image_of)))

    def page_image(self, task: tasks.PageImage) -> tasks.Pictures:
        image = reader.decode(documents.page_image(self._store, task.document_id, task.number))
        return _pictures([draw.encode_page(image, task.number, task.side, task.media)])

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


def _pictures(made: list[draw.Picture]) -> tasks.Pictures:
    heads = tuple(PictureHead(p.page, p.path, p.media, p.width, p.height) for p in made)
    return tasks.Pictures(heads, tuple(p.data for p in made))
