"""Second readings of a stored document, kept beside its pages: each place is read once."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice

from visualproof_server.model import codec
from visualproof_server.model.document import Document
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.second_reading import (
    Place,
    Reading,
    SecondReading,
    SecondReadings,
)
from visualproof_server.reading import reader
from visualproof_server.reading.engine import OcrEngine
from visualproof_server.reading.raster import Grey
from visualproof_server.reading.second_reading import second_readings
from visualproof_server.storing import documents
from visualproof_server.storing.store import DocumentReader

# Places of a document that are kept; the oldest go first.
MAX_KEPT = 3_000
# Places that are read between two looks at the clock.
AT_ONCE = 25

_Readings = dict[Place, tuple[Reading, ...]]


class StoredReadings:
    """Second readings for one answer; `seconds` bounds the time that new ones take."""

    def __init__(
        self,
        store: DocumentReader,
        document: Document,
        engines: Mapping[str, OcrEngine],
        seconds: float,
    ) -> None:
        self._store = store
        self._document = document
        self._engines = engines
        self._version = reader.reader_version(engines)
        self._left = seconds
        self._changed = False

    def read(self, places: Sequence[Place]) -> _Readings:
        """A SecondReader of the model: what is kept, and new readings while there is time."""
        known = self._known
        by_page: dict[int, list[Place]] = {}
        for place in places:
            if place not in known:
                by_page.setdefault(place.page, []).append(place)
        for number, new in by_page.items():
            self._add(number, new)
        return {place: known[place] for place in places if place in known}

    def changed(self) -> bytes | None:
        """What the store should keep from now on; None where that is what it has."""
        if not self._changed:
            return None
        newest = islice(self._known.items(), max(0, len(self._known) - MAX_KEPT), None)
        kept = tuple(SecondReading(place, readings) for place, readings in newest)
        return codec.dumps(SecondReadings(kept, self._version))

    @cached_property
    def _known(self) -> _Readings:
        """The readings by this reader version, from the store at first."""
        kept = SecondReadings(())
        # Damaged ones are read again.
        with contextlib.suppress(VisualProofError, ValueError, KeyError, TypeError, AttributeError):
            data = self._store.get(self._document.document_id, documents.SECOND_READINGS)
            kept = codec.loads(SecondReadings, data) if data else kept
        same = kept.reader_version == self._version
        return {one.place: one.readings for one in kept.readings if same}

    def _add(self, number: int, new: list[Place]) -> None:
        """Reads places of one page."""
        if self._left <= 0:
            return
        started = time.monotonic()
        image = self._image(number)
        while new and self._left > time.monotonic() - started:
            part, new = new[:AT_ONCE], new[AT_ONCE:]
            self._known.update(self._from_pixels(image, part))
            self._changed = True
        self._left -= time.monotonic() - started

    def _from_pixels(self, image: Grey | None, places: list[Place]) -> _Readings:
        if image is None:
            # Imported without pixels: there is nothing to read.
            return dict.fromkeys(places, ())
        languages = self._document.options.languages
        return second_readings(image, places, languages, self._engines)

    def _image(self, number: int) -> Grey | None:
        try:
            image = documents.page_image(self._store, self._document.document_id, number)
        except VisualProofError as error:
            if error.code == "DOCUMENT_DAMAGED":
                raise
            return None
        return reader.decode(image)
