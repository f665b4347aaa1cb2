"""What each command does; returns its exit code."""

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from visualproof import Action, Client, DocumentFailed, Exported, Report, ServerBusy
from visualproof._terminal import say
from visualproof.cli import fields as field_files
from visualproof.cli import show
from visualproof.cli.bundles import replayed, show_bundle
from visualproof.v1 import block_pb2, document_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

OK, TO_REVIEW, USAGE, FAILED, UNREACHABLE = 0, 1, 2, 3, 4
_ID = re.compile(r"[0-9a-f]{32}")


def complain(args: argparse.Namespace, code: int, reason: str, message: str) -> int:
    if args.json:
        say(json.dumps({"error": reason, "message": message}))
    else:
        say(
            f"visualproof: {reason}: {message}" if reason else f"visualproof: {message}",
            error=True,
        )
    return code


def ingest(client: Client, args: argparse.Namespace) -> int:
    out, worst = [], OK
    with show.ProgressBar(not args.json) as bar:
        for file in args.files:
            try:
                document = _read(client, args, file, bar)
            except DocumentFailed as error:
                worst = FAILED
                out.append({"file": file, "error": error.code, "message": error.message})
                if not args.json:
                    say(f"{file}: {error.code}: {error.message}", error=True)
                continue
            out.append(
                {"file": file, "document_id": document.document_id, "pages": document.page_count}
            )
            if not args.json:
                say(
                    document.document_id
                    if len(args.files) == 1
                    else f"{document.document_id}  {file}"
                )
                for warning in document.warnings:
                    say(f"{file}: {warning.code}: {warning.message}", error=True)
    if args.json:
        say(json.dumps({"documents": out}))
    return worst


def _read(
    client: Client, args: argparse.Namespace, file: str, bar: show.ProgressBar
) -> document_pb2.Document:
    """Ingests a file, waiting while the queue is full."""
    while True:
        try:
            return client.ingest(
                Path(file),
                languages=[code for code in args.lang.split("+") if code],
                engine=args.engine,
                dpi=args.dpi,
                password=args.password,
                text_layer=args.text_layer,
                reading=args.reading or None,
                on_progress=bar.follow(Path(file).name),
            )
        except ServerBusy as error:
            if error.code != "QUEUE_FULL":
                raise
            time.sleep(error.retry_after or 1.0)


def _document(client: Client, args: argparse.Namespace) -> document_pb2.Document:
    """The document that an argument names: an id, or a file that is read first."""
    if _ID.fullmatch(args.document) and not Path(args.document).exists():
        return client.get(args.document)
    with show.ProgressBar(not args.json) as bar:
        return _read(client, args, args.document, bar)


def prompt(client: Client, args: argparse.Namespace) -> int:
    pages = None
    if args.pages:
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", args.pages)
        if match is None:
            return complain(args, USAGE, "", "--pages is such as 3 or 1-3")
        pages = (int(match[1]), int(match[2] or match[1]))
    wanted = field_files.load(args.fields)
    prompt = client.prompt(
        _document(client, args),
        fields=wanted.fields,
        pages=pages,
        max_tokens=args.max_tokens,
        compact=args.compact,
    )
    if args.json:
        say(json.dumps(prompt.__dict__, ensure_ascii=False))
        return OK
    say(prompt.instructions, end="\n\n")
    if prompt.answer_schema:
        say("JSON Schema of the answer:", json.dumps(prompt.answer_schema), sep="\n", end="\n\n")
    say(prompt.text)
    if prompt.next_page:
        say(f"visualproof: stopped before page {prompt.next_page}", error=True)
    return OK


def _proven(client: Client, args: argparse.Namespace) -> tuple[document_pb2.Document, Report]:
    asked = _asked(args)
    document = _document(client, args)
    return document, client.verify(document, **asked)


def _asked(args: argparse.Namespace) -> dict[str, Any]:
    """The answer, and what is known about its values."""
    answer = sys.stdin.buffer.read() if args.answer == "-" else Path(args.answer).read_bytes()
    wanted = field_files.load(args.fields, args.locale)
    relations = [*wanted.relations, *args.relations]
    return {"answer": answer, "fields": wanted.fields, "relations": relations}


def verify(client: Client, args: argparse.Namespace) -> int:
    document, report = _proven(client, args)
    written: list[str] = []
    if args.out:
        folder = Path(args.out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
        written.append(str(folder / "report.json"))
        for picture in client.annotate(document, report):
            written.append(str(picture.save(folder / f"page-{picture.page_number:04}.jpg")))
    if args.json:
        say(report.to_json())
    else:
        show.print_report(report)
        if written:
            say("written: " + " ".join(written))
    return OK if report.action is Action.RELEASE else TO_REVIEW


def annotate(client: Client, args: argparse.Namespace) -> int:
    document, report = _proven(client, args)
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    suffix = "jpg" if args.format == "jpeg" else args.format
    written = []
    if args.crops:
        for picture in client.crops(document, report, format=args.format):
            name = re.sub(r"[^\w.-]+", "-", picture.path.strip("/")) or "value"
            written.append(str(picture.save(folder / f"{name}.{suffix}")))
    else:
        for picture in client.annotate(document, report, format=args.format):
            written.append(str(picture.save(folder / f"page-{picture.page_number:04}.{suffix}")))
    say(json.dumps({"written": written}) if args.json else "\n".join(written))
    return OK if report.action is Action.RELEASE else TO_REVIEW


def _exported(client: Client, args: argparse.Namespace, to: str, format: str) -> Exported:
    asked = _asked(args)
    return client.export(
        _document(client, args),
        **asked,
        to=to,
        format=format,
        with_original=args.with_original,
        password=args.password,
    )


def export(client: Client, args: argparse.Namespace) -> int:
    try:
        made = _exported(client, args, args.to, args.format)
    except ValueError as error:
        return complain(args, USAGE, "FORMAT_UNKNOWN", str(error))
    if args.json:
        say(
            json.dumps({"written": str(made.path), "bytes": made.size, "mime_type": made.mime_type})
        )
    else:
        say(made.path)
    return TO_REVIEW if made.action in (Action.REVIEW, Action.BLOCK) else OK


def review(client: Client, args: argparse.Namespace) -> int:
    stem = "answer" if args.answer == "-" else str(Path(args.answer).with_suffix(""))
    made = _exported(client, args, args.to or f"{stem}-evidence.zip", "bundle")
    if not args.json:
        say(f"written: {made.path}")
    show_bundle(str(made.path), "", args.json)
    return TO_REVIEW if made.action in (Action.REVIEW, Action.BLOCK) else OK


def replay(args: argparse.Namespace) -> int:
    flags = ["--public-key", args.public_key] if args.public_key else []
    code = replayed(args.bundle, *flags, *(["--json"] if args.json else []))
    if code is None:
        text = "replay needs the rules: pip install 'visualproof-server[signing]'"
        return complain(args, USAGE, "", text)
    return code


def prose(client: Client, args: argparse.Namespace) -> int:
    _, report = _proven(client, args)
    text = sys.stdin.read() if args.text == "-" else Path(args.text).read_text(encoding="utf-8")
    made = client.check_prose(text, [report], rounding_allowed=args.rounding)
    if args.json:
        say(json.dumps(json_format.MessageToDict(made, preserving_proto_field_name=True)))
    else:
        for span in made.spans:
            name = pb.ProseClass.Name(span.prose_class).removeprefix("PROSE_CLASS_")
            say(f"{name:<11} {span.start:>6}-{span.end:<6} {span.text}  {span.path}")
    return OK if made.safe else TO_REVIEW


def blocks(client: Client, args: argparse.Namespace) -> int:
    kinds = [] if args.words else [
        block_pb2.BLOCK_KIND_PAGE,
        block_pb2.BLOCK_KIND_LINE,
        block_pb2.BLOCK_KIND_TABLE,
        block_pb2.BLOCK_KIND_CELL,
    ]  # fmt: skip
    blocks = list(client.blocks(_document(client, args), page=args.page, kinds=kinds))
    if args.json:
        items = [json_format.MessageToDict(b, preserving_proto_field_name=True) for b in blocks]
        say(json.dumps({"blocks": items}, ensure_ascii=False))
        return OK
    for block in blocks:
        confidence = f"{block.confidence:.2f}" if block.HasField("confidence") else "    "
        say(f"{block.block_id:<12} {confidence} {block.text}")
    return OK


def delete(client: Client, args: argparse.Namespace) -> int:
    client.delete(args.document)
    if args.json:
        say(json.dumps({"deleted": args.document}))
    return OK


def info(client: Client, args: argparse.Namespace) -> int:
    info = client.info()
    if args.json:
        say(json.dumps(json_format.MessageToDict(info, preserving_proto_field_name=True)))
        return OK
    say(
        f"visualproof-server {info.version}, reader {info.reader_version}, rules {info.rules_version}"
    )
    for engine in info.engines:
        say(f"engine {engine.name} {engine.version}: {', '.join(engine.languages)}")
    for limit in info.limits:
        say(f"limit {limit.name}: {limit.value} {limit.unit}")
    say("kinds: " + ", ".join(info.kinds))
    say("sandbox: " + (", ".join(info.sandbox) or "off"))
    say("components: " + ", ".join(info.components))
    return OK
