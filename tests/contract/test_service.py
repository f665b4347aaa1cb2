"""The contract over a real socket: real Tesseract, real poppler, the project's own scan."""

import io
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import numpy as np
import psutil
import pypdfium2
import pytest
from conftest import EXAMPLE, RunningServer, start_server
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from PIL import Image
from visualproof import (
    Action,
    BlockKind,
    Client,
    Document,
    DocumentFailed,
    FieldSpec,
    InvalidRequest,
    NotFound,
    ServerBusy,
    Status,
)
from visualproof.cli import fields
from visualproof_server.storing.disk import DiskStore

ANSWER = (EXAMPLE / "answer.json").read_bytes()
WANTED = fields.load(str(EXAMPLE / "fields.json"))


def test_the_main_job(client: Client, invoice: Document) -> None:
    report = client.verify(invoice, ANSWER, fields=WANTED.fields, relations=WANTED.relations)
    statuses = {r.path: r.status for r in report}
    assert statuses.pop("/total") is Status.MISMATCH
    assert report["/total"].printed_text == "16,020.00"
    assert statuses.pop("/vat_number") is Status.NOT_FOUND
    assert statuses.pop("/items/1/amount") is Status.FOUND_ELSEWHERE
    assert [r.code for r in report["/items/1/amount"].reasons] == ["WRONG_ROW"]
    assert set(statuses.values()) == {Status.VERIFIED}
    assert report.action is Action.BLOCK
    assert [r.outcome for r in report.relations] == [3]


def test_second_readings_are_kept_with_the_document(client: Client, server: RunningServer) -> None:
    # Where two engines agree already, nothing is read again.
    invoice = client.ingest(EXAMPLE / "scan.jpg", engine="tesseract")
    report = client.verify(invoice, ANSWER, fields=WANTED.fields)
    folder = server.data / "documents" / invoice.document_id
    kept = DiskStore(folder.parent).get(invoice.document_id, "second_readings.json")
    assert kept is not None
    assert json.loads(kept)["readings"]
    written = (folder / "second_readings.json").stat().st_mtime_ns
    again = client.verify(invoice, ANSWER, fields=WANTED.fields)
    assert again.message == report.message
    # The same question reads nothing, so nothing is written.
    assert (folder / "second_readings.json").stat().st_mtime_ns == written


def test_blocks_have_readable_ids_parents_and_places(client: Client, invoice: Document) -> None:
    blocks = list(client.blocks(invoice))
    by_id = {b.block_id: b for b in blocks}
    assert len(by_id) == len(blocks)
    line = next(b for b in blocks if b.text.startswith("PO number"))
    assert line.block_id == f"L{line.marker}"
    word = by_id[f"{line.block_id}.W3"]
    assert (word.text, word.parent_id, word.kind) == (
        "PO-88213",
        line.block_id,
        BlockKind.Value("BLOCK_KIND_WORD"),
    )
    assert by_id[line.parent_id].block_id == "P1"
    assert len(word.polygon) == 4
    for block in blocks:
        assert 0 <= block.box.left <= block.box.left + block.box.width <= 1.0001
        assert 0 <= block.box.top <= block.box.top + block.box.height <= 1.0001
    only = list(client.blocks(invoice, page=1, kinds=[BlockKind.Value("BLOCK_KIND_LINE")]))
    assert {b.kind for b in only} == {BlockKind.Value("BLOCK_KIND_LINE")}


def test_boxes_lie_on_the_ink_of_the_page_as_shown(client: Client, invoice: Document) -> None:
    image = client.page_image(invoice, 1, format="png")
    grey = np.asarray(Image.open(io.BytesIO(image.image)).convert("L")).astype(int)
    for block in client.blocks(invoice, kinds=[BlockKind.Value("BLOCK_KIND_WORD")]):
        left, top = round(block.box.left * image.width), round(block.box.top * image.height)
        right = round((block.box.left + block.box.width) * image.width)
        bottom = round((block.box.top + block.box.height) * image.height)
        inside = grey[top:bottom, left:right]
        assert inside.min() < 110, block.text


def test_the_prompt_shows_markers_and_a_schema(client: Client, invoice: Document) -> None:
    prompt = client.prompt(invoice, fields=WANTED.fields)
    assert prompt.text.startswith("<PAGE 1>\n<LINE 1>Northgate Kitchen Supply Ltd")
    assert "<LINE 12>" in prompt.instructions
    assert prompt.answer_schema is not None
    assert set(prompt.answer_schema["required"]) == {f.path.split("/")[1] for f in WANTED.fields}
    assert (prompt.pages, prompt.next_page) == ((1, 1), 0)


def test_marked_pages_have_the_colours_on_the_values(client: Client, invoice: Document) -> None:
    report = client.verify(invoice, ANSWER, fields=WANTED.fields)
    (page,) = client.annotate(invoice, report, format="png")
    pixels = np.asarray(Image.open(io.BytesIO(page.image)).convert("RGB")).astype(int)
    box = report["/total"].evidence[0].boxes[0]
    # The frame's top edge, a little outside the box, is red; the words inside stay as they are.
    y, x = round(box.top * page.height) - 3, round((box.left + box.width / 2) * page.width)
    red = pixels[y - 3 : y + 4, x]
    assert any(r > 150 and g < 80 and b < 90 for r, g, b in red)
    plain = client.page_image(invoice, 1, longest_side=2000, format="png")
    original = np.asarray(Image.open(io.BytesIO(plain.image)).convert("L")).astype(int)
    for result in report:
        for evidence in result.evidence:
            for b in evidence.boxes:
                rows = slice(
                    round(b.top * page.height) + 2, round((b.top + b.height) * page.height) - 2
                )
                columns = slice(
                    round(b.left * page.width) + 2, round((b.left + b.width) * page.width) - 2
                )
                # Frames follow the tilted line: they cross the upright box, and no ink.
                ink = original[rows, columns] < 90
                difference = np.abs(pixels[rows, columns, 0] - original[rows, columns])[ink]
                # The frame of "power" lies inside this one.
                nested = result.path == "/items/0/description"
                assert nested or difference.mean() < 3.0, result.path


def test_crops_show_one_value(client: Client, invoice: Document) -> None:
    report = client.verify(invoice, ANSWER, fields=WANTED.fields)
    (crop,) = client.crops(invoice, report, path="/total", context_lines=1)
    assert (crop.path, crop.page_number) == ("/total", 1)
    assert crop.height < crop.width


def test_same_bytes_and_options_are_read_once(client: Client, invoice: Document) -> None:
    again = client.upload((EXAMPLE / "scan.jpg").read_bytes())
    assert (again.document_id, again.state) == (invoice.document_id, invoice.state)
    other = client.upload(EXAMPLE / "scan.jpg", dpi=200)
    assert other.document_id != invoice.document_id


def test_the_same_bytes_sent_at_once_make_one_document(client: Client, tmp_path: Path) -> None:
    content = pdf_of(tmp_path / "x.pdf", 2, (321, 234))
    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda _: client.ingest(content), range(8)))
    assert len({d.document_id for d in documents}) == 1
    assert {d.page_count for d in documents} == {2}


@pytest.mark.slow
def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    running = start_server(tmp_path / "data", "--queue-size", "1", "--workers", "1")
    try:
        with Client(running.target) as client:
            client.upload(EXAMPLE / "scan.jpg")
            with pytest.raises(ServerBusy) as caught:
                client.upload(EXAMPLE / "invoice.pdf")
        assert (caught.value.code, caught.value.retry_after > 0) == ("QUEUE_FULL", True)
        assert not list((tmp_path / "data" / "incoming").iterdir())
    finally:
        running.stop()


def pdf_of(path: Path, pages: int, size: tuple[float, float] = (200, 200)) -> bytes:
    pdf = pypdfium2.PdfDocument.new()
    for _ in range(pages):
        pdf.new_page(*size)
    pdf.save(str(path))
    pdf.close()
    return path.read_bytes()


def many_pages(count: int) -> bytes:
    """A tree whose one page object stands `count` times."""
    kids = b"3 0 R " * count
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids["
        + kids + b"]/Count %d>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n" % count
        + b"trailer<</Root 1 0 R>>\n%%EOF"
    )  # fmt: skip


def png_of(size: tuple[int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("1", size, 1).save(out, "PNG")
    return out.getvalue()


def failure_of(client: Client, content: bytes, **options: object) -> str:
    try:
        client.ingest(content, **options)  # type: ignore[arg-type]
    except DocumentFailed as error:
        assert error.message
        return error.code
    except InvalidRequest as error:
        return error.code
    return "none"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "EMPTY_FILE"),
        (b"This is a text, whatever its name says.", "UNSUPPORTED_TYPE"),
        (b"%PDF-1.7\n1 0 obj <<", "FILE_CORRUPT"),
        (png_of((1, 1)), "PAGE_TOO_SMALL"),
        (png_of((30_000, 30_000)), "PAGE_TOO_LARGE"),
        (many_pages(100_000), "TOO_MANY_PAGES"),
        (many_pages(0), "NO_PAGES"),
    ],
    ids=["empty", "text", "truncated", "1x1", "30000x30000", "100000 pages", "no pages"],
)
def test_bad_files_have_a_clear_code_and_the_server_answers_on(
    client: Client, server: RunningServer, content: bytes, code: str
) -> None:
    assert failure_of(client, content) == code
    assert client.info().version
    assert not list((server.data / "incoming").iterdir())


ENCRYPTED = Path(__file__).parent / "encrypted.pdf"


def test_an_encrypted_pdf_with_and_without_its_password(
    client: Client, server: RunningServer
) -> None:
    content = ENCRYPTED.read_bytes()
    assert failure_of(client, content) == "PDF_ENCRYPTED"
    assert failure_of(client, content, password="wrong") == "PDF_PASSWORD_WRONG"
    assert failure_of(client, content, password="secret") == "none"
    # A password is kept until the document is read or has failed, and no longer.
    states = "".join(p.read_text() for p in (server.data / "documents").glob("*/state.json"))
    assert '"password":""' in states
    assert "secret" not in states
    assert "wrong" not in states


def test_a_bad_page_costs_only_itself(client: Client, tmp_path: Path) -> None:
    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(200, 200)
    pdf.new_page(14_000, 14_000)
    pdf.save(str(tmp_path / "x.pdf"))
    pdf.close()
    document = client.ingest(tmp_path / "x.pdf")
    assert (document.page_count, document.read_page_count) == (2, 2)
    assert [w.code for w in document.warnings] == ["PAGES_FAILED"]
    assert [p.failure.code for p in client.pages(document)] == ["", "PAGE_TOO_LARGE"]


def test_refused_requests_have_codes(client: Client, invoice: Document) -> None:
    def code(call: object, *args: object, **kwargs: object) -> str:
        with pytest.raises((InvalidRequest, NotFound)) as caught:
            call(*args, **kwargs)  # type: ignore[operator]
        return caught.value.code

    assert code(client.verify, invoice, "no json") == "ANSWER_NOT_JSON"
    assert code(client.verify, invoice, "[" * 99) == "ANSWER_TOO_LARGE"
    assert code(client.verify, invoice, "{}", fields=[FieldSpec(path="total")]) == "FIELDS_INVALID"
    assert code(client.prompt, invoice, json_schema="[]") == "SCHEMA_INVALID"
    assert code(client.prompt, invoice, pages=(1, 7)) == "PAGE_OUT_OF_RANGE"
    assert code(client.get, "0" * 32) == "DOCUMENT_NOT_FOUND"
    assert code(client.get, "../../etc/passwd") == "DOCUMENT_ID_INVALID"
    assert code(client.upload, b"x", engine="none") == "ENGINE_UNKNOWN"
    assert code(client.upload, b"x", languages=["xxx"]) == "LANGUAGE_UNKNOWN"
    assert code(client.upload, b"x", dpi=9999) == "OPTIONS_INVALID"
    assert code(client.ingest, EXAMPLE / "scan.jpg", first_page=3, last_page=2) == "OPTIONS_INVALID"


def test_delete_takes_everything(client: Client, server: RunningServer, tmp_path: Path) -> None:
    document = client.ingest(pdf_of(tmp_path / "x.pdf", 1, (222, 333)))
    folder = server.data / "documents" / document.document_id
    assert folder.exists()
    client.delete(document)
    assert not folder.exists()
    with pytest.raises(NotFound):
        client.verify(document, "{}")


def test_health_and_reflection(server: RunningServer) -> None:
    with grpc.insecure_channel(server.target) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", "visualproof.v1.VisualProofService"):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        (listed,) = stub.ServerReflectionInfo(iter([request]), timeout=10)
        names = {s.name for s in listed.list_services_response.service}
        assert "visualproof.v1.VisualProofService" in names


def test_info_names_engines_kinds_limits_and_vocabulary(client: Client) -> None:
    info = client.info()
    assert "tesseract" in {engine.name for engine in info.engines}
    assert {"text", "money", "date"} <= set(info.kinds)
    assert {limit.name for limit in info.limits} >= {"max_pages", "max_upload_mb"}
    assert len(info.statuses) == 11
    assert any(c.startswith("pdftoppm") for c in info.components)


@pytest.mark.slow
def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    running = start_server(tmp_path / "data", "--max-upload-mb", "1")
    try:
        with Client(running.target) as client, pytest.raises(InvalidRequest) as caught:
            client.upload(b"%PDF-" + b"0" * 1_500_000)
        assert caught.value.code == "FILE_TOO_LARGE"
        assert not list((tmp_path / "data" / "incoming").iterdir())
    finally:
        running.stop()


@pytest.mark.slow
def test_killed_at_any_moment_a_restart_resumes(tmp_path: Path) -> None:
    frames = [Image.open(EXAMPLE / "scan.jpg").convert("L").resize((827, 1170)) for _ in range(6)]
    for number, frame in enumerate(frames):
        frame.putpixel((number, 0), 0)
    content = io.BytesIO()
    frames[0].save(content, "TIFF", save_all=True, append_images=frames[1:])
    first = start_server(tmp_path)
    read: set[str] = set()
    with Client(first.target) as client:
        document = client.upload(content.getvalue())
        for state in client.watch(document):
            if state.read_page_count >= 2:
                break
        children = psutil.Process(first.process.pid).children(recursive=True)
        os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    folder = tmp_path / "documents" / document.document_id
    before = {p.name: p.stat().st_mtime_ns for p in folder.glob("page-*.json")}
    read = set(before)
    assert len(read) >= 2
    psutil.wait_procs(children, timeout=20)
    assert not any(c.is_running() and c.status() != "zombie" for c in children)
    second = start_server(tmp_path)
    try:
        with Client(second.target) as client:
            *_, last = client.watch(document)
            assert last.read_page_count == 6
            assert len(list(client.pages(document))) == 6
        # Finished pages were not read again.
        assert {n: (folder / n).stat().st_mtime_ns for n in read} == before
    finally:
        second.stop()


@pytest.mark.slow
def test_sigterm_drains_and_leaves_no_process_or_file(tmp_path: Path) -> None:
    running = start_server(tmp_path / "data")
    with Client(running.target) as client:
        client.info()
    children = psutil.Process(running.process.pid).children(recursive=True)
    assert running.stop(signal.SIGTERM) == 0
    assert not any(c.is_running() and c.status() != "zombie" for c in children)


def test_no_document_text_in_the_log(client: Client, invoice: Document, server_log: Path) -> None:
    canary = "CANARY-8151"
    client.verify(invoice, json.dumps({canary: canary}))
    client.upload(b"%PDF-1.7 " + canary.encode(), file_name=canary)
    text = server_log.read_text()
    assert text.count('"rpc": "VerifyAnswer"')
    assert canary not in text
    assert "Northgate" not in text
