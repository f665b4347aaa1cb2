"""Showing a bundle: its page in the reader's own browser, from this machine alone."""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import webbrowser
import zipfile
from importlib.util import find_spec
from pathlib import Path

from visualproof._terminal import say

_PAGE = "index.html"


class BundleError(Exception):
    """The file is no bundle that can be shown."""


def replayed(bundle: str, *flags: str, quiet: bool = False) -> int | None:
    """Exit code of the replay: the rules are the server's, whose package is asked in a process of
    its own; None if it is not installed."""
    if find_spec("visualproof_server") is None:
        return None
    command = [sys.executable, "-m", "visualproof_server.replay", bundle, *flags]
    output = subprocess.DEVNULL if quiet else None
    return subprocess.run(command, check=False, stdout=output).returncode


def open_bundle(bundle: str, to: str, as_json: bool) -> int:
    """Shows a bundle that may come from anybody: first it is proven again, if that can be done."""
    _page_of(Path(bundle))
    found = replayed(bundle, quiet=True)
    if found == 1:
        raise BundleError(
            f"{bundle} is not as it was sealed; `visualproof replay` says what differs"
        )
    if found != 0:
        say("not checked: that needs visualproof-server of its version", error=True)
    return show_bundle(bundle, to, as_json)


def show_bundle(bundle: str, to: str, as_json: bool) -> int:
    """Opens a bundle's page until Enter is pressed, then removes it; with `to`, writes it there."""
    page = _page_of(Path(bundle))
    if to:
        Path(to).write_bytes(page)
        say(json.dumps({"page": to}) if as_json else to)
        return 0
    folder = Path(tempfile.mkdtemp(prefix="visualproof-"))
    file = folder / _PAGE
    file.write_bytes(page)
    opened = webbrowser.open(file.as_uri())
    if as_json:
        say(json.dumps({"page": file.as_uri(), "opened": opened}))
    else:
        said = "opened" if opened else "no browser was found; open"
        say(f"{said} {file.as_uri()}")
    # A person says when the browser has read it; where nobody can, the page is the script's.
    if sys.stdin.isatty():
        with contextlib.suppress(EOFError, KeyboardInterrupt):
            input("Press Enter when you are done: the page is then removed. ")
        shutil.rmtree(folder)
    return 0


def _page_of(bundle: Path) -> bytes:
    try:
        with zipfile.ZipFile(bundle) as archive:
            return archive.read(_PAGE)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, ValueError):
        raise BundleError(
            f"{bundle} is no evidence bundle; `visualproof export` writes them"
        ) from None
