"""A report of 250 pages, asked window by window, and every figure proven on its own page.

    pip install visualproof openai; export OPENAI_API_KEY=...
    python examples/make_documents.py report.pdf
    python examples/report_in_windows.py report.pdf [--target localhost:50051] [--tokens 12000]

A window's answer may cite only what that window showed: other ids are refused (PROOF_NOT_SHOWN).
"""

import argparse
import json
from typing import Any

import openai
from visualproof import Action, Client, Document, FieldSpec

FIELDS = [
    FieldSpec(path="/figures/*/region", kind="text"),
    FieldSpec(path="/figures/*/water_use", kind="quantity", unit="m3/day", locale="en-GB"),
]


def ask(model: str, instructions: str, text: str, schema: dict[str, Any]) -> str:
    completion = openai.OpenAI().chat.completions.create(
        model=model,
        messages=[{"role": "system", "content": instructions}, {"role": "user", "content": text}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        },
    )
    return completion.choices[0].message.content or "{}"


def windows(client: Client, document: Document, model: str, tokens: int) -> list[dict[str, Any]]:
    """What each window said, with its pages and its report."""
    out = []
    first = 1
    while first:
        prompt = client.prompt(
            document, fields=FIELDS, pages=(first, document.page_count), max_tokens=tokens
        )
        answer = ask(model, prompt.instructions, prompt.text, prompt.answer_schema or {})
        report = client.verify(document, answer, fields=FIELDS, shown_pages=[prompt.pages])
        out.append({"pages": prompt.pages, "answer": json.loads(answer), "report": report})
        first = prompt.next_page
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report")
    parser.add_argument("--target", default="localhost:50051")
    parser.add_argument("--model", default="gpt-4.1")
    parser.add_argument("--tokens", type=int, default=12_000, help="of a window")
    args = parser.parse_args()
    kept, thrown_away = 0, 0
    with Client(args.target) as client:
        document = client.ingest(args.report, text_layer=True)
        for window in windows(client, document, args.model, args.tokens):
            report = window["report"]
            print(f"pages {window['pages'][0]} to {window['pages'][1]}: {report!r}")
            for result in report:
                if result.action is Action.RELEASE:
                    kept += 1
                    continue
                thrown_away += 1
                why = ", ".join(r.code for r in result.reasons)
                print(f"  {result.path} {result.value!r}: {result.status.name} {why}")
    print(f"{kept} values proven, {thrown_away} not")


if __name__ == "__main__":
    main()
