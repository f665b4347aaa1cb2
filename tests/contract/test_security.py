"""Who may call, and what they may see: TLS, tokens, tenants, logs."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import EXAMPLE, RunningServer, start_server
from grpc_health.v1 import health_pb2, health_pb2_grpc
from visualproof import (
    CallError,
    Client,
    Document,
    DocumentFailed,
    NotFound,
    ServerBusy,
    Unauthenticated,
    Unreachable,
)
from visualproof.cli.__main__ import main as visualproof
from visualproof_server.rpc.auth import Tokens, read_tokens

from contract.certificates import authority

pytestmark = pytest.mark.slow

SCAN = EXAMPLE / "scan.jpg"


def line(tenant: str, token: str) -> str:
    return f"{tenant} {hashlib.sha256(token.encode()).hexdigest()}\n"


@pytest.fixture(scope="module")
def tokens_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    file.write_text(
        "# tests\n" + line("acme", "one") + line("acme", "two") + line("rival", "three")
    )
    return file


@pytest.fixture(scope="module")
def guarded(tokens_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    data = tmp_path_factory.mktemp("guarded")
    running = start_server(
        data, "--tokens-file", str(tokens_file), "--queue-size", "8", log=data / "log.jsonl"
    )
    yield running
    running.stop()


@pytest.fixture(scope="module")
def acme(guarded: RunningServer) -> Iterator[Client]:
    with Client(guarded.target, token="one") as client:
        yield client


@pytest.fixture(scope="module")
def theirs(acme: Client) -> Document:
    return acme.ingest(SCAN, engine="tesseract")


def test_without_a_valid_token_nothing_is_answered(guarded: RunningServer) -> None:
    for token in (None, "", "wrong", "one "[:-1] + "x"):
        with Client(guarded.target, token=token) as client:
            calls: tuple[Callable[[], object], ...] = (
                client.info,
                lambda: client.upload(SCAN),
                lambda: client.get("0" * 32),
                lambda: list(client.watch("0" * 32)),
                lambda: client.page_image("0" * 32, 1),
            )
            for call in calls:
                with pytest.raises(Unauthenticated) as caught:
                    call()
                assert caught.value.code == "TOKEN_INVALID"


def test_health_needs_no_token_and_reflection_is_off(guarded: RunningServer) -> None:
    with grpc.insecure_channel(guarded.target) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest()).status == 1
        reflect: Any = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        )
        with pytest.raises(grpc.RpcError) as caught:
            list(reflect(iter([b""])))
        error: Any = caught.value
        assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def test_another_tenants_document_is_not_found(
    guarded: RunningServer, acme: Client, theirs: Document, tmp_path: Path
) -> None:
    """For every RPC that takes an id, and with the same words as for what never was."""
    with Client(guarded.target, token="three") as rival:
        report = acme.verify(theirs, "{}")
        calls: dict[str, Callable[[str], object]] = {
            "get": lambda d: rival.get(d),
            "watch": lambda d: list(rival.watch(d)),
            "pages": lambda d: list(rival.pages(d)),
            "blocks": lambda d: list(rival.blocks(d)),
            "image": lambda d: rival.page_image(d, 1),
            "prompt": lambda d: rival.prompt(d),
            "verify": lambda d: rival.verify(d, "{}"),
            "annotate": lambda d: list(rival.annotate(d, report, pages=[1])),
            "export": lambda d: rival.export(d, "{}", to=tmp_path / "a.zip"),
            "delete": lambda d: rival.delete(d),
        }
        for name, call in calls.items():
            said = []
            for document in (theirs.document_id, "0" * 32):
                with pytest.raises(NotFound) as caught:
                    call(document)
                said.append((caught.value.code, caught.value.message))
            assert said[0] == said[1], name
    assert acme.get(theirs).document_id == theirs.document_id


def test_a_known_hash_opens_nobody_elses_document(
    guarded: RunningServer, acme: Client, theirs: Document
) -> None:
    with (
        Client(guarded.target, token="two") as same,
        Client(guarded.target, token="three") as rival,
    ):
        assert same.upload(SCAN, engine="tesseract").document_id == theirs.document_id
        own = rival.ingest(SCAN, engine="tesseract")
        assert own.document_id != theirs.document_id
        rival.delete(own)
    assert acme.get(theirs).page_count == 1


def test_tokens_are_added_and_withdrawn_while_it_runs(
    guarded: RunningServer, tokens_file: Path
) -> None:
    before = tokens_file.read_text()
    with Client(guarded.target, token="four") as fresh, Client(guarded.target, token="two") as old:
        with pytest.raises(Unauthenticated):
            fresh.info()
        tokens_file.write_text(before.replace(line("acme", "two"), "") + line("new", "four"))
        assert fresh.info().version
        with pytest.raises(Unauthenticated):
            old.info()
        # Half a file changes nothing.
        tokens_file.write_text("acme 12")
        assert fresh.info().version
        tokens_file.write_text(before)
        assert old.info().version


def test_one_tenant_cannot_fill_the_queue(guarded: RunningServer, tmp_path: Path) -> None:
    with (
        Client(guarded.target, token="one") as flood,
        Client(guarded.target, token="three") as other,
    ):
        sent: list[Document] = []

        def flooding() -> None:
            for dpi in range(100, 160):
                sent.append(flood.upload(EXAMPLE / "invoice.pdf", dpi=dpi, engine="tesseract"))

        with pytest.raises(ServerBusy) as caught:
            flooding()
        assert caught.value.code == "QUEUE_FULL"
        assert caught.value.retry_after > 0
        mine = other.upload(EXAMPLE / "invoice.pdf", dpi=99, engine="tesseract")
        for document in sent:
            flood.delete(document)
        other.delete(mine)


def test_a_tokens_file_is_read_with_care(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(line("a", "x") + "\n# only a comment\n" + line("b-1.c", "y"))
    assert [t for t, _ in read_tokens(file)] == ["a", "b-1.c"]
    for wrong in ("a", "a xyz", "../b " + "0" * 64, "a " + "0" * 63):
        file.write_text(wrong)
        with pytest.raises(ValueError, match="line 1"):
            read_tokens(file)
    assert Tokens(None).tenant_of(()) == ""


def test_tls_and_its_rotation(tmp_path: Path) -> None:
    """A changed certificate is shown from the next handshake on."""
    first, second = authority("first"), authority("second")
    cert, key = first.write(tmp_path, "server")
    running = start_server(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key))
    target = running.target.replace("127.0.0.1", "localhost")
    try:
        with Client(target, root_certificates=first.pem) as client:
            assert client.info().version
        for roots in (second.pem, None):
            stranger = Client(target, root_certificates=roots, timeout=3)
            with stranger as client, pytest.raises(Unreachable):
                client.info()
        new = second.issue("server")
        for path, data in zip((key, cert), reversed(new), strict=True):
            path.write_bytes(data)
        with Client(target, root_certificates=second.pem) as client:
            assert client.info().version
        ca = tmp_path / "ca.pem"
        ca.write_bytes(second.pem)
        assert visualproof(["info", "--target", target, "--ca", str(ca)]) == 0
    finally:
        running.stop()


def test_mutual_tls(tmp_path: Path) -> None:
    ours, strangers = authority("ours"), authority("strangers")
    cert, key = ours.write(tmp_path, "server")
    (tmp_path / "ca.pem").write_bytes(ours.pem)
    running = start_server(
        tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key),
        "--tls-client-ca", str(tmp_path / "ca.pem"),
    )  # fmt: skip
    target = running.target.replace("127.0.0.1", "localhost")
    try:
        chain, private = ours.issue("caller")
        with Client(
            target, root_certificates=ours.pem, certificate_chain=chain, private_key=private
        ) as client:
            assert client.info().version
        wrong = strangers.issue("caller")
        for pair in ((None, None), wrong):
            stranger = Client(
                target,
                root_certificates=ours.pem,
                certificate_chain=pair[0],
                private_key=pair[1],
                timeout=3,
            )
            with stranger as client, pytest.raises(Unreachable):
                client.info()
    finally:
        running.stop()


def test_plain_text_off_loopback_is_refused(tmp_path: Path) -> None:
    for flags in (["--listen", "0.0.0.0:0"], ["--tls-cert", "x"], ["--tls-client-ca", "x"]):
        command = [sys.executable, "-m", "visualproof_server", "--data-dir", str(tmp_path), *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert "tls" in done.stderr or "loopback" in done.stderr


def test_two_servers_do_not_share_a_data_folder(tmp_path: Path) -> None:
    running = start_server(tmp_path / "data")
    try:
        command = [sys.executable, "-m", "visualproof_server", "--listen", "127.0.0.1:0"]
        done = subprocess.run(
            [*command, "--data-dir", str(tmp_path / "data")],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert "Another server uses" in done.stderr
        assert done.returncode == 1
    finally:
        running.stop()


def test_a_canary_reaches_no_log_and_no_error(guarded: RunningServer, acme: Client) -> None:
    """Text, file name, answer, path, prose, password, token: none is written anywhere."""
    canary = "CANARY-4471"
    said: list[str] = []

    def tried(call: Callable[[], object]) -> None:
        try:
            call()
        except (CallError, DocumentFailed) as error:
            said.append(f"{error} {getattr(error, 'metadata', {})}")

    document = acme.ingest(SCAN, engine="tesseract", file_name=canary)
    tried(lambda: acme.verify(document, {canary: canary}))
    tried(lambda: acme.verify(document, f'{{"a": {canary}}}'))
    tried(lambda: acme.verify(document, {"a": 1}, relations=[canary]))
    tried(lambda: acme.get(canary))
    tried(lambda: acme.prompt(document, json_schema=canary))
    tried(lambda: acme.check_prose(canary, [acme.verify(document, {"a": canary})]))
    tried(lambda: acme.ingest(b"%PDF-1.4 " + canary.encode(), password=canary, file_name=canary))
    tried(lambda: acme.ingest(SCAN, engine=canary))
    tried(lambda: acme.ingest(SCAN, languages=[canary]))
    with Client(guarded.target, token=canary) as wrong:
        tried(wrong.info)

    log = (guarded.data / "log.jsonl").read_text()
    assert len(log.splitlines()) > 10
    assert canary not in log
    assert canary not in " ".join(said)
    for record in log.splitlines():
        assert set(json.loads(record)) <= {
            "time", "level", "logger", "message", "rpc", "code", "ms", "document", "pages", "s",
            "port", "workers", "error", "at", "tenant",
        }  # fmt: skip


def test_ids_do_not_depend_on_the_machine_without_tenants(client: Client, tmp_path: Path) -> None:
    here = client.upload(EXAMPLE / "invoice.pdf", dpi=120, engine="tesseract")
    running = start_server(tmp_path / "data")
    try:
        with Client(running.target) as other:
            there = other.upload(EXAMPLE / "invoice.pdf", dpi=120, engine="tesseract")
    finally:
        running.stop()
    assert here.document_id == there.document_id
    assert (tmp_path / "data" / "documents" / here.document_id).exists()
