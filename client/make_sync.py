"""Writes visualproof/client.py from visualproof/aio.py: `python client/make_sync.py`, or `make client`.

One source for both clients, as with the stubs. What the two say differently stands in aio.py as a
comment, `# sync: LINE`, on the line before the one that it replaces.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE, TARGET = HERE / "visualproof" / "aio.py", HERE / "visualproof" / "client.py"
_SAID_OTHERWISE = re.compile(r"^( *)# sync: ?(.*)\n.*\n", re.M)
_WORDS = (
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"(?<!aio\.)\bAsync(Client|Iterator|Generator)\b", r"\1"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bgrpc\.aio\.AioRpcError\b", "grpc.RpcError"),
    (r"\bgrpc\.aio\.", "grpc."),
    (r"\bAwaitable\[T\]", "T"),
    (r"^import asyncio\n", ""),
    (r"\bAwaitable, ", ""),
)


def made(source: str) -> str:
    """The text of client.py."""
    text = _SAID_OTHERWISE.sub(lambda m: f"{m[1]}{m[2]}\n" if m[2] else "", source)
    for pattern, replacement in _WORDS:
        text = re.sub(pattern, replacement, text, flags=re.M)
    head = "# Made from aio.py by make_sync.py: change that one, and run `make client`.\n"
    return _sorted(head + text)


def _sorted(text: str) -> str:
    """Formatted as all other files are."""
    ruff = [str(Path(sys.executable).parent / "ruff")]
    name = ["--stdin-filename", str(TARGET)]
    for command in (["check", "--select", "I", "--fix", "-q", *name, "-"], ["format", *name, "-"]):
        text = subprocess.run(
            [*ruff, *command], input=text, capture_output=True, text=True, check=True
        ).stdout
    return text


if __name__ == "__main__":
    TARGET.write_text(made(SOURCE.read_text()))
