"""A folder of receipts, several at once; one CSV line each, and what a person must see on top.

pip install visualproof openai; export OPENAI_API_KEY=...
python examples/receipts_in_parallel.py [FOLDER] [--target localhost:50051] [--threads 8]
"""

import argparse
import csv
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
from visualproof import Client, Document, DocumentFailed, FieldSpec, Report, ServerBusy

HERE = Path(__file__).parent
FIELDS = [
    FieldSpec(path="/merchant", kind="text"),
    FieldSpec(path="/date", kind="date", locale="en-GB"),
    FieldSpec(path="/total", kind="money", labels=["TOTAL"], locale="en-GB", required=True),
]


def ingest(client: Client, file: Path) -> Document:
    """Waits as long as a full queue says."""
    while True:
        try:
            return client.ingest(file)
        except ServerBusy as busy:
            time.sleep(busy.retry_after or 1.0)


def read(client: Client, model: str, file: Path) -> Report:
    document = ingest(client, file)
    prompt = client.prompt(document, fields=FIELDS)
    completion = openai.OpenAI().chat.completions.create(
        model=model,
        messages=[
            {"role": "system", "content": prompt.instructions},
            {"role": "user", "content": prompt.text},
        ],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": prompt.answer_schema or {}},
        },
    )
    return client.verify(document, completion.choices[0].message.content or "", fields=FIELDS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "receipts")
    parser.add_argument("--target", default="localhost:50051")
    parser.add_argument("--model", default="gpt-4.1-mini")
    parser.add_argument("--threads", type=int, default=8)
    args = parser.parse_args()
    files = sorted(p for p in args.folder.iterdir() if p.suffix in (".png", ".jpg", ".pdf"))
    rows: list[tuple[int, list[str]]] = []
    with Client(args.target) as client, ThreadPoolExecutor(args.threads) as threads:
        jobs = {file: threads.submit(read, client, args.model, file) for file in files}
        for file, job in jobs.items():
            try:
                report = job.result()
            except DocumentFailed as failed:
                rows.append((9, [file.name, "FAILED", failed.code, "", ""]))
                continue
            values = [str(report[f.path].value) for f in FIELDS]
            rows.append((report.action, [file.name, report.action.name, *values]))
    out = csv.writer(sys.stdout)
    out.writerow(["file", "action", "merchant", "date", "total"])
    out.writerows(row for _, row in sorted(rows, key=lambda r: (-r[0], r[1])))


if __name__ == "__main__":
    main()
