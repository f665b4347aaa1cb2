"""Which rules these are: a report says so, and only the same ones can prove it again."""

from pathlib import Path

from visualproof_server.model.build import digest_of

# What rules ask for words, numbers, dates and likeness.
_LIBRARIES = ("babel", "python-stdnum", "rapidfuzz", "num2words")
_HERE = Path(__file__).parent

RULES_VERSION = digest_of((_HERE, _HERE.parent / "model"), _LIBRARIES)
