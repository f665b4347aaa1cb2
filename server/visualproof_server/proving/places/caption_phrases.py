"""Captions as whole phrases: where a label is printed, and how much of its phrase it is.

A caption is bounded by a gap, a colon, another value, a line of heads or the end of a sentence. A
label is compared with all of it: `Total` is not `Sub-Total`, `Total VAT` or `Total qty`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.values import spelled
from visualproof_server.proving.values.units import currencies_named
from visualproof_server.proving.vocabulary.words import Words, caption_words, vocabulary

_MAX_PLACES = 60
# A caption before a colon has at most so many words.
_CAPTION_WORDS = 6
# Shorter labels are too like other words for a misread one to be told.
_SHORTEST_MISREAD = 4
# A phrase between a label and its value that has more is none.
_PHRASE_WORDS = 20
SENTENCE_END = (".", "!", "?", ";")


class Tier(IntEnum):
    """How much of a caption a label is: smaller is better."""

    EQUAL = 0
    NEUTRAL = 1
    PART = 2


@dataclass(frozen=True, slots=True)
class Caption:
    """A printed label. end is the word after its whole phrase, in its row; tier says how much of
    the phrase the label is."""

    run: Run
    end: int
    tier: Tier


class Phrases:
    """The whole captions of one document; `others` are the labels of all fields of the request."""

    def __init__(self, index: Index, others: Iterable[str] = ()) -> None:
        self.index = index
        self._others = frozenset(caption_words(label) for label in others)
        self._starts: dict[int, int] = {}

    def of(self, labels: Iterable[str], of_text: bool) -> list[Caption]:
        """Where any of some labels is printed, whole words only, the longest label first."""
        found: list[Run] = []
        taken: set[int] = set()
        for label in sorted({label for label in labels if label}, key=len, reverse=True):
            for run in locate.exact(label, self.index) or self._misread(label):
                if not taken & set(run.words):
                    taken |= set(run.words)
                    found.append(run)
        found.sort(key=lambda run: run.words[0])
        return [self._caption(run, of_text) for run in found[:_MAX_PLACES]]

    def _misread(self, label: str) -> list[Run]:
        """Where a label is printed as OCR misreads it: Tota1, Falligkeit; no code, no number."""
        if len(label) < _SHORTEST_MISREAD:
            return []
        found = locate.confused(label, self.index)
        return [r for r in found if 2 * sum(map(str.isdigit, r.text)) < len(r.text)]

    def _caption(self, run: Run, of_text: bool) -> Caption:
        """The whole phrase that a printed label stands in."""
        index = self.index
        last = run.words[-1]
        segment = index.segments[index.segment_of[last]]
        left = self._before(run)
        right, end = self._after(run, last, segment.end)
        if not of_text and end < segment.end:
            right += self._before_value(end, segment.end)
        extra = [*left, *right]
        if not extra:
            return Caption(run, end, Tier.EQUAL)
        neutral = all(self.is_neutral(word) for word in extra) or _same_role(left, run, right)
        return Caption(run, end, Tier.NEUTRAL if neutral else Tier.PART)

    def _before(self, run: Run) -> list[str]:
        """Words of the phrase before a label, folded."""
        index = self.index
        first = run.words[0]
        segment = index.segments[index.segment_of[first]]
        found: list[str] = []
        if run.partial:
            head = _head_of(index.words[first].text, run.text)
            if ":" in head or any(c.isdigit() for c in head):
                return []
            found += caption_words(head)
        for word in range(first - 1, segment.start - 1, -1):
            text = index.words[word].text
            if text.endswith((":", "|", *SENTENCE_END)) and not _is_abbreviation(text):
                break
            if any(c.isdigit() for c in text) and not text.startswith("("):
                break
            folded = fold_text(text).strip(".,()[]-*#=•·\"'")
            if folded:
                found.append(folded)
            if len(found) > _CAPTION_WORDS:
                break
        return found

    def _after(self, run: Run, last: int, stop: int) -> tuple[list[str], int]:
        """Words of the phrase after a label, folded, and the word after its end."""
        index = self.index
        tail = _tail_of(index.words[last].text, run.text)
        if ":" in tail or any(c.isdigit() for c in tail):
            # "Total:800.00" is one word: the value shares it.
            return [], last if any(c.isalnum() for c in tail) else last + 1
        found: list[str] = list(caption_words(tail)) if run.partial else []
        colon = self._colon(last + 1, stop)
        word, depth, counted = last + 1, 0, False
        while word < stop:
            text = index.words[word].text
            inside = depth > 0 or text.startswith("(")
            depth += text.count("(") - text.count(")")
            folded = fold_text(text).strip(".,()[]-*#=\"'_")
            if inside and any(c.isdigit() for c in text):
                # (3 items) counts, (Excluding GST) says another thing.
                counted = True
            elif set(text) <= set(":.=-…_*()[]") or (inside and counted):
                pass
            elif any(c.isdigit() for c in text):
                if not (colon is not None and word < colon) and not self._is_share(word):
                    break
            elif self.is_neutral(folded.rstrip(":")):
                if colon is None and folded in ("no", "number", "the", "a", "an", "of", "is"):
                    pass
            elif inside or (colon is not None and word <= colon):
                found.append(folded.rstrip(":"))
            else:
                break
            word += 1
            if text.endswith(":"):
                break
        return found, word

    def _before_value(self, start: int, stop: int) -> list[str]:
        """Words between a caption without a colon and the value in its line: they are its too."""
        index = self.index
        if ":" in index.words[start - 1].text:
            return []
        found: list[str] = []
        for word in range(start, stop):
            text = index.words[word].text
            if any(c.isdigit() for c in text):
                return found
            folded = fold_text(text).strip(".,:;()[]-*#=\"'")
            bounds = (folded,) in vocabulary().bounds_words
            if folded and not is_number_word(folded) and not bounds:
                found.append(folded)
            if len(found) > _PHRASE_WORDS:
                # So many words are no caption, and the last says so: it is in no vocabulary.
                return [*found, "goes on"]
        # The value is beyond a gap: all of the phrase is its caption.
        return found

    def _colon(self, start: int, stop: int) -> int | None:
        """The word that ends a caption with a colon, if one is near."""
        for word in range(start, min(stop, start + _CAPTION_WORDS)):
            text = self.index.words[word].text
            if text.endswith(":"):
                return word
            if text.endswith(SENTENCE_END) and not _is_abbreviation(text):
                return None
        return None

    def _is_share(self, word: int) -> bool:
        """Whether a word is a rate in a caption, before its value: the 20 % of `TVA 20 % 4,00`."""
        index = self.index
        hits = index.numbers_by_word.get(word, ())
        if not hits or not all(read.percent for _, read in hits):
            return False
        after = range(hits[0][0].words[-1] + 1, index.rows[index.row_of[word]].end)
        return any(c.isdigit() for w in after for c in index.words[w].text)

    def is_neutral(self, folded: str) -> bool:
        if not folded or not any(c.isalnum() for c in folded):
            return True
        return (
            folded in _neutral()
            or bool(currencies_named(folded.upper()))
            or bool(currencies_named(folded))
        )

    def starts_caption(self, number: int) -> int:
        """How many words of a segment are a caption that it begins with; 0 if it begins with none."""
        if number not in self._starts:
            self._starts[number] = self._caption_length(number)
        return self._starts[number]

    def _caption_length(self, number: int) -> int:
        segment = self.index.segments[number]
        texts = [self.index.words[w].text for w in range(segment.start, segment.end)]
        for n, text in enumerate(texts[:_CAPTION_WORDS]):
            if not any(c.isalnum() for c in text):
                # A colon of its own belongs to the caption before it.
                continue
            if text.endswith(":") or (":" in text and not text[0].isdigit() and "://" not in text):
                return n + 1
            if any(c.isdigit() for c in text) and not text.startswith("("):
                break
        for size in range(min(_CAPTION_WORDS, len(texts)), 0, -1):
            words = caption_words(" ".join(texts[:size]))
            whole = size == len(texts) or any(c.isdigit() for c in texts[size])
            if words in self._others or (whole and self._is_known(words)):
                return size
        return 0

    def _is_known(self, words: Words) -> bool:
        return bool(vocabulary().roles_called(words))

    def inner_caption(self, words: list[int]) -> int | None:
        """The word where another caption begins among words of a segment."""
        texts = [self.index.words[w].text for w in words]
        for n, text in enumerate(texts):
            if n and text.endswith(":") and any(c.isalpha() for c in text):
                begin = n
                for size in range(min(4, n), 0, -1):
                    known = caption_words(" ".join(texts[n - size : n + 1]))
                    if self._is_known(known) or known in self._others:
                        begin = n - size
                        break
                return words[begin]
            if n:
                for size in (4, 3, 2, 1):
                    some = caption_words(" ".join(texts[n : n + size]))
                    if some in self._others and len(some) == size and any(map(str.isalpha, some)):
                        if some != () and not _continues_lower(texts[n]):
                            return words[n]
        return None


def _same_role(left: list[str], run: Run, right: list[str]) -> bool:
    """Whether a longer caption calls its value the same as the label does: Grand Total and Total."""
    known = vocabulary().roles_called
    own = known(caption_words(run.text))
    told = known(caption_words(" ".join([*reversed(left), run.text, *right])))
    return len(told) == 1 and told <= own


def _head_of(word: str, text: str) -> str:
    """What of a word stands before a text that begins in it."""
    at = word.find(text.split(" ", 1)[0])
    return word[:at] if at > 0 else ""


def _tail_of(word: str, text: str) -> str:
    """What of a word stands after a text that ends in it."""
    last = text.rsplit(" ", 1)[-1]
    at = word.rfind(last)
    return word[at + len(last) :] if at >= 0 else ""


def _is_abbreviation(text: str) -> bool:
    """Whether a period ends a word rather than a sentence: No., Nr., St."""
    return text.endswith(".") and len(text) <= 5 and text.count(".") >= 1 and text[0].isalpha()


def is_number_word(folded: str) -> bool:
    known = vocabulary()
    return spelled.read([folded]) is not None or folded in known.scales or folded in known.units


def _continues_lower(text: str) -> bool:
    return text[:1].islower()


def _neutral() -> frozenset[str]:
    return vocabulary().single("neutral")
