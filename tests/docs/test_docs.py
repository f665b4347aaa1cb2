"""Docs are tests: everything that callers meet is named, and examples run."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from visualproof._channel import EVIDENCE_FORMATS
from visualproof.testing import FakeService
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof_server.model.errors import CODES
from visualproof_server.model.report import REASONS, Status
from visualproof_server.proving.kinds.registry import KINDS
from visualproof_server.settings import Settings, parse

FILES_OF_A_BUNDLE = [
    "manifest.json", "manifest.sha256", "manifest.sig", "answer.json", "fields.json", "report.json",
    "blocks.jsonl", "second_readings.json", "pages/0001.webp", "annotated.pdf", "index.html",
    "original",
]  # fmt: skip
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text()


def test_every_rpc_is_described() -> None:
    service = pb.DESCRIPTOR.services_by_name["VisualProofService"]
    for method in service.methods:
        assert f"`{method.name}`" in page("api.md"), method.name


def test_every_status_reason_and_kind_has_a_row() -> None:
    text = page("statuses.md")
    for name in [*(s.name for s in Status), *REASONS, *KINDS]:
        assert f"| `{name}` |" in text, name


def test_every_error_has_a_row() -> None:
    text = page("errors.md")
    for code in CODES:
        assert f"| `{code}` |" in text, code


def test_every_evidence_format_is_named() -> None:
    text = page("evidence.md")
    for name in EVIDENCE_FORMATS:
        assert f"| `{name}` |" in text, name
    for file in FILES_OF_A_BUNDLE:
        assert f"`{file}`" in text, file


def test_every_setting_is_named() -> None:
    text = page("operating.md")
    for setting in dataclasses.fields(Settings):
        assert f"`--{setting.name.replace('_', '-')}`" in text, setting.name


def test_every_command_is_named() -> None:
    from visualproof.cli.__main__ import _parser

    usage = _parser().format_help()
    for command in re.findall(r"^    (\w+) ", usage, re.M):
        assert f"visualproof {command}" in page("api.md"), command


def test_links_between_pages_lead_somewhere() -> None:
    for file in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", file.read_text()):
            if not target.startswith("http"):
                assert (file.parent / target).exists(), (file.name, target)


@pytest.mark.parametrize(
    "file", ["README.md", "docs/quickstart.md", "docs/prompts.md", "docs/evidence.md"]
)
def test_python_examples_run(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `ask` stands for the reader's own model; the service is the fake one.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "invoice.pdf").write_bytes(b"Total due 90.00")
    (tmp_path / "textract.json").write_bytes(b"{}")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(), re.S)
    assert blocks
    with FakeService() as fake:
        for code in blocks:
            if "import openai" in code or "import anthropic" in code:
                compile(code, file, "exec")
                continue
            code = code.replace("localhost:50051", fake.target)
            answer = json.dumps(
                {"total": {"value": 90, "proof": []}, "vendor": {"value": "X", "proof": []}}
            )
            exec(
                code, {"ask": lambda *a, answer=answer, **k: answer, "print": lambda *a, **k: None}
            )


def test_settings_come_from_flags_then_environment() -> None:
    environment = {"VISUALPROOF_MAX_PAGES": "7", "VISUALPROOF_REFLECTION": "no"}
    assert parse([], environment).max_pages == 7
    assert parse(["--max-pages", "8"], environment).max_pages == 8
    assert not parse([], environment).reflection
    # A name that a setting had before.
    assert parse(["--desk-workers", "3"], {}).verify_workers == 3
    assert parse([], {"VISUALPROOF_DESK_WORKERS": "4"}).verify_workers == 4
    for wrong in (
        ["--workers", "0"],
        ["--listen", "0.0.0.0:1"],
        ["--dpi", "9"],
        ["--max-upload-mb", "501"],
    ):
        with pytest.raises(SystemExit):
            parse(wrong, {})
