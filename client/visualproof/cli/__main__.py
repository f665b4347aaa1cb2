"""`visualproof`: the command line. Exit 0 all released, 1 review or blocked, 2 usage, 3 the document
failed, 4 the service is unreachable or refused."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from visualproof import CallError, Client, DocumentFailed
from visualproof._channel import EVIDENCE_FORMATS
from visualproof.cli import fields as field_files
from visualproof.cli.bundles import BundleError, open_bundle

try:
    from visualproof.cli import commands
except ImportError:
    sys.exit("The command line needs: pip install 'visualproof[cli]'")


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    args = _parser().parse_args(argv)
    try:
        if "offline" in args:
            code: int = args.offline(args)
            return code
        run: Callable[[Client, argparse.Namespace], int] = args.run
        pem = [Path(f).read_bytes() if f else None for f in (args.ca, args.key, args.cert)]
        with Client(
            args.target,
            token=args.token,
            tls=args.tls,
            root_certificates=pem[0],
            private_key=pem[1],
            certificate_chain=pem[2],
        ) as client:
            return run(client, args)
    except DocumentFailed as error:
        return commands.complain(args, commands.FAILED, error.code, error.message)
    except CallError as error:
        return commands.complain(args, commands.UNREACHABLE, error.code, error.message)
    except field_files.FieldsError as error:
        return commands.complain(args, commands.USAGE, "FIELDS_INVALID", str(error))
    except BundleError as error:
        return commands.complain(args, commands.USAGE, "BUNDLE_UNREADABLE", str(error))
    except OSError as error:
        return commands.complain(
            args, commands.USAGE, "FILE_UNREADABLE", f"{error.filename}: {error.strerror}"
        )
    except UnicodeError as error:
        return commands.complain(
            args,
            commands.USAGE,
            "NOT_UTF8",
            f"an argument or a file is no UTF-8 ({type(error).__name__})",
        )


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--target",
        default=os.environ.get("VISUALPROOF_TARGET", "localhost:50051"),
        help="host:port of the service (VISUALPROOF_TARGET)",
    )
    common.add_argument("--token", default=os.environ.get("VISUALPROOF_TOKEN"), help="bearer token")
    common.add_argument("--tls", action="store_true", help="encrypt, trusting the system's roots")
    common.add_argument("--ca", metavar="FILE", help="encrypt, trusting this CA (PEM)")
    common.add_argument("--cert", metavar="FILE", help="own certificate, for mutual TLS (PEM)")
    common.add_argument("--key", metavar="FILE", help="its private key (PEM)")
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
    reading.add_argument(
        "--reading", default="", metavar="FILE", help="Textract JSON, hOCR or Ethos JSON: the words"
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
    names = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str,
        run: Callable[[Client, argparse.Namespace], int],
        help: str,
        *parents: argparse.ArgumentParser,
    ) -> argparse.ArgumentParser:
        command = names.add_parser(name, help=help, description=help, parents=[common, *parents])
        command.set_defaults(run=run)
        return command

    ingest = add("ingest", commands.ingest, "read files; prints document ids", reading)
    ingest.add_argument("files", nargs="+", metavar="FILE")
    prompt = add("prompt", commands.prompt, "marked text for a model", reading)
    prompt.add_argument("document", metavar="DOCUMENT", help="a document id, or a file")
    prompt.add_argument("--fields", help="JSON or YAML file of fields; adds the answer schema")
    prompt.add_argument("--pages", default="", help="such as 3 or 1-3")
    prompt.add_argument("--max-tokens", type=int, default=0, help="stop before this many tokens")
    prompt.add_argument("--compact", action="store_true", help="shorter markers")
    verify = add("verify", commands.verify, "prove an answer", reading, proving)
    verify.add_argument("--out", help="folder for the marked pages and the report")
    annotate = add("annotate", commands.annotate, "write marked pages, or crops", reading, proving)
    annotate.add_argument("--out", default=".", help="folder for the images")
    annotate.add_argument("--crops", action="store_true", help="one image a value")
    annotate.add_argument("--format", default="jpeg", choices=["jpeg", "png", "webp"])
    export = add("export", commands.export, "write evidence to a file", reading, proving)
    export.add_argument("--to", required=True, metavar="FILE", help="file to write")
    export.add_argument(
        "--format", default="", choices=["", *EVIDENCE_FORMATS], help="as its suffix, if not given"
    )
    export.add_argument(
        "--with-original", action="store_true", help="put the original into the bundle"
    )
    review = add("review", commands.review, "prove, write the bundle and open it", reading, proving)
    review.add_argument(
        "--to", default="", metavar="FILE", help="the bundle; beside the answer, if not given"
    )
    review.add_argument("--with-original", action="store_true", help="put the original into it")
    open_ = names.add_parser("open", help="show a bundle's values and pages in the browser")
    open_.add_argument("bundle", metavar="BUNDLE.zip")
    open_.add_argument(
        "--to", default="", metavar="FILE", help="write the page there, and open nothing"
    )
    open_.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    open_.add_argument(
        "--unproven",
        action="store_true",
        help="show one that cannot be proven here, and say so on it",
    )
    open_.set_defaults(
        offline=lambda args: open_bundle(args.bundle, args.to, args.json, args.unproven)
    )
    replay = names.add_parser("replay", help="prove a bundle again, offline")
    replay.add_argument("bundle", metavar="BUNDLE.zip")
    replay.add_argument("--public-key", default="", help="PEM file: it must be signed by this key")
    replay.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    replay.set_defaults(offline=commands.replay)
    prose = add(
        "prose", commands.prose, "check the numbers of a text against an answer", reading, proving
    )
    prose.add_argument("text", metavar="TEXT", help="a file with the text; - for stdin")
    prose.add_argument("--rounding", action="store_true", help="rounded values pass")
    blocks = add("blocks", commands.blocks, "list what was read", reading)
    blocks.add_argument("document", metavar="DOCUMENT", help="a document id, or a file")
    blocks.add_argument("--page", type=int, default=0, help="only this page")
    blocks.add_argument("--words", action="store_true", help="words too")
    delete = add("delete", commands.delete, "delete a document and all derived from it")
    delete.add_argument("document", metavar="DOCUMENT", help="a document id")
    add("info", commands.info, "what the server is and can do")
    return parser


if __name__ == "__main__":
    sys.exit(main())
