"""Which page for reviewers this makes: a bundle says so, and only the same one is made again."""

from pathlib import Path

from visualproof_server.model.build import digest_of

_HERE = Path(__file__).parent

PAGE_VERSION = digest_of((_HERE, _HERE.parent / "model"), ())
