"""The house keeps its shape."""

import ast
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).parents[2] / "server" / "visualproof_server"
CLIENT = Path(__file__).parents[2] / "client" / "visualproof"


def sources() -> list[Path]:
    return [p for root in (SERVER, CLIENT) for p in root.rglob("*.py") if "_pb2" not in p.name]


def test_no_room_is_larger_than_400_lines() -> None:
    assert [p.name for p in sources() if len(p.read_text().splitlines()) > 400] == []


def test_no_room_for_odds_and_ends() -> None:
    banned = {"utils", "helpers", "common", "manager", "handler", "misc"}
    assert [p for p in sources() if p.stem.lower() in banned] == []


def test_an_init_has_no_logic() -> None:
    for path in sources():
        if path.name == "__init__.py":
            body = ast.parse(path.read_text()).body
            assert all(
                isinstance(n, ast.Import | ast.ImportFrom | ast.Expr | ast.Assign) for n in body
            ), path


def test_the_server_starts_without_decoders() -> None:
    """Its import takes half a second on a quiet machine, and holds nothing that opens hostile files."""
    heavy = ["cv2", "PIL", "numpy", "pypdfium2", "pikepdf", "lxml", "onnxruntime", "rapidfuzz"]
    script = (
        f"import visualproof_server.__main__, sys; print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_concrete_engines_are_named_in_the_worker_only() -> None:
    for path in sources():
        if path.name in ("engines.py", "tesseract.py", "rapid.py"):
            continue
        text = path.read_text()
        assert "reading.tesseract" not in text, path
        assert "reading.rapid" not in text, path
