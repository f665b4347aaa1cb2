"""Showing a bundle: its page in the reader's own browser, from this machine alone."""

import contextlib
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import webbrowser
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

from visualproof._terminal import say

_PAGE = "index.html"
_MAX_PAGE = 1 << 28
# Entries of a bundle: none is a path out of it, and none could be mistaken for one.
_NAME = re.compile(r"(pages/)?[a-z0-9_]+(\.[a-z0-9]+)*")


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


def open_bundle(bundle: str, to: str, as_json: bool, unproven: bool = False) -> int:
    """Shows a bundle that may come from anybody: only if it is proven again here, or else, where
    that is asked for, as a page that says that it is not."""
    page = _page_of(Path(bundle))
    found = replayed(bundle, quiet=True)
    if found == 0:
        return _show(page, to, as_json)
    if found == 1:
        why = "it is not as it was sealed"
    elif found is None:
        why = "visualproof-server, which proves it, is not installed"
    else:
        why = "another version of visualproof-server made it, or somebody who says so"
    if not unproven:
        raise BundleError(
            f"{bundle} cannot be proven here: {why}. `visualproof replay` says more; --unproven shows"
            " it all the same"
        )
    return _show(_framed(page, why), to, as_json)


def show_bundle(bundle: str, to: str, as_json: bool) -> int:
    """Opens the page of a bundle that was made just now, until Enter is pressed, then removes it;
    with `to`, writes it there."""
    return _show(_page_of(Path(bundle)), to, as_json)


def _framed(page: bytes, why: str) -> bytes:
    """A page of anybody's in a frame that may not load, send or open anything, under a banner that
    it cannot reach."""
    policy = (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:;"
        " form-action 'none'; base-uri 'none'"
    )
    inner = html.escape(page.decode("utf-8", "replace"))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>UNPROVEN</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<style>html,body{height:100%;margin:0;display:flex;flex-direction:column;background:#b00}"
        "p{margin:0;padding:.6em 1em;color:#fff;font:bold 16px sans-serif}"
        "iframe{flex:1;border:4px solid #b00;background:#fff}</style>"
        f"<p>UNPROVEN: {html.escape(why)}. Nothing that stands below was checked.</p>"
        f'<iframe sandbox="allow-scripts" title="the unproven page" srcdoc="{inner}"></iframe>'
    ).encode()


def _show(page: bytes, to: str, as_json: bool) -> int:
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
            if odd := next((n for n in archive.namelist() if not _NAME.fullmatch(n)), ""):
                raise BundleError(f"{bundle} is no evidence bundle: it has an entry {odd!r}")
            with archive.open(_PAGE) as file:
                page = file.read(_MAX_PAGE + 1)
        if len(page) <= _MAX_PAGE:
            return page
        raise BundleError(f"{bundle} is no evidence bundle: its page is too large")
    except (
        zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, ValueError, RuntimeError, EOFError
    ):  # fmt: skip
        raise BundleError(
            f"{bundle} is no evidence bundle; `visualproof export` writes them"
        ) from None
