"""What is opened is proven; what is not is refused, or says that it is not."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from visualproof import Client, Document
from visualproof.cli.__main__ import main as visualproof
from visualproof_server.evidence import bundle

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sealed(client: Client, invoice: Document, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("bundle") / "a.zip"
    client.export(invoice, {"vendor": "Nordwind Energie GmbH"}, to=file)
    return file.read_bytes()


def rezipped(
    data: bytes, method: int = zipfile.ZIP_STORED, more: dict[str, bytes] | None = None
) -> bytes:
    """The same entries in another container, with more."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return out.getvalue()


def of_other_rules(data: bytes, name: str = "rules_version", said: str = "0" * 64) -> bytes:
    """Sealed well, and says that another build made it."""
    return resealed(data, {name: said})


def resealed(data: bytes, facts: dict[str, str], script: str = "") -> bytes:
    """A forger's: other facts, or a script in the page, under a seal that fits."""
    unsealed = bundle.unseal(data)
    files = {n: d for n, d in unsealed.files.items() if not n.startswith("manifest.")}
    files["index.html"] = files["index.html"].replace(b"<title>", script.encode() + b"<title>", 1)
    known = {k: v for k, v in unsealed.manifest.items() if k not in ("files", "format")}
    return bundle.seal(files, known | facts)


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.html", bytes(300_000_000))
    return out.getvalue()


FORGED: dict[str, Callable[[bytes], bytes]] = {
    "other rules": of_other_rules,
    "another page": lambda d: of_other_rules(d, "page_version"),
    "rules that are none": lambda d: of_other_rules(d, "rules_version", "none"),
    "deflated": lambda d: rezipped(d, zipfile.ZIP_DEFLATED),
    "packed by bzip2": lambda d: rezipped(d, zipfile.ZIP_BZIP2),
    "packed by lzma": lambda d: rezipped(d, zipfile.ZIP_LZMA),
    "zipped again": rezipped,
    "no manifest": lambda d: d.replace(b"manifest.json", b"manifesd.json"),
    "another page in it": lambda d: resealed(d, {}, '<script>alert("1")</script>'),
    "more entries": lambda d: rezipped(d, more={"readme": b"x"}),
    "cut": lambda d: d[: len(d) // 2],
    "before a zip": lambda d: d + rezipped(d, zipfile.ZIP_DEFLATED),
}
# Names that no bundle has: these are not shown in any way.
PATHS = ["../../x", "/etc/x", "a/../../x", "..\\..\\x", "C:\\x", "pages/../../x", "./x", "x/", "~/x",
         "X.HTML", ".bashrc", "pages//x", "a b", "caf\u00e9"]  # fmt: skip


def test_a_bundle_that_is_proven_is_shown_as_it_is(sealed: bytes, tmp_path: Path) -> None:
    file, page = tmp_path / "a.zip", tmp_path / "page.html"
    file.write_bytes(sealed)
    assert visualproof(["open", str(file), "--to", str(page)]) == 0
    assert b"UNPROVEN" not in page.read_bytes()
    assert visualproof(["open", str(file), "--to", str(page), "--unproven"]) == 0
    assert b"UNPROVEN" not in page.read_bytes()


@pytest.mark.parametrize("name", FORGED)
def test_one_that_is_not_is_refused_or_says_so(sealed: bytes, name: str, tmp_path: Path) -> None:
    file, page = tmp_path / "a.zip", tmp_path / "page.html"
    file.write_bytes(FORGED[name](sealed))
    assert visualproof(["open", str(file), "--to", str(page)]) == 2
    assert not page.exists()
    done = visualproof(["open", str(file), "--to", str(page), "--unproven"])
    if name == "cut":
        assert done == 2
        return
    assert done == 0
    shown = page.read_text()
    assert shown.index("UNPROVEN") < shown.index("<iframe sandbox")
    # What it holds is within the frame's attribute, to its end.
    before, _, inner = shown.partition(' srcdoc="')
    assert "<script" not in before
    assert inner.count('"') == 1
    assert inner.endswith('"></iframe>')


@pytest.mark.parametrize("path", PATHS)
def test_paths_out_of_it_are_refused_in_any_case(sealed: bytes, path: str, tmp_path: Path) -> None:
    file, page = tmp_path / "a.zip", tmp_path / "page.html"
    file.write_bytes(rezipped(sealed, more={path: b"x"}))
    for flags in ([], ["--unproven"]):
        assert visualproof(["open", str(file), "--to", str(page), *flags]) == 2
        assert visualproof(["replay", str(file)]) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["a.zip"]


def test_a_page_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    file.write_bytes(bomb())
    assert visualproof(["open", str(file), "--to", str(tmp_path / "p"), "--unproven"]) == 2
