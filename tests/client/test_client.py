"""The SDK against its fake service, and in a bare environment."""

import ast
import asyncio
import inspect
import runpy
import sys
import warnings
from pathlib import Path

import grpc
import pytest
import visualproof
from visualproof import (
    Action,
    Client,
    DocumentFailed,
    NotFound,
    Report,
    ReportBlocked,
    Status,
    Unreachable,
)
from visualproof.aio import AsyncClient
from visualproof.testing import FakeService

ROOT = Path(__file__).parents[2]
made = runpy.run_path(str(ROOT / "client" / "make_sync.py"))["made"]


def test_reports_are_read_by_path() -> None:
    with FakeService() as fake, Client(fake.target) as client:
        document = client.ingest(b"Total 90.00\nThank you")
        assert [b.text for b in client.blocks(document)] == ["Total 90.00", "Thank you"]
        fake.set_status("/total", Status.MISMATCH, printed_text="90.00")
        report = client.verify(document, {"total": 9, "vendor": {"value": "X", "proof": []}})
    assert (report["/total"].status, report["/total"].action) == (Status.MISMATCH, Action.BLOCK)
    assert report["/total"].printed_text == "90.00"
    assert report["/vendor"].status is Status.VERIFIED
    assert [r.path for r in report.blocked] == ["/total"]
    assert (len(report), "/nope" in report) == (2, False)
    with pytest.raises(ReportBlocked, match="/total MISMATCH"):
        report.raise_for_blocked()


def test_a_failed_document_raises_with_its_code() -> None:
    with FakeService() as fake, Client(fake.target) as client:
        fake.fail_document(b"x", "PDF_ENCRYPTED")
        with pytest.raises(DocumentFailed) as caught:
            client.ingest(b"x")
    assert caught.value.code == "PDF_ENCRYPTED"


def test_progress_and_a_ready_channel() -> None:
    seen: list[int] = []
    with FakeService() as fake:
        client = Client(channel=grpc.insecure_channel(fake.target))
        client.ingest(b"x", on_progress=lambda d: seen.append(d.read_page_count))
        client.close()
    assert seen == [1]


def test_unreachable_and_not_found() -> None:
    with Client("127.0.0.1:1", timeout=2) as client, pytest.raises(Unreachable):
        client.info()
    with FakeService() as fake, Client(fake.target) as client, pytest.raises(NotFound):
        client.get("0" * 32)


def test_the_async_client_does_the_same() -> None:
    async def job(target: str) -> tuple[str, Report]:
        async with AsyncClient(target) as client:
            document = await client.ingest(b"Total 90.00")
            prompt = await client.prompt(document)
            pictures = [
                p
                async for p in client.annotate(document, Report(visualproof.v1.report_pb2.Report()))
            ]
            assert len(pictures) == 1
            return prompt.text, await client.verify(document, '{"a": 1}')

    with FakeService() as fake:
        text, report = asyncio.run(job(fake.target))
    assert text == "<PAGE 1>\n<LINE 1>Total 90.00"
    assert report.action is Action.RELEASE


def test_both_clients_have_the_same_methods() -> None:
    def signatures(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert signatures(Client) == signatures(AsyncClient)


@pytest.mark.parametrize(
    ("target", "warned"),
    [
        ("proof.example.com:50051", True),
        ("dns:///proof.example.com:50051", True),
        ("10.0.0.7:50051", True),
        ("[2001:db8::1]:50051", True),
        ("localhost:50051", False),
        ("dns:///localhost:50051", False),
        ("127.0.0.1:50051", False),
        ("[::1]:50051", False),
        ("unix:/run/visualproof.sock", False),
    ],
)
def test_a_token_in_plain_text_is_warned_of(target: str, warned: bool) -> None:
    async def asynchronous(token: str) -> None:
        await AsyncClient(target, token=token).close()

    def both(token: str) -> None:
        Client(target, token=token).close()
        asyncio.run(asynchronous(token))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        both("secret")
        both("")
    said = [str(w.message) for w in caught if w.category is visualproof.PlainTextToken]
    assert len(said) == 2 * warned
    assert not any("secret" in text for text in said)


def test_enums_have_the_values_of_the_wire() -> None:
    from visualproof.v1 import status_pb2

    for ours, theirs, prefix in (
        (Status, status_pb2.Status, "STATUS_"),
        (Action, status_pb2.Action, "ACTION_"),
    ):
        assert {f"{prefix}{m.name}": m.value for m in ours} == dict(theirs.items())


def test_every_exported_name_is_there_and_the_api_page_has_it() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    for name in visualproof.__all__:
        assert hasattr(visualproof, name)
        assert f"`{name}`" in page, name


def test_the_client_imports_grpc_and_protobuf_only() -> None:
    allowed = {"grpc", "google", "visualproof"}
    for file in (ROOT / "client" / "visualproof").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = (
                [a.name for a in node.names] if isinstance(node, ast.Import)
                else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            )  # fmt: skip
            for name in names:
                top = name.split(".")[0]
                assert top in allowed or top in sys.stdlib_module_names, (file.name, name)


def test_the_sync_client_is_made_from_the_async_one() -> None:
    here = ROOT / "client" / "visualproof"
    assert made((here / "aio.py").read_text()) == (here / "client.py").read_text()
