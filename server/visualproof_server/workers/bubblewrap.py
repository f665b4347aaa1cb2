"""Namespaces around a worker, where bubblewrap (bwrap(1)) is installed and may make them: not in most
containers."""

import shutil
import subprocess
from functools import cache
from pathlib import Path


def enclosed(command: list[str], own: Path) -> list[str]:
    """A command in namespaces of its own, where that works: no network, no other process to be seen,
    and nothing that outlives it; all is read-only but `own`."""
    prefix = _bubblewrap()
    return [*prefix, "--bind", str(own), str(own), "--", *command] if prefix else command


@cache
def _bubblewrap() -> tuple[str, ...]:
    program = shutil.which("bwrap")
    if program is None:
        return ()
    # The command is the first process, so that all that it started ends with it.
    prefix = (program, "--unshare-all", "--die-with-parent", "--as-pid-1", "--ro-bind", "/", "/",
              "--dev", "/dev", "--proc", "/proc")  # fmt: skip
    try:
        subprocess.run([*prefix, "--", "true"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return prefix
