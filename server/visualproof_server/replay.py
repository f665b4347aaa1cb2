"""Proves a sealed bundle again, offline: `visualproof replay`, `python -m visualproof_server.replay`.

Exit 0 all as it was, 1 something differs (each thing is named), 2 it cannot be checked here: it is no
bundle, or another build of the service made it.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from visualproof import _terminal

from visualproof_server.evidence import bundle
from visualproof_server.evidence.page import PageFacts, review_page
from visualproof_server.evidence.signing import public_key_hex
from visualproof_server.evidence.version import PAGE_VERSION
from visualproof_server.model import codec
from visualproof_server.model.document import Document, Warning
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.report import Report
from visualproof_server.model.second_reading import SecondReadings
from visualproof_server.proving import prove
from visualproof_server.proving.kept_readings import replayed
from visualproof_server.proving.version import RULES_VERSION
from visualproof_server.rpc.sealed import report_json, request_of

# What a bundle that anybody may have made raises where it is not as this service makes them.
_MALFORMED = (
    ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError,
    VisualProofError,
)  # fmt: skip


class CannotReplay(Exception):
    """It is no bundle, or not one that these rules can prove."""


@dataclass(frozen=True, slots=True)
class Replay:
    """differences is empty if all is as it was; proven names what was made again and compared.

    action and counts are the report's; signed_by is a public key in hex, or empty.
    """

    document_id: str
    source_sha256: str
    action: str
    counts: dict[str, int]
    differences: tuple[str, ...]
    proven: tuple[str, ...]
    hashed: tuple[str, ...]
    signed_by: str


def replay(data: bytes) -> Replay:
    """Checks every byte of a bundle, then proves its answer again; error CannotReplay."""
    try:
        unsealed = bundle.unseal(data)
    except ValueError as error:
        raise CannotReplay(f"this is no bundle: {error}") from None
    manifest, files = unsealed.manifest, unsealed.files
    if unsealed.changed:
        return _replay(unsealed, None, unsealed.changed, ())
    _check_build(manifest)
    try:
        document, report = _proven_again(unsealed)
        texts = _made_again(unsealed, document, report)
    except _MALFORMED as error:
        kind = type(error).__name__
        return _replay(unsealed, None, (f"the answer cannot be proven again ({kind})",), ())
    differences = []
    if bundle.identity(document) != manifest.get("document"):
        differences.append("blocks.jsonl: it is of another document than the manifest")
    if "original" in files:
        found = hashlib.sha256(files["original"]).hexdigest()
        if found != document.source_sha256:
            differences.append("original: its SHA-256 is not that of the document")
    differences += _report_differences(files.get("report.json", b""), texts["report.json"])
    if texts["index.html"] != files.get("index.html"):
        differences.append("index.html: it does not show this report")
    return _replay(unsealed, report, tuple(differences), tuple(texts))


def _check_build(manifest: Mapping[str, Any]) -> None:
    """Error CannotReplay unless this build has the rules and the page that made a bundle."""
    here = {"rules_version": RULES_VERSION, "page_version": PAGE_VERSION}
    others = [name for name, version in here.items() if manifest.get(name) != version]
    if others:
        said = ", ".join(
            f"{name.replace('_', ' ')} {manifest.get(name)}, here {here[name]}" for name in others
        )
        raise CannotReplay(
            f"another build made it ({said}); install"
            f" visualproof-server {manifest.get('service_version')}"
        )


def _proven_again(unsealed: bundle.Unsealed) -> tuple[Document, Report]:
    files = unsealed.files
    document = bundle.document_of(files["blocks.jsonl"])
    kept = codec.loads(SecondReadings, files["second_readings.json"])
    report = prove.prove(
        prove.Index(document),
        files["answer.json"],
        request_of(files["fields.json"]),
        replayed(kept),
    )
    return document, report


def _made_again(unsealed: bundle.Unsealed, document: Document, report: Report) -> dict[str, bytes]:
    """The files that follow from a report, by name."""
    files, manifest = unsealed.files, unsealed.manifest
    spelled, sealed = report_json(report, document), files.get("report.json", b"")
    facts = PageFacts(
        manifest["title"],
        manifest["service_version"],
        # The page names the report as it was spelled then; what it says is compared by itself.
        hashlib.sha256(sealed if _meaning(sealed) == _meaning(spelled) else spelled).hexdigest(),
        tuple(codec.loads(Warning, json.dumps(w).encode()) for w in manifest["warnings"]),
    )
    pictures = {
        int(name[6:-5]): data
        for name, data in files.items()
        if name.startswith("pages/") and name.endswith(".webp")
    }
    page = review_page(document, report, facts, pictures)
    return {"report.json": spelled, "index.html": page}


def _meaning(spelled: bytes) -> Any:
    """What a JSON text says, however it is spelled; None if it is none."""
    try:
        return json.loads(spelled)
    except (ValueError, RecursionError):
        return None


def _report_differences(sealed: bytes, proven: bytes) -> list[str]:
    """Which values came out otherwise; none if both say the same."""
    if _meaning(sealed) == _meaning(proven):
        return []
    try:
        before = {r["path"]: r for r in json.loads(sealed)["results"]}
        after = {r["path"]: r for r in json.loads(proven)["results"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return ["report.json: it cannot be read"]
    names = [p for p in {**before, **after} if before.get(p) != after.get(p)]
    return [f"report.json: {path} does not come out as sealed" for path in names] or [
        "report.json: it is not what the answer gives"
    ]


def _replay(
    unsealed: bundle.Unsealed,
    report: Report | None,
    differences: tuple[str, ...],
    proven: tuple[str, ...],
) -> Replay:
    about: dict[str, Any] = unsealed.manifest.get("document") or {}
    counts: dict[str, int] = {}
    for result in report.results if report else ():
        counts[result.status.name] = counts.get(result.status.name, 0) + 1
    return Replay(
        str(about.get("document_id", "")),
        str(about.get("source_sha256", "")),
        report.action.name if report else "",
        counts,
        differences,
        proven,
        tuple(sorted(n for n in unsealed.files if n not in proven)),
        unsealed.signed_by,
    )


def main(argv: list[str] | None = None, say: Callable[[str], object] = _terminal.say) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="visualproof replay", description=__doc__)
    parser.add_argument("bundle", metavar="BUNDLE.zip")
    parser.add_argument("--public-key", help="PEM file: the bundle must be signed by this key")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    try:
        wanted = public_key_hex(Path(args.public_key).read_bytes()) if args.public_key else ""
        made = replay(Path(args.bundle).read_bytes())
    except (CannotReplay, OSError, ValueError, ImportError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if args.json:
            say(json.dumps({"error": "CANNOT_REPLAY", "message": text}))
        else:
            _terminal.say(f"visualproof: {args.bundle}: {text}", error=True)
        return 2
    differences = list(made.differences)
    if wanted and made.signed_by != wanted:
        differences.append(
            f"signed by {made.signed_by}, not by the key given" if made.signed_by else "not signed"
        )
    if args.json:
        say(json.dumps({**asdict(made), "differences": differences, "same": not differences}))
        return 1 if differences else 0
    for difference in differences:
        say(f"✗ {difference}")
    if not differences:
        counts = ", ".join(f"{n} {name}" for name, n in made.counts.items())
        say(f"✓ document {made.document_id}, sha256 {made.source_sha256}")
        say(f"✓ proven again, the same: {', '.join(made.proven)}")
        say(f"✓ unchanged: {len(made.hashed)} other files")
        say(f"✓ signed by {made.signed_by}" if made.signed_by else "  not signed")
        say(f"{made.action}: {counts}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
