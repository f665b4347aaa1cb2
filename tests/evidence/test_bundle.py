"""The sealed bundle: deterministic, and every changed byte is found and named."""

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import EXAMPLE, RunningServer, start_server
from hypothesis import given, settings
from hypothesis import strategies as st
from visualproof import Client, Document
from visualproof.cli import fields
from visualproof.cli.__main__ import main as visualproof
from visualproof_server.evidence import bundle
from visualproof_server.evidence.signing import Signer
from visualproof_server.evidence.version import PAGE_VERSION
from visualproof_server.model.build import digest_of
from visualproof_server.proving.version import RULES_VERSION
from visualproof_server.replay import CannotReplay, main, replay

ANSWER = (EXAMPLE / "answer.json").read_bytes()
WANTED = fields.load(str(EXAMPLE / "fields.json"))
FILES = {"report.json": b'{"a": 1}\n', "pages/0001.webp": bytes(range(256)), "answer.json": b"{}"}
FACTS = {"title": "x", "document": {"document_id": "d"}}


@pytest.fixture(scope="module")
def sealed(client: Client, invoice: Document, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A bundle of the project's own scan, as the real service makes it."""
    file = tmp_path_factory.mktemp("bundle") / "a.zip"
    made = client.export(
        invoice, ANSWER, fields=WANTED.fields, relations=WANTED.relations, to=file,
        with_original=True,
    )  # fmt: skip
    assert (made.mime_type, made.size) == ("application/zip", file.stat().st_size)
    return file.read_bytes()


def test_the_same_files_give_the_same_bytes() -> None:
    again = dict(reversed(FILES.items()))
    assert bundle.seal(FILES, FACTS) == bundle.seal(again, FACTS)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_changed_byte_is_found(data: st.DataObject) -> None:
    whole = bundle.seal(FILES, FACTS)
    at = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda b: b != whole[at]))
    changed = whole[:at] + bytes([other]) + whole[at + 1 :]
    try:
        assert bundle.unseal(changed).changed != ()
    except ValueError as error:
        assert "zip" in str(error) or "manifest" in str(error)


@given(st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_what_is_no_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"zip|manifest"):
        bundle.unseal(data)


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_changed_file_is_named(name: str) -> None:
    whole = bundle.seal(FILES, FACTS)
    changed = whole.replace(FILES[name], b"X" + FILES[name][1:])
    (said,) = bundle.unseal(changed).changed
    assert said == f"{name}: the bytes are not those that were sealed"


def test_bytes_before_and_after_the_zip_are_found() -> None:
    whole = bundle.seal(FILES, FACTS)
    for changed in (whole + b"x", b"x" + whole):
        try:
            assert bundle.unseal(changed).changed != ()
        except ValueError:
            pass


def test_what_reading_wrote_comes_back_the_same(sealed: bytes) -> None:
    files = bundle.unseal(sealed).files
    document = bundle.document_of(files["blocks.jsonl"])
    assert bundle.blocks(document) == files["blocks.jsonl"]


def test_the_service_makes_the_same_bundle_twice(
    client: Client, invoice: Document, sealed: bytes, tmp_path: Path
) -> None:
    client.export(
        invoice, ANSWER, fields=WANTED.fields, relations=WANTED.relations,
        to=tmp_path / "b.zip", with_original=True,
    )  # fmt: skip
    assert (tmp_path / "b.zip").read_bytes() == sealed


def test_a_bundle_is_proven_again(sealed: bytes, client: Client, invoice: Document) -> None:
    made = replay(sealed)
    assert (made.differences, made.proven) == ((), ("report.json", "index.html"))
    assert made.source_sha256 == invoice.source_sha256
    assert made.counts == {"VERIFIED": 17, "MISMATCH": 1, "NOT_FOUND": 1, "FOUND_ELSEWHERE": 1}
    report = json.loads(bundle.unseal(sealed).files["report.json"])
    wire = client.verify(invoice, ANSWER, fields=WANTED.fields, relations=WANTED.relations)
    assert report == json.loads(wire.to_json())


def resealed(whole: bytes, **changes: tuple[bytes, bytes]) -> bytes:
    """A forger's bundle: contents changed, hashes and seal made to fit."""
    unsealed = bundle.unseal(whole)
    files = {n: d for n, d in unsealed.files.items() if not n.startswith("manifest.")}
    for name, (old, new) in changes.items():
        name = name.replace("_", ".")
        assert old in files[name]
        files[name] = files[name].replace(old, new)
    facts = {k: v for k, v in unsealed.manifest.items() if k not in ("files", "format")}
    return bundle.seal(files, facts)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("report_json", b"STATUS_MISMATCH", b"STATUS_VERIFIED", "report.json: /total"),
        ("answer_json", b"16200.00", b"16020.00", "report.json: /total"),
        ("blocks_jsonl", b"16,020.00", b"16,200.00", "report.json: /total"),
        ("index_html", b"16,020.00", b"16,200.00", "index.html: "),
        ("original", b"\xff\xd8", b"\xff\xd9", "original: "),
    ],
)
def test_a_forger_who_mends_the_hashes_is_found(
    sealed: bytes, file: str, old: bytes, new: bytes, said: str
) -> None:
    differences = replay(resealed(sealed, **{file: (old, new)})).differences
    assert any(d.startswith(said) for d in differences), differences


@pytest.mark.parametrize("what", ["rules", "page"])
def test_another_build_says_so_before_it_says_changed(
    what: str, sealed: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(f"visualproof_server.replay.{what.upper()}_VERSION", "2")
    with pytest.raises(CannotReplay, match=rf"another build made it \({what} version .*, here 2\)"):
        replay(resealed(sealed, index_html=(b"<title>", b"<title>another style")))
    file = tmp_path / "a.zip"
    file.write_bytes(sealed)
    assert main([str(file)]) == 2


def test_a_report_is_compared_by_what_it_says(sealed: bytes) -> None:
    """Another spelling of the same report, with the page that names it: nothing differs."""
    unsealed = bundle.unseal(sealed)
    files = {n: d for n, d in unsealed.files.items() if not n.startswith("manifest.")}
    before = files["report.json"]
    after = json.dumps(json.loads(before), separators=(",", ":")).encode()
    hashes = [hashlib.sha256(x).hexdigest().encode() for x in (before, after)]
    files |= {"report.json": after, "index.html": files["index.html"].replace(hashes[0], hashes[1])}
    facts = {k: v for k, v in unsealed.manifest.items() if k not in ("files", "format")}
    assert replay(bundle.seal(files, facts)).differences == ()


def test_versions_name_all_that_decides(tmp_path: Path) -> None:
    package = tmp_path / "rules"
    (package / "vocabulary").mkdir(parents=True)
    (package / "prove.py").write_text("1")
    (package / "vocabulary" / "en.txt").write_text("total")

    def digest() -> str:
        return digest_of((package,), ("rapidfuzz",))

    seen = [digest()]
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "prove.pyc").write_bytes(b"x")
    assert digest() == seen[0]
    (package / "prove.py").write_text("2")
    seen.append(digest())
    (package / "vocabulary" / "en.txt").write_text("sum")
    seen.append(digest())
    (package / "new.py").touch()
    seen.append(digest())
    seen.append(digest_of((package,), ("rapidfuzz", "babel")))
    assert len(set(seen)) == 5
    assert RULES_VERSION != PAGE_VERSION


def test_second_readings_are_replayed(client: Client, tmp_path: Path) -> None:
    """Doubtful words that were read again are proven from what is in the bundle."""
    document = client.ingest(EXAMPLE / "scan.jpg", engine="tesseract", dpi=200)
    file = tmp_path / "a.zip"
    client.export(document, ANSWER, fields=WANTED.fields, to=file)
    files = bundle.unseal(file.read_bytes()).files
    assert json.loads(files["second_readings.json"])["readings"]
    assert replay(file.read_bytes()).differences == ()


def test_the_command_says_what_it_found(
    sealed: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(sealed)
    assert main([str(file)]) == 0
    assert "proven again, the same: report.json, index.html" in capsys.readouterr().out
    file.write_bytes(sealed.replace(b"16,020.00", b"16,020.01", 1))
    assert main([str(file)]) == 1
    assert "the bytes are not those that were sealed" in capsys.readouterr().out
    assert main([str(file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["same"] is False
    file.write_bytes(b"no zip")
    assert main([str(file)]) == 2
    assert "this is no bundle" in capsys.readouterr().err


def test_replay_and_open_on_the_command_line(
    sealed: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = tmp_path / "a.zip"
    file.write_bytes(sealed)
    assert visualproof(["replay", str(file)]) == 0
    assert "proven again" in capfd.readouterr().out
    assert visualproof(["open", str(file), "--to", str(tmp_path / "page.html")]) == 0
    with zipfile.ZipFile(file) as archive:
        assert (tmp_path / "page.html").read_bytes() == archive.read("index.html")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert visualproof(["open", str(file)]) == 0
    assert Path(opened[0].removeprefix("file://")).read_bytes().startswith(b"<!doctype html>")
    assert visualproof(["open", str(EXAMPLE / "scan.jpg")]) == 2
    # A page that a forger made is not opened.
    file.write_bytes(resealed(sealed, index_html=(b"<title>", b"<script>1</script><title>")))
    assert visualproof(["open", str(file)]) == 2
    assert len(opened) == 1


@pytest.mark.slow
def test_a_signature_names_its_signer(tmp_path: Path) -> None:
    key, public = tmp_path / "key.pem", tmp_path / "public.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    running: RunningServer = start_server(tmp_path / "data", "--signing-key", str(key))
    try:
        with Client(running.target) as client:
            document = client.ingest(EXAMPLE / "scan.jpg", engine="tesseract")
            client.export(document, ANSWER, to=tmp_path / "a.zip")
    finally:
        running.stop()
    file = tmp_path / "a.zip"
    whole = file.read_bytes()
    assert main([str(file), "--public-key", str(public)]) == 0
    said = replay(whole).signed_by
    assert len(said) == 64
    # Another key, a signature of other bytes, none at all.
    other = tmp_path / "other.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", other], check=True)
    files = {n: d for n, d in bundle.unseal(whole).files.items() if not n.startswith("manifest.")}
    facts = {k: v for k, v in bundle.unseal(whole).manifest.items() if k not in ("files", "format")}
    unsigned = bundle.seal(files, facts)
    for forged in (bundle.signed(unsigned, Signer(other)), unsigned):
        file.write_bytes(forged)
        assert main([str(file)]) == 0
        assert main([str(file), "--public-key", str(public)]) == 1
    signature = bundle.unseal(whole).files["manifest.sig"]
    wrong = whole.replace(
        signature, signature.replace(b'"signature": "', b'"signature": "A', 1)[:-1]
    )
    assert any("manifest.sig" in c for c in bundle.unseal(wrong).changed)
