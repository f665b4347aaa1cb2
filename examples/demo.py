"""The main job, end to end: a server on a free port, a scanned invoice, a model's answer, the proof.

The answer is like a model's: one amount is wrong, one value is invented. Run: make demo
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from visualproof import Client
from visualproof.cli import fields, show

HERE = Path(__file__).parent / "invoice"
OUT = Path("demo-out")


def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        server = subprocess.Popen(
            [sys.executable, "-m", "visualproof_server", "--listen", "127.0.0.1:0",
             "--data-dir", data, "--log-level", "warning"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert server.stdout is not None
            match = re.search(r"port (\d+)", server.stdout.readline())
            if match is None:
                sys.exit("the server did not start; see its messages above")
            run(f"localhost:{match[1]}")
        finally:
            server.terminate()
            server.wait()


def run(target: str) -> None:
    wanted = fields.load(str(HERE / "fields.json"))
    with Client(target) as client:
        document = client.ingest(HERE / "scan.jpg")
        prompt = client.prompt(document, fields=wanted.fields)
        print(
            f"Read {HERE / 'scan.jpg'}: document {document.document_id}. What the model is shown:\n"
        )
        print("\n".join(prompt.text.splitlines()[:8]), "\n...\n")
        report = client.verify(
            document,
            (HERE / "answer.json").read_bytes(),
            fields=wanted.fields,
            relations=wanted.relations,
        )
        show.print_report(report)
        OUT.mkdir(exist_ok=True)
        for picture in client.annotate(document, report):
            print("\nMarked page:", picture.save(OUT / f"page-{picture.page_number}.jpg").resolve())


if __name__ == "__main__":
    main()
