"""An invoice read by a model of OpenAI, proven, and sealed as evidence.

pip install visualproof openai; export OPENAI_API_KEY=...
python examples/openai_invoice.py [INVOICE] [--target localhost:50051] [--to evidence.zip]
"""

import argparse
from pathlib import Path

import openai
from visualproof import Client, FieldSpec

HERE = Path(__file__).parent
FIELDS = [
    FieldSpec(path="/vendor", kind="text"),
    FieldSpec(path="/invoice_number", kind="identifier", labels=["Invoice number"]),
    FieldSpec(path="/subtotal", kind="money", labels=["Subtotal"], locale="en-GB"),
    FieldSpec(path="/vat", kind="money", labels=["VAT"], locale="en-GB"),
    FieldSpec(path="/total", kind="money", labels=["Total due"], locale="en-GB", required=True),
]
SUMS = ["/subtotal + /vat = /total"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("invoice", nargs="?", default=HERE / "invoice" / "scan.jpg")
    parser.add_argument("--target", default="localhost:50051")
    parser.add_argument("--model", default="gpt-4.1")
    parser.add_argument("--to", default="evidence.zip")
    args = parser.parse_args()
    with Client(args.target) as client:
        document = client.ingest(args.invoice)
        prompt = client.prompt(document, fields=FIELDS)
        completion = openai.OpenAI().chat.completions.create(
            model=args.model,
            messages=[
                {"role": "system", "content": prompt.instructions},
                {"role": "user", "content": prompt.text},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "answer", "strict": True, "schema": prompt.answer_schema or {}
                },
            },
        )  # fmt: skip
        answer = completion.choices[0].message.content or ""
        report = client.verify(document, answer, fields=FIELDS, relations=SUMS)
        for result in report:
            print(f"{result.action.name:8} {result.path:16} {result.status.name:16}"
                  f" {result.value!s:32} printed: {result.printed_text}")  # fmt: skip
        made = client.export(document, answer, fields=FIELDS, relations=SUMS, to=args.to)
        print(f"{report.action.name}; look at it: visualproof open {made.path}")


if __name__ == "__main__":
    main()
