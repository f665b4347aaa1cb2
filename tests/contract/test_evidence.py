"""Evidence and imported readings over a real socket."""

import asyncio
import io
import json
import time
from pathlib import Path

import grpc
import pikepdf
import pytest
from conftest import EXAMPLE, RunningServer, start_server
from PIL import Image
from visualproof import (
    Action,
    Client,
    Document,
    DocumentFailed,
    InvalidRequest,
    NotReady,
    Report,
    Status,
)
from visualproof.aio import AsyncClient
from visualproof.cli import fields
from visualproof.cli.__main__ import main as visualproof
from visualproof.v1 import document_pb2, visual_proof_service_pb2_grpc
from visualproof.v1 import visual_proof_service_pb2 as pb

ANSWER = (EXAMPLE / "answer.json").read_bytes()
WANTED = fields.load(str(EXAMPLE / "fields.json"))
HEADS = {
    "a.zip": b"PK\x03\x04",
    "a.pdf": b"%PDF-",
    "a.html": b"<!doctype html>",
    "a.jsonld": b"{",
    "a.hocr": b"<?xml",
}


@pytest.mark.parametrize("name", HEADS)
def test_the_suffix_tells_the_format(
    client: Client, invoice: Document, tmp_path: Path, name: str
) -> None:
    made = client.export(invoice, ANSWER, fields=WANTED.fields, to=tmp_path / name)
    assert made.path.read_bytes().startswith(HEADS[name])
    assert made.action == (0 if name == "a.hocr" else Action.BLOCK)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_formats_of_other_programs(client: Client, invoice: Document, tmp_path: Path) -> None:
    body = client.export(invoice, to=tmp_path / "t.json", format="textract")
    blocks = json.loads(body.path.read_text())["Blocks"]
    assert {"PAGE", "LINE", "WORD", "TABLE", "CELL"} <= {b["BlockType"] for b in blocks}
    cited = client.export(invoice, ANSWER, to=tmp_path / "c.json", format="ethos-citations")
    claims = json.loads(cited.path.read_text())["claims"]
    assert {"quote", "table_cell"} == {c["kind"] for c in claims}


def test_wrong_exports_leave_no_file(client: Client, invoice: Document, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format must be one of bundle"):
        client.export(invoice, ANSWER, to=tmp_path / "a.docx")
    with pytest.raises(InvalidRequest) as caught:
        client.export(invoice, "no json", to=tmp_path / "a.zip")
    assert caught.value.code == "ANSWER_NOT_JSON"
    assert list(tmp_path.iterdir()) == []


def test_the_async_client_exports_the_same(
    server: RunningServer, client: Client, invoice: Document, tmp_path: Path
) -> None:
    async def export() -> None:
        async with AsyncClient(server.target) as connected:
            await connected.export(invoice, ANSWER, to=tmp_path / "b.zip")

    asyncio.run(export())
    client.export(invoice, ANSWER, to=tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_an_encrypted_pdf_is_annotated_with_its_password(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "locked.pdf"
    Image.open(EXAMPLE / "scan.jpg").save(tmp_path / "plain.pdf", resolution=200)
    with pikepdf.open(tmp_path / "plain.pdf") as pdf:
        pdf.save(file, encryption=pikepdf.Encryption(user="open sesame", owner="x"))
    document = client.ingest(file, password="open sesame", engine="tesseract")
    answer = {"vendor": "Northgate Kitchen Supply Ltd"}
    sizes = []
    for password in ("open sesame", ""):
        made = client.export(document, answer, to=tmp_path / "a.pdf", password=password)
        with pikepdf.open(made.path) as pdf:
            assert len(pdf.pages[0].obj.Annots) == 1
            sizes.append(str(pdf.pages[0].images))
    assert sizes[0] != sizes[1]


def test_a_notebook_shows_a_table_with_pictures(client: Client, invoice: Document) -> None:
    report = client.verify(invoice, ANSWER, fields=WANTED.fields)
    shown = report._repr_html_()
    assert shown.count('<img src="data:image/jpeg;base64,') == 19
    assert "16200.00" in shown
    assert "16,020.00" in shown
    hostile = Report(report.message)
    hostile.message.results[0].printed_text = "<script>alert(1)</script>"
    assert "<script" not in hostile._repr_html_()


def textract_of(client: Client, document: Document, folder: Path) -> Path:
    return client.export(document, to=folder / "reading.json", format="textract").path


def test_another_readers_words_on_our_pixels(
    client: Client, invoice: Document, tmp_path: Path
) -> None:
    reading = textract_of(client, invoice, tmp_path)
    document = client.ingest(EXAMPLE / "scan.jpg", reading=reading)
    assert document.document_id != invoice.document_id
    assert len(document.reading_sha256) == 64
    assert [p.source for p in client.pages(document)] == [document_pb2.SOURCE_IMPORTED]
    ours = client.verify(invoice, ANSWER, fields=WANTED.fields)
    theirs = client.verify(document, ANSWER, fields=WANTED.fields)
    assert [(r.path, r.status) for r in theirs] == [(r.path, r.status) for r in ours]
    assert theirs["/total"].evidence[0].source == document_pb2.SOURCE_IMPORTED
    assert client.page_image(document, 1).width == client.page_image(invoice, 1).width
    assert client.upload(EXAMPLE / "scan.jpg", reading=reading).document_id == document.document_id


def test_a_reading_that_says_more_than_is_printed(
    client: Client, invoice: Document, tmp_path: Path
) -> None:
    """Every value that another reader's words prove is read from the pixels too."""
    reading = textract_of(client, invoice, tmp_path)
    body = json.loads(reading.read_text())
    for block in body["Blocks"]:
        if block.get("Text") == "PO-88213":
            block["Text"] = "PO-99999"
        if block.get("Text") == "INVOICE" and block["BlockType"] == "WORD":
            box = block["Geometry"]["BoundingBox"]
            box["Left"], box["Top"] = 0.5, 0.9
            block["Geometry"].pop("Polygon")
    reading.write_text(json.dumps(body))
    document = client.ingest(EXAMPLE / "scan.jpg", reading=reading)
    report = client.verify(document, {"po": "PO-99999", "title": "INVOICE", "vat": "2,670.00"})
    assert report["/po"].status is Status.UNCERTAIN
    # Its word is where there is no ink; what is left is the first word of a caption.
    assert report["/title"].status is Status.EVIDENCE_ONLY
    assert [r.code for r in report["/po"].reasons] == ["PIXELS_DIFFER"]
    assert report["/vat"].status is Status.VERIFIED


def test_a_reading_without_its_document(client: Client, invoice: Document, tmp_path: Path) -> None:
    reading = textract_of(client, invoice, tmp_path)
    document = client.ingest(reading)
    assert [w.code for w in document.warnings] == ["NO_PIXELS"]
    report = client.verify(document, ANSWER, fields=WANTED.fields)
    assert report["/total"].status is Status.MISMATCH
    assert report["/vendor"].status is Status.VERIFIED
    with pytest.raises(NotReady) as caught:
        client.page_image(document, 1)
    assert caught.value.code == "NO_PIXELS"
    with pytest.raises(NotReady):
        list(client.annotate(document, report))
    client.export(document, ANSWER, fields=WANTED.fields, to=tmp_path / "a.zip")
    assert visualproof(["replay", str(tmp_path / "a.zip")]) == 0
    with pikepdf.open(
        client.export(document, ANSWER, fields=WANTED.fields, to=tmp_path / "a.pdf").path
    ) as pdf:
        assert len(pdf.pages[0].obj.Annots) == 19


def test_bad_readings_are_refused(client: Client, tmp_path: Path) -> None:
    with pytest.raises(DocumentFailed) as caught:
        client.ingest(io.BytesIO(b'{"Blocks": []}'))
    assert caught.value.code == "READING_INVALID"
    with pytest.raises(DocumentFailed) as caught:
        client.ingest(EXAMPLE / "scan.jpg", reading=b"<html></html>")
    assert caught.value.code == "READING_INVALID"
    with pytest.raises(InvalidRequest) as refused:
        client.ingest(EXAMPLE / "scan.jpg", reading=b"")
    assert refused.value.code == "EMPTY_FILE"


def test_review_and_export_commands(
    server: RunningServer, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    answer = tmp_path / "answer.json"
    answer.write_bytes(ANSWER)
    scan, wanted = str(EXAMPLE / "scan.jpg"), str(EXAMPLE / "fields.json")
    common = ["--fields", wanted, "--target", server.target]
    assert visualproof(["review", scan, str(answer), *common]) == 1
    assert (tmp_path / "answer-evidence.zip").exists()
    page = Path(opened[0].removeprefix("file://"))
    assert b"16,020.00" in page.read_bytes()
    out = str(tmp_path / "out.pdf")
    assert visualproof(["export", scan, str(answer), "--to", out, *common, "--json"]) == 1
    assert json.loads(capfd.readouterr().out.splitlines()[-1])["written"] == out
    assert visualproof(["export", scan, str(answer), "--to", "out.docx", *common]) == 2


@pytest.mark.slow
def test_an_export_that_is_broken_off_leaves_nothing(tmp_path: Path) -> None:
    exports = tmp_path / "data" / "scratch" / "exports"
    running = start_server(tmp_path / "data")
    try:
        with Client(running.target) as client:
            document = client.ingest(EXAMPLE / "scan.jpg", engine="tesseract")
            asked = pb.ExportEvidenceRequest(
                answer=pb.VerifyAnswerRequest(document_id=document.document_id, answer_json="{}"),
                with_original=True,
            )
            with grpc.insecure_channel(running.target) as channel:
                stub = visual_proof_service_pb2_grpc.VisualProofServiceStub(channel)
                for wait_for_first in (True, False):
                    call = stub.ExportEvidence(asked)
                    if wait_for_first:
                        assert next(iter(call)).size_bytes > 300_000
                    call.cancel()
            client.export(document, "{}", to=tmp_path / "a.zip")
            until = time.monotonic() + 20
            while list(exports.iterdir()) and time.monotonic() < until:
                client.get(document)
            assert list(exports.iterdir()) == []
    finally:
        running.stop()
    assert not exports.parent.exists()
