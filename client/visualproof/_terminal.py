"""What is printed for a person: text of documents and answers does nothing to the terminal."""

import json
import re
import sys

# Controls (C0 but tab and line feed, C1), bidirectional controls, line ends of Unicode, halves of surrogate
# pairs (names that are no UTF-8), tags, and what is no character.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """Text with what a terminal obeys spelled as JSON does, so that JSON stays what it is: `\\u001b`."""
    return _HARMFUL.sub(lambda match: json.dumps(match.group())[1:-1], text)


def say(*parts: object, sep: str = " ", end: str = "\n", error: bool = False) -> None:
    """Prints for a person or a program; the only way out of the command line beside tables."""
    stream = sys.stderr if error else sys.stdout
    stream.write(harmless(sep.join(map(str, parts))) + end)
    stream.flush()
