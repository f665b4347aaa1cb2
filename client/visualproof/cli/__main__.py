"""`visualproof`: the command line. Exit 0 all released, 1 review or blocked, 2 usage, 3 the document
failed, 4 the service is unreachable or refused."""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from google.protobuf import json_format

from visualproof import Action, CallError, Client, DocumentFailed, Report, ServerBusy
from visualproof.cli import fields as field_files
from visualproof.v1 import block_pb2, document_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

try:
    from visualproof.cli import show
except ImportError:
    sys.exit("The command line needs: pip install 'visualproof[cli]'")

OK, TO_REVIEW, USAGE, FAILED, UNREACHABLE = 0, 1, 2, 3, 4
_ID = re.compile(r"[0-9a-f]{32}")


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    args = _parser().parse_args(argv)
    run: Callable[[Client, argparse.Namespace], int] = args.run
    try:
        with Client(args.target, token=args.token, tls=args.tls) as client:
            return run(client, args)
    except DocumentFailed as error:
        return _complain(args, FAILED, error.code, error.message)
    except CallError as error:
        return _complain(args, UNREACHABLE, error.code, error.message)
    except field_files.FieldsError as error:
        return _complain(args, USAGE, "FIELDS_INVALID", str(error))
    except OSError as error:
        return _complain(args, USAGE, "FILE_UNREADABLE", f"{error.filename}: {error.strerror}")


def _complain(args: argparse.Namespace, code: int, reason: str, message: str) -> int:
    if args.json:
        print(json.dumps({"error": reason, "message": message}))
    else:
        print(
            f"visualproof: {reason}: {message}" if reason else f"visualproof: {message}",
            file=sys.stderr,
        )
    return code


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--target",
        default=os.environ.get("VISUALPROOF_TARGET", "localhost:50051"),
        help="host:port of the service (VISUALPROOF_TARGET)",
    )
    common.add_argument("--token", default=os.environ.get("VISUALPROOF_TOKEN"), help="bearer token")
    common.add_argument("--tls", action="store_true", help="encrypt, trusting the system's roots")
    common.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    reading = argparse.ArgumentParser(add_help=False)
    reading.add_argument("--lang", default="", help="languages, joined by +, such as eng+deu")
    reading.add_argument("--engine", default="", help="OCR engine")
    reading.add_argument("--dpi", type=int, default=0, help="resolution of rasterised pages")
    reading.add_argument(
        "--text-layer", action="store_true", help="take a PDF's own words where their ink is proven"
    )
    reading.add_argument("--password", default="", help="opens an encrypted PDF")
    proving = argparse.ArgumentParser(add_help=False)
    proving.add_argument("document", metavar="DOCUMENT", help="a document id, or a file")
    proving.add_argument("answer", metavar="ANSWER.json", help="the model's answer; - for stdin")
    proving.add_argument("--fields", help="JSON or YAML file of fields")
    proving.add_argument(
        "--relations", action="append", default=[], help="an equation to recompute"
    )
    proving.add_argument("--locale", default="", help="for fields that state none, such as de-DE")

    parser = argparse.ArgumentParser(prog="visualproof", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str,
        run: Callable[[Client, argparse.Namespace], int],
        help: str,
        *parents: argparse.ArgumentParser,
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=help, parents=[common, *parents])
        command.set_defaults(run=run)
        return command

    ingest = add("ingest", _ingest, "read files; prints document ids", reading)
    ingest.add_argument("files", nargs="+", metavar="FILE")
    prompt = add("prompt", _prompt, "marked text for a model", reading)
    prompt.add_argument("document", metavar="DOCUMENT", help="a document id, or a file")
    prompt.add_argument("--fields", help="JSON or YAML file of fields; adds the answer schema")
    prompt.add_argument("--pages", default="", help="such as 3 or 1-3")
    prompt.add_argument("--max-tokens", type=int, default=0, help="stop before this many tokens")
    prompt.add_argument("--compact", action="store_true", help="shorter markers")
    verify = add("verify", _verify, "prove an answer", reading, proving)
    verify.add_argument("--out", help="folder for the marked pages and the report")
    annotate = add("annotate", _annotate, "write marked pages, or crops", reading, proving)
    annotate.add_argument("--out", default=".", help="folder for the images")
    annotate.add_argument("--crops", action="store_true", help="one image a value")
    annotate.add_argument("--format", default="jpeg", choices=["jpeg", "png", "webp"])
    prose = add("prose", _prose, "check the numbers of a text against an answer", reading, proving)
    prose.add_argument("text", metavar="TEXT", help="a file with the text; - for stdin")
    prose.add_argument("--rounding", action="store_true", help="rounded values pass")
    blocks = add("blocks", _blocks, "list what was read", reading)
    blocks.add_argument("document", metavar="DOCUMENT", help="a document id, or a file")
    blocks.add_argument("--page", type=int, default=0, help="only this page")
    blocks.add_argument("--words", action="store_true", help="words too")
    delete = add("delete", _delete, "delete a document and all derived from it")
    delete.add_argument("document", metavar="DOCUMENT", help="a document id")
    add("info", _info, "what the server is and can do")
    return parser


def _ingest(client: Client, args: argparse.Namespace) -> int:
    out, worst = [], OK
    with show.ProgressBar(not args.json) as bar:
        for file in args.files:
            try:
                document = _read(client, args, file, bar)
            except DocumentFailed as error:
                worst = FAILED
                out.append({"file": file, "error": error.code, "message": error.message})
                if not args.json:
                    print(f"{file}: {error.code}: {error.message}", file=sys.stderr)
                continue
            out.append(
                {"file": file, "document_id": document.document_id, "pages": document.page_count}
            )
            if not args.json:
                print(
                    document.document_id
                    if len(args.files) == 1
                    else f"{document.document_id}  {file}"
                )
                for warning in document.warnings:
                    print(f"{file}: {warning.code}: {warning.message}", file=sys.stderr)
    if args.json:
        print(json.dumps({"documents": out}))
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


def _prompt(client: Client, args: argparse.Namespace) -> int:
    pages = None
    if args.pages:
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", args.pages)
        if match is None:
            return _complain(args, USAGE, "", "--pages is such as 3 or 1-3")
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
        print(json.dumps(prompt.__dict__, ensure_ascii=False))
        return OK
    print(prompt.instructions, end="\n\n")
    if prompt.answer_schema:
        print("JSON Schema of the answer:", json.dumps(prompt.answer_schema), sep="\n", end="\n\n")
    print(prompt.text)
    if prompt.next_page:
        print(f"visualproof: stopped before page {prompt.next_page}", file=sys.stderr)
    return OK


def _proven(client: Client, args: argparse.Namespace) -> tuple[document_pb2.Document, Report]:
    answer = sys.stdin.buffer.read() if args.answer == "-" else Path(args.answer).read_bytes()
    wanted = field_files.load(args.fields, args.locale)
    document = _document(client, args)
    report = client.verify(
        document, answer, fields=wanted.fields, relations=[*wanted.relations, *args.relations]
    )
    return document, report


def _verify(client: Client, args: argparse.Namespace) -> int:
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
        print(report.to_json())
    else:
        show.print_report(report)
        if written:
            print("written: " + " ".join(written))
    return OK if report.action is Action.RELEASE else TO_REVIEW


def _annotate(client: Client, args: argparse.Namespace) -> int:
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
    print(json.dumps({"written": written}) if args.json else "\n".join(written))
    return OK if report.action is Action.RELEASE else TO_REVIEW


def _prose(client: Client, args: argparse.Namespace) -> int:
    _, report = _proven(client, args)
    text = sys.stdin.read() if args.text == "-" else Path(args.text).read_text(encoding="utf-8")
    made = client.check_prose(text, [report], rounding_allowed=args.rounding)
    if args.json:
        print(json.dumps(json_format.MessageToDict(made, preserving_proto_field_name=True)))
    else:
        for span in made.spans:
            name = pb.ProseClass.Name(span.prose_class).removeprefix("PROSE_CLASS_")
            print(f"{name:<11} {span.start:>6}-{span.end:<6} {span.text}  {span.path}")
    return OK if made.safe else TO_REVIEW


def _blocks(client: Client, args: argparse.Namespace) -> int:
    kinds = [] if args.words else [
        block_pb2.BLOCK_KIND_PAGE,
        block_pb2.BLOCK_KIND_LINE,
        block_pb2.BLOCK_KIND_TABLE,
        block_pb2.BLOCK_KIND_CELL,
    ]  # fmt: skip
    blocks = list(client.blocks(_document(client, args), page=args.page, kinds=kinds))
    if args.json:
        items = [json_format.MessageToDict(b, preserving_proto_field_name=True) for b in blocks]
        print(json.dumps({"blocks": items}, ensure_ascii=False))
        return OK
    for block in blocks:
        confidence = f"{block.confidence:.2f}" if block.HasField("confidence") else "    "
        print(f"{block.block_id:<12} {confidence} {block.text}")
    return OK


def _delete(client: Client, args: argparse.Namespace) -> int:
    client.delete(args.document)
    if args.json:
        print(json.dumps({"deleted": args.document}))
    return OK


def _info(client: Client, args: argparse.Namespace) -> int:
    info = client.info()
    if args.json:
        print(json.dumps(json_format.MessageToDict(info, preserving_proto_field_name=True)))
        return OK
    print(
        f"visualproof-server {info.version}, reader {info.reader_version}, rules {info.rules_version}"
    )
    for engine in info.engines:
        print(f"engine {engine.name} {engine.version}: {', '.join(engine.languages)}")
    for limit in info.limits:
        print(f"limit {limit.name}: {limit.value} {limit.unit}")
    print("kinds: " + ", ".join(info.kinds))
    print("components: " + ", ".join(info.components))
    return OK


if __name__ == "__main__":
    sys.exit(main())
