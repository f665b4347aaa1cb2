"""A server starts on whatever its data folder holds: what is odd is set aside and said, the rest served."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import EXAMPLE, start_server
from storing.test_damage import ODD
from visualproof import CallError, Client

pytestmark = pytest.mark.slow


def test_a_server_starts_on_an_odd_folder_and_serves_the_rest(tmp_path: Path) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    flags = ("--engine", "tesseract", "--metrics-listen", "127.0.0.1:0")
    running = start_server(data, *flags)
    with Client(running.target) as client:
        good = client.ingest(EXAMPLE / "scan.jpg")
    running.stop()
    documents = data / "documents"
    odd = {f"{number:032x}": ODD[name] for number, name in enumerate(ODD, 1)}
    for name, (state, _) in odd.items():
        (documents / name).mkdir()
        (documents / name / "state.json").write_bytes(state)
        (documents / name / "page-000001.json").write_bytes(b"{}")
    # One whose state is gone, one with a folder in its place, and one that is an upload's remains.
    lost, folder, remains = "aa" * 16, "bb" * 16, "cc" * 16
    shutil.copytree(documents / good.document_id, documents / lost)
    (documents / lost / "state.json").unlink()
    (documents / folder / "state.json").mkdir(parents=True)
    (documents / remains).mkdir()
    (documents / remains / "source").write_bytes(b"x")
    # And things that are none of the server's.
    (documents / "notes.txt").write_text("mine")
    (documents / ("dd" * 16)).write_text("mine")
    (documents / "README").mkdir()
    for name in ("views", "scratch", "incoming", "deleting"):
        shutil.rmtree(data / name, ignore_errors=True)
        (data / name).write_text("mine")
    running = start_server(data, *flags, log=log)
    try:
        with Client(running.target) as client:
            assert client.get(good).state == good.state
            assert client.verify(good, {"a": 1}).message.results
            codes = {}
            for name in (*odd, lost, folder, remains):
                with pytest.raises(CallError) as caught:
                    client.get(name)
                codes[name] = caught.value.code
            expected = {name: code for name, (_, code) in odd.items()}
            expected |= {lost: "DOCUMENT_DAMAGED", folder: "DOCUMENT_DAMAGED"}
            assert codes == expected | {remains: "DOCUMENT_NOT_FOUND"}
    finally:
        running.stop()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    aside = {line["document"]: line["code"] for line in lines if line["message"] == "set aside"}
    assert aside == expected
    assert [line["document"] for line in lines if line["message"] == "remains removed"] == [remains]
    assert [line["count"] for line in lines if "count" in line] == [3]
    assert not [line for line in lines if "error" in line]
    # Nothing but the remains is gone.
    assert {*expected, good.document_id} <= {p.name for p in documents.iterdir()}
    for name in ("views", "scratch", "incoming", "deleting"):
        assert (data / f"{name}.aside-1").read_text() == "mine"


def test_a_key_that_was_cut_makes_no_other_ids(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "tenant.key").write_bytes(b"")
    tokens = tmp_path / "tokens"
    tokens.write_text(f"acme {'0' * 64}\n")
    with pytest.raises(AssertionError, match="did not start"):
        start_server(data, "--engine", "tesseract", "--tokens-file", str(tokens))
