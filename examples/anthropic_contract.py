"""A contract read by a model of Anthropic: what is not printed word by word is blocked.

pip install visualproof anthropic; export ANTHROPIC_API_KEY=...
python examples/anthropic_contract.py [CONTRACT] [--target localhost:50051] [--to page.html]
"""

import argparse
from pathlib import Path

import anthropic
from visualproof import Client, FieldSpec

HERE = Path(__file__).parent
FIELDS = [
    FieldSpec(path="/client", kind="text"),
    FieldSpec(path="/begins", kind="date", locale="en-GB"),
    FieldSpec(path="/ends", kind="date", locale="en-GB"),
    FieldSpec(path="/notice", kind="quote"),
    FieldSpec(path="/annual_fee", kind="money", currency="GBP", locale="en-GB"),
    FieldSpec(path="/liability", kind="quote"),
    FieldSpec(path="/liability_limit", kind="money", currency="GBP", locale="en-GB"),
    FieldSpec(path="/law", kind="text"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contract", nargs="?", default=HERE / "contract" / "contract.pdf")
    parser.add_argument("--target", default="localhost:50051")
    parser.add_argument("--model", default="claude-sonnet-4-5")
    parser.add_argument("--to", default="contract.html")
    args = parser.parse_args()
    with Client(args.target) as client:
        document = client.ingest(args.contract, text_layer=True)
        prompt = client.prompt(document, fields=FIELDS)
        message = anthropic.Anthropic().messages.create(
            model=args.model,
            max_tokens=4000,
            system=prompt.instructions,
            messages=[{"role": "user", "content": prompt.text}],
            tools=[{"name": "answer", "input_schema": prompt.answer_schema or {"type": "object"}}],
            tool_choice={"type": "tool", "name": "answer"},
        )
        (used,) = (block for block in message.content if block.type == "tool_use")
        answer = dict(used.input)
        report = client.verify(document, answer, fields=FIELDS)
        for result in report:
            places = [f"page {e.page_number}" for e in result.evidence]
            print(f"{result.action.name:8} {result.path:18} {result.status.name:16} {places}")
            for reason in result.reasons:
                print(f"         {reason.code}: {reason.message}")
        made = client.export(document, answer, fields=FIELDS, to=args.to)
        print(f"{report.action.name}; open {made.path}")


if __name__ == "__main__":
    main()
