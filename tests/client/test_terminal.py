"""Text of documents and answers does nothing to a terminal, and names of files may hold any bytes."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from visualproof import Client, Report
from visualproof._channel import read_source, upload_messages
from visualproof._terminal import harmless, say
from visualproof.cli import show
from visualproof.cli.__main__ import main
from visualproof.testing import FakeService
from visualproof.v1 import document_pb2, report_pb2, status_pb2

HOSTILE = [
    "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;cGF3bmVk\x07",
    "\x9b31m", "\x9d0;title\x9c", "a\rb", "a\x08\x08b", "\x0e\x0f", "\x00", "\x7f", "\x85next", "\u2028",
    "total \u202e00.1\u202c", "\u2066x\u2069", "\x1bP$q\x1b\\", "\x1bc", "\udc9b31m", "\U000e0041", "\ufffe",
    "[red]x[/red]", "[link=http://evil]x[/link]", ":skull:", "\x90q\x9c",
]  # fmt: skip
OBEYED = set(map(chr, [*range(9), *range(11, 32), *range(127, 160)])) | set(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
)


def assert_inert(text: str) -> None:
    assert not OBEYED & set(text)
    text.encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_said_is_inert(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text, "beside")
    say(json.dumps({"text": text}, ensure_ascii=False))
    say(text, error=True)
    out, error = capsys.readouterr()
    assert_inert(out)
    assert_inert(error)
    # JSON says the same as before.
    assert json.loads(out.splitlines()[-1]) == {"text": text}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_report_is_inert(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    sound = text.encode("utf-8", "replace").decode()
    result = report_pb2.FieldResult(
        path="/" + sound, value_json=json.dumps(sound), status=status_pb2.STATUS_MISMATCH, action=status_pb2.ACTION_BLOCK, printed_text=sound,
        reasons=[report_pb2.Reason(code="X", message=sound)],
        nearest=report_pb2.Evidence(page_number=1, text=sound),
    )  # fmt: skip
    relation = report_pb2.RelationResult(
        expression=sound,
        outcome=report_pb2.RELATION_OUTCOME_FAILS,
        message=sound,
        action=status_pb2.ACTION_BLOCK,
    )
    show.print_report(
        Report(
            report_pb2.Report(
                results=[result], relations=[relation], action=status_pb2.ACTION_BLOCK
            )
        )
    )
    out = capsys.readouterr().out
    assert_inert(out)
    if text.startswith("["):
        # Rich's own markup is text too.
        assert text in out.replace("\n", "")


def test_a_terminal_still_has_its_colours() -> None:
    out = io.StringIO()
    console = show.Terminal()
    coloured = Console(file=out, force_terminal=True, color_system="standard")
    console.file, console._force_terminal, console._color_system = (
        out, True, coloured._color_system,
    )  # fmt: skip
    result = report_pb2.FieldResult(
        path="/a\x1b[2J",
        value_json="1",
        status=status_pb2.STATUS_VERIFIED,
        action=status_pb2.ACTION_RELEASE,
    )
    console.print(
        show.report_table(
            Report(report_pb2.Report(results=[result], action=status_pb2.ACTION_RELEASE))
        )
    )
    assert "\x1b[32m" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()


def test_a_file_name_in_the_progress_bar_is_inert(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr(out, "isatty", lambda: True, raising=False)
    with show.ProgressBar(True) as bar:
        update = bar.follow("a\x1b]0;x\x07[link=http://evil]b[/link].pdf")
        update(document_pb2.Document(page_count=2, read_page_count=1))
    assert "\x1b]" not in out.getvalue()
    assert "\x07" not in out.getvalue()


@given(st.text(st.characters(codec=None)))
def test_any_text_is_inert_and_right_text_stays(text: str) -> None:
    assert_inert(harmless(text))
    if text.isprintable():
        assert harmless(text) == text


def test_the_hebrew_and_the_hindi_stay() -> None:
    for text in (
        "שלום 12.50 ₪",
        "नमस्ते",
        "👩\u200d👩\u200d👧",
        "می\u200cخواهم",
        "e\u0301",
        "tab\tand\nline",
    ):
        assert harmless(text) == text


NAMES = [
    b"\xff.pdf", b"caf\xe9.pdf", b"\xed\xa0\x80.pdf", b"a\xc3.pdf", b"\x1b[2J.pdf", b"\xf0\x9f.pdf",
    b"\x80\x81\x82", "ü".encode("utf-16-le").replace(b"\0", b"\x01"), b"\xfe\xff\x01a", b"x" * 200 + b"\xff",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_bytes_is_uploaded(
    name: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = os.fsencode(tmp_path) + b"/" + name
    Path(os.fsdecode(file)).write_bytes(b"Total due 90.00")
    with FakeService() as fake:
        with Client(fake.target) as client:
            client.ingest(Path(os.fsdecode(file)))
        target = ["--target", fake.target]
        assert main(["ingest", os.fsdecode(file), *target]) == 0
        assert main(["ingest", os.fsdecode(file), os.fsdecode(file), *target]) == 0
        assert main(["ingest", os.fsdecode(file), "--json", *target]) == 0
    assert_inert(capsys.readouterr().out)


def test_a_name_that_is_given_may_hold_anything() -> None:
    for given_name in ("\udcff.pdf", "\ud800", "a\udfffb"):
        content, name = read_source(b"x", given_name)
        list(upload_messages(content, name, document_pb2.ReadOptions(), None))
        assert "\ufffd" in name


def test_arguments_and_files_that_are_no_utf_8_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, answer, fields = (tmp_path / n for n in ("a.pdf", "a.json", "f.json"))
    document.write_bytes(b"Total due 90.00")
    answer.write_bytes(b'{"a": "\xff"}')
    fields.write_bytes(b"\xff\xfe")
    with FakeService() as fake:
        target = ["--target", fake.target]
        assert main(["verify", str(document), str(answer), *target]) == 2
        assert main(["verify", str(document), str(answer), "--fields", str(fields), *target]) == 2
        assert main(["ingest", str(document), "--password", "\udcff", *target]) == 2
    assert capsys.readouterr().err.count("NOT_UTF8") == 3
