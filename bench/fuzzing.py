"""Coverage-guided fuzzing (atheris) of the readers of foreign text.

    pip install atheris; python bench/fuzzing.py TARGET [--seconds 60]

TARGET is one of tests/fuzz/targets.py: answers, markers, tsv, ids, numbers, dates, schemas, expressions,
labels, imports. Ends at the first
input that breaks a promise, which libFuzzer writes to a file.
"""

import argparse
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
with atheris.instrument_imports(include=["visualproof_server", "fuzz"]):
    from fuzz.targets import TARGETS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    flags = [sys.argv[0], f"-max_total_time={args.seconds}", "-max_len=4096", "-timeout=5"]
    atheris.Setup(flags, TARGETS[args.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
