"""What answering about a document takes out of the store: what is needed, and no more."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import WORKER_OPTIONS
from proving.pages import printed
from visualproof_server.answers.service import AnswerService
from visualproof_server.model import codec
from visualproof_server.model.document import Document, DocumentState, State
from visualproof_server.model.report import Status
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.summary import summary_of
from visualproof_server.storing import documents
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.storing.disk import DiskStore
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow

ID = "cd" * 16
LINES = ["Invoice 4711", "Total due 1,234.50"]


class CountingStore(DiskStore):
    """A store on disk that remembers which blobs were asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked: list[str] = []

    def get(self, document_id: str, name: str) -> bytes | None:
        self.asked.append(name)
        return super().get(document_id, name)

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        wanted = sorted(self.names(document_id)) if names is None else list(names)
        self.asked += wanted
        super().stage(document_id, wanted, folder)


def stored(store: DiskStore, pages: int, with_words: bool) -> tuple[DocumentState, Document]:
    """A document as a server leaves it; without words in one blob, as servers did before."""
    document = replace(printed(*([LINES] * pages)), document_id=ID)
    for page in document.pages:
        documents.put_page(store, ID, codec.dumps(page), b"\xff\xd8 an image", page.number)
    store.put(ID, documents.SOURCE, b"the original")
    if with_words:
        documents.put_words(store, ID, document.pages)
        documents.put_summary(store, summary_of(document))
    state = DocumentState(
        ID, document.source_sha256, "a.pdf", document.options, document.reader_version,
        State.READY, pages, pages, time.time() + 3600,
    )  # fmt: skip
    documents.put_state(store, state)
    return state, document


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path / "documents")


@pytest.fixture
def answers(store: CountingStore, tmp_path: Path) -> Iterator[AnswerService]:
    settings = WorkerSettings(
        str(tmp_path / "views"), str(tmp_path / "scratch"), 4096, 500, WORKER_OPTIONS
    )
    pool = WorkerPool(1, settings, store)
    yield AnswerService(AsyncStore(store), pool, 60.0, tmp_path)
    pool.close()


@pytest.mark.parametrize("with_words", [True, False])
def test_a_verification_takes_words_once_and_no_image(
    store: CountingStore, answers: AnswerService, with_words: bool
) -> None:
    state, _ = stored(store, 30, with_words)

    async def run() -> list[str]:
        seen = []
        for _ in range(2):
            store.asked.clear()
            report, _ = await answers.verify(state, b'{"total": "1,234.50"}', ProveRequest())
            assert report.results[0].status is Status.AMBIGUOUS or report.results[0].evidence
            seen.append(" ".join(sorted(set(store.asked))))
        return seen

    first, second = asyncio.run(run())
    assert ".jpg" not in first
    assert "source" not in first
    pages = " ".join(documents.page_name(n) for n in range(1, 31))
    assert first == (
        "state.json words.json.z" if with_words else f"{pages} state.json words.json.z"
    )
    assert second == "state.json"
    assert state.page_count == 30


def test_a_summary_is_had_without_words(store: CountingStore, answers: AnswerService) -> None:
    state, document = stored(store, 3, True)
    store.asked.clear()
    assert asyncio.run(answers.summary(state)) == summary_of(document)
    assert store.asked == ["pages.json"]


def test_a_document_of_an_older_server_has_a_summary(
    store: CountingStore, answers: AnswerService
) -> None:
    state, document = stored(store, 3, False)
    assert asyncio.run(answers.summary(state)) == summary_of(document)


def test_words_come_back_as_they_were(store: CountingStore) -> None:
    state, document = stored(store, 3, True)
    assert documents.document_of(store, state) == document
