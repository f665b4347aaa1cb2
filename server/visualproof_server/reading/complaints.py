"""What C libraries of this process say on stderr: the only place where some tell what they left out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile

# How much of it is kept.
SAID = 1 << 16


@dataclass
class Heard:
    """What was said."""

    text: bytes = b""


@contextmanager
def heard(into: Heard) -> Iterator[None]:
    """Takes all that is written to stderr in a block; of a worker, which does one thing at a time."""
    with TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            into.text = file.read(SAID)
