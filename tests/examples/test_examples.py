"""Each example runs as a reader would run it, with the real clients of the model's makers; what
the models said is recorded, and served on this machine."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import RunningServer
from visualproof_server.replay import replay

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = EXAMPLES / "recorded"


class Recorded(BaseHTTPRequestHandler):
    """Answers as the recording whose `when` the question holds; the first that fits."""

    answers: list[dict[str, Any]]
    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.asked.append({"path": self.path, "body": json.loads(body)})
        answer = next(a for a in self.answers if a["when"] in body)
        data = json.dumps(answer["response"]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(address, what was asked) of a server with the example's recording."""
    answers = json.loads((RECORDED / f"{request.param}.json").read_text())
    handler = type("Handler", (Recorded,), {"answers": answers, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.asked  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


def run(name: str, address: str, server: RunningServer, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", "--target", server.target, *args],
        env=os.environ | {
            "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none",
        },
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("model", ["openai_invoice"], indirect=True)
def test_an_invoice_with_openai(model: Any, server: RunningServer, tmp_path: Path) -> None:
    address, asked = model
    out = run("openai_invoice", address, server, "--to", str(tmp_path / "a.zip"))
    assert "BLOCK    /total           MISMATCH" in out
    assert out.count("RELEASE  ") == 4
    assert replay((tmp_path / "a.zip").read_bytes()).differences == ()
    (question,) = asked
    assert question["path"] == "/v1/chat/completions"
    assert question["body"]["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("model", ["anthropic_contract"], indirect=True)
def test_a_contract_with_anthropic(model: Any, server: RunningServer, tmp_path: Path) -> None:
    address, asked = model
    out = run("anthropic_contract", address, server, "--to", str(tmp_path / "a.html"))
    # The model dropped a "not".
    assert "BLOCK    /liability         MISMATCH" in out
    assert "NEGATION_DIFFERS" in out
    # "Shall not exceed" is a bound, which the bare amount does not say.
    assert "BOUND_UNKNOWN" in out
    assert out.count("RELEASE  ") == 6
    assert (tmp_path / "a.html").exists()
    assert asked[0]["body"]["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize("model", ["report_in_windows"], indirect=True)
def test_a_long_report_in_windows(model: Any, server: RunningServer, tmp_path: Path) -> None:
    address, asked = model
    report = tmp_path / "report.pdf"
    made = [sys.executable, str(EXAMPLES / "make_documents.py"), str(report)]
    subprocess.run(made, check=True)
    out = run("report_in_windows", address, server, str(report))
    assert len(asked) == 5
    assert out.splitlines()[-1] == "49 values proven, 3 not"
    assert "PROOF_NOT_SHOWN" in out
    assert "/figures/1/water_use '3,591 m3/day': MISMATCH DIGIT_DIFFERS" in out


@pytest.mark.parametrize("model", ["receipts_in_parallel"], indirect=True)
def test_a_folder_of_receipts(model: Any, server: RunningServer) -> None:
    address, asked = model
    out = run("receipts_in_parallel", address, server)
    assert out.splitlines() == [
        "file,action,merchant,date,total",
        "garage.png,BLOCK,ELMWOOD GARAGE LTD,2026-10-14,62.12",
        "bakery.png,RELEASE,KING STREET BAKERY,2026-10-12,9.2",
        "hotel.png,RELEASE,THE OLD CUSTOM HOUSE,2026-10-15,132.5",
    ]
    assert len(asked) == 3


def test_every_example_has_a_test() -> None:
    names = {p.stem for p in EXAMPLES.glob("*.py")} - {"demo", "make_documents"}
    assert names == {p.stem for p in RECORDED.glob("*.json")}
