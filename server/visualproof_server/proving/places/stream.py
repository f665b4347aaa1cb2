"""Words in some order as one text that can be searched, and the runs that are found in it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from visualproof_server.model.document import Word
from visualproof_server.proving.text import folding
from visualproof_server.proving.text.folding import Token, confusable


@dataclass(frozen=True, slots=True)
class Run:
    """Printed words, in reading order, and what of their text is meant.

    partial: the first or last word holds more than the text.
    """

    words: tuple[int, ...]
    text: str
    partial: bool = False


class Stream:
    """Words in some order as one compact text that can be searched with str.find."""

    def __init__(
        self,
        words: Sequence[Word],
        order: Iterable[int | None],
        tokenize: Callable[[str], Sequence[Token]],
    ) -> None:
        """None in order parts what stands before it from what comes after."""
        self._words = words
        self._starts: list[int] = []
        self._tokens: list[tuple[int, Token]] = []
        pieces: list[str] = []
        at, last_digit = 0, False
        for word in order:
            if word is None:
                pieces.append("\n")
                at, last_digit = at + 1, False
                continue
            for token in tokenize(words[word].text):
                if last_digit and token.text[0].isdigit():
                    pieces.append(" ")
                    at += 1
                self._starts.append(at)
                self._tokens.append((word, token))
                pieces.append(token.text)
                at += len(token.text)
                last_digit = token.text[-1].isdigit()
        self.text = "".join(pieces)

    def find(self, sought: str, limit: int = 200) -> list[Run]:
        """Runs whose compact text is `sought`, starting and ending at token boundaries."""
        runs: list[Run] = []
        if not sought:
            return runs
        at = self.text.find(sought)
        while at >= 0 and len(runs) < limit:
            run = self._run(at, at + len(sought))
            if run is not None:
                runs.append(run)
            at = self.text.find(sought, at + 1)
        return runs

    def _run(self, start: int, end: int) -> Run | None:
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        if self._starts[first] != start:
            return None
        if self._starts[last] + len(self._tokens[last][1].text) != end:
            return None
        return _run_of(self._words, [self._tokens[i] for i in range(first, last + 1)])


def _run_of(printed: Sequence[Word], parts: list[tuple[int, Token]]) -> Run:
    """The run of tokens given with their words."""
    words = list(dict.fromkeys(word for word, _ in parts))
    first_word, first = parts[0]
    last_word, last = parts[-1]
    first_text, last_text = printed[first_word].text, printed[last_word].text
    cut_left = has_token(first_text[: first.start])
    cut_right = has_token(last_text[last.end :])
    left = first.start if cut_left else 0
    # A comma or colon after the print is the sentence's, a closing period may be a word's.
    right = last.end if cut_right else max(last.end, len(last_text.rstrip(",;:")))
    if len(words) == 1:
        text = first_text[left:right]
    else:
        middle = [printed[w].text for w in words[1:-1]]
        text = " ".join([first_text[left:], *middle, last_text[:right]])
    return Run(tuple(words), text, cut_left or cut_right)


@lru_cache(maxsize=65536)
def word_tokens(text: str) -> tuple[Token, ...]:
    """`folding.tokens` of one word."""
    return tuple(folding.tokens(text))


@lru_cache(maxsize=65536)
def confused_tokens(text: str) -> tuple[Token, ...]:
    """The same with look-alike characters merged; letters and digits that no mark parts are one."""
    merged: list[Token] = []
    for token in folding.tokens(text):
        alike = confusable(token.text)
        if merged and alike and merged[-1].end == token.start:
            merged[-1] = Token(merged[-1].text + alike, merged[-1].start, token.end)
        elif alike:
            merged.append(Token(alike, token.start, token.end))
    return tuple(merged)


def has_token(text: str) -> bool:
    """Whether a text has anything that is read: a letter or a digit."""
    return any(c.isalnum() for c in text)
