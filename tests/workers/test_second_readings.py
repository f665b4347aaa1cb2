"""Second readings are kept with a document: the same question costs nothing twice."""

from pathlib import Path

import numpy as np
import pytest
from proving.pages import printed
from visualproof_server.model import codec
from visualproof_server.model.geometry import Box
from visualproof_server.model.second_reading import Place, SecondReadings
from visualproof_server.reading import reader
from visualproof_server.reading.engine import EngineWord, OcrEngine
from visualproof_server.reading.raster import Grey
from visualproof_server.storing import documents
from visualproof_server.storing.disk import DiskStore
from visualproof_server.worker import second_readings
from visualproof_server.worker.second_readings import StoredReadings


class Counting:
    """Reads a word of each crop, and counts the crops."""

    name, version = "rapidocr", "1"

    def __init__(self) -> None:
        self.crops = 0

    @property
    def scout(self) -> OcrEngine:
        return self

    def languages(self) -> tuple[str, ...]:
        return ("eng",)

    def read(self, image: Grey, languages: tuple[str, ...], dpi: int | None) -> list[EngineWord]:
        return []

    def read_lines(self, images: list[Grey], languages: tuple[str, ...]) -> list[list[EngineWord]]:
        self.crops += len(images)
        return [[EngineWord("90.00", 0, 0, 9, 9, 0.9, 0, 0)] for _ in images]


DOCUMENT = printed(["Total 90.00"])
ID = DOCUMENT.document_id


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    made = DiskStore(tmp_path / "documents")
    made.put(ID, documents.image_name(1), reader.encode(np.full((1400, 1000), 255, np.uint8)))
    return made


def place(number: int, page: int = 1) -> Place:
    return Place(page, Box(10, 10 * number, 90, 10 * number + 20), "tesseract")


def stored(store: DiskStore, engine: Counting, seconds: float = 60.0) -> StoredReadings:
    return StoredReadings(store, DOCUMENT, {"rapidocr": engine}, seconds)


def test_each_place_is_read_once(store: DiskStore) -> None:
    engine = Counting()
    first = stored(store, engine)
    found = first.read([place(1), place(2)])
    assert [r.words for r in found[place(1)]] == [(("90.00", 0.9),)] * 2
    assert engine.crops == 4
    kept = first.changed()
    assert kept is not None
    store.put(ID, documents.SECOND_READINGS, kept)
    again = stored(store, engine)
    assert again.read([place(1), place(2)]) == found
    assert (engine.crops, again.changed()) == (4, None)
    assert again.read([place(3)])
    assert (engine.crops, again.changed() is None) == (6, False)


def test_readings_of_another_reader_version_are_not_used(store: DiskStore) -> None:
    engine = Counting()
    first = stored(store, engine)
    first.read([place(1)])
    store.put(ID, documents.SECOND_READINGS, first.changed() or b"")
    engine.version = "2"
    stored(store, engine).read([place(1)])
    assert engine.crops == 4


def test_what_is_kept_is_bounded_and_the_newest_stay(
    store: DiskStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_readings, "MAX_KEPT", 3)
    first = stored(store, Counting())
    first.read([place(n) for n in range(1, 6)])
    kept = codec.loads(SecondReadings, first.changed() or b"")
    assert [one.place for one in kept.readings] == [place(3), place(4), place(5)]


def test_when_the_time_is_up_the_rest_is_left_out(store: DiskStore) -> None:
    engine = Counting()
    assert stored(store, engine, 0.0).read([place(1)]) == {}
    assert engine.crops == 0


def test_a_page_without_pixels_has_no_readings(store: DiskStore) -> None:
    assert stored(store, Counting()).read([place(1, page=2)]) == {place(1, page=2): ()}
