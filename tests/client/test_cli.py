"""The command line against the real service."""

import json
from pathlib import Path

import pytest
from conftest import EXAMPLE, RunningServer
from visualproof.cli.__main__ import main

SCAN, ANSWER, FIELDS = (str(EXAMPLE / n) for n in ("scan.jpg", "answer.json", "fields.json"))


def test_ingest_prints_ids(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", SCAN, "--target", server.target]) == 0
    assert len(capsys.readouterr().out.strip()) == 32
    assert main(["ingest", SCAN, "--target", server.target, "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["documents"]
    assert document["pages"] == 1


def test_verify_shows_a_table_and_writes_pages(
    server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = [
        "verify",
        SCAN,
        ANSWER,
        "--fields",
        FIELDS,
        "--out",
        str(tmp_path),
        "--target",
        server.target,
    ]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "16,020.00" in out
    assert "BLOCK: 17 VERIFIED, 1 FOUND_ELSEWHERE, 1 MISMATCH, 1 NOT_FOUND" in out
    assert (tmp_path / "page-0001.jpg").read_bytes().startswith(b"\xff\xd8")
    assert json.loads((tmp_path / "report.json").read_text())["action"] == "ACTION_BLOCK"


def test_json_is_one_object(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["verify", SCAN, ANSWER], ["blocks", SCAN], ["prompt", SCAN], ["info"]):
        main([*command, "--json", "--target", server.target])
        assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_prompt_blocks_and_crops(
    server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["prompt", SCAN, "--pages", "1", "--target", server.target]) == 0
    assert "<LINE 1>" in capsys.readouterr().out
    assert main(["blocks", SCAN, "--words", "--target", server.target]) == 0
    assert "L1.W1" in capsys.readouterr().out
    command = [
        "annotate",
        SCAN,
        ANSWER,
        "--crops",
        "--out",
        str(tmp_path),
        "--target",
        server.target,
    ]
    assert main(command) == 1
    assert (tmp_path / "total.jpg").exists() or list(tmp_path.glob("*.jpg"))


def test_prose(server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The subtotal is 13,350.00, and 77 others.")
    command = ["prose", SCAN, ANSWER, str(text), "--fields", FIELDS, "--target", server.target]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "QUOTED" in out
    assert "UNVERIFIED" in out


def test_exit_codes(
    server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    released = tmp_path / "a.json"
    released.write_text('{"po": "PO-88213"}')
    target = ["--target", server.target]
    assert main(["verify", SCAN, str(released), *target]) == 0
    bad = tmp_path / "bad.pdf"
    bad.write_text("no pdf")
    assert main(["ingest", str(bad), *target]) == 3
    assert main(["ingest", str(tmp_path / "missing.pdf"), *target]) == 2
    assert main(["info", "--target", "127.0.0.1:1"]) == 4
    with pytest.raises(SystemExit) as caught:
        main(["no-such-command"])
    assert caught.value.code == 2
    capsys.readouterr()


def test_yaml_fields_and_what_is_wrong_with_them(
    server: RunningServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good, bad = tmp_path / "f.yaml", tmp_path / "g.json"
    good.write_text(
        "locale: en-GB\nfields:\n  - {path: /total, kind: money, labels: [Total due]}\n"
    )
    bad.write_text('[{"path": "/a", "colour": "red"}]')
    main(["verify", SCAN, ANSWER, "--fields", str(good), "--target", server.target])
    assert "MISMATCH" in capsys.readouterr().out
    assert main(["verify", SCAN, ANSWER, "--fields", str(bad), "--target", server.target]) == 2
    assert "FIELDS_INVALID" in capsys.readouterr().err
