"""Doubtful words, read again from their own pixels before anyone is asked."""

from collections.abc import Callable, Iterable, Sequence

from visualproof_server.model.answer import Claim
from visualproof_server.model.geometry import Box, union
from visualproof_server.model.report import REASONS, Reason, Status
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.places.index import Index, Run, word_tokens
from visualproof_server.proving.text.boundaries import has_stroke, touches_stroke
from visualproof_server.proving.text.folding import agree, contains, tokens

# Words read with less confidence than this are read a second time before they prove anything.
# Calibrated by bench/confidence.py on human transcripts (docs/design.md): above it, about one
# token in forty is misread.
MIN_CONFIDENCE = {"tesseract": 0.9, "rapidocr": 0.8}
DEFAULT_MIN_CONFIDENCE = 0.9
# Readers of words that a PDF only says are printed: each is read again from its pixels.
FROM_FILE = ("text_layer", "ethos")
# Readers whose output is imported: it may be of another version of the document, so where there
# are pixels, they decide.
IMPORTED = ("textract", "hocr")
# Confidence that the second reading must have at the doubtful words.
SECOND_LOOK_CONFIDENCE = 0.8
STROKE = "A stroke beside the digits may be a 1; a second reading did not settle it."
# Stands for a word of the second reading that is itself in doubt; agrees with nothing.
_UNSURE = "\u2047"

LookAgain = Callable[[int, Box, str], Iterable[list[tuple[str, float]]]]
"""(page, box, engine that read it) -> independent readings, each words with their confidence."""


class SecondLook:
    """Second readings of one answer's values in one document."""

    def __init__(self, index: Index, look_again: LookAgain) -> None:
        self._index = index
        self._look_again = look_again
        self._seen_again: dict[tuple[int, ...], bool] = {}

    def doubt(self, finding: Finding) -> Reason | None:
        """Low confidence that a second look did not settle."""
        if finding.status is not Status.VERIFIED:
            return None
        for run in finding.places:
            unsure = {w for w in run.words if finding.needs_second_reading or self._low(w)}
            low = [w for w in run.words if w in unsure or self._stroke(w)]
            if low and not self._settled(run, low):
                if not self._has_pixels(run.words[0]):
                    return Reason("NO_PIXELS", REASONS["NO_PIXELS"])
                if any(self._index.words[w].engine in FROM_FILE + IMPORTED for w in low):
                    return Reason("PIXELS_DIFFER", REASONS["PIXELS_DIFFER"])
                if not unsure:
                    return Reason("OCR_CONFUSION", STROKE)
                lowest = min(self._confidence(w) for w in low)
                return Reason(
                    "LOW_CONFIDENCE",
                    f"Read with confidence {lowest:.2f}; a second reading did not settle it.",
                )
        return None

    def _low(self, word: int) -> bool:
        engine = self._index.words[word].engine
        if engine in FROM_FILE:
            return True
        if engine in IMPORTED:
            # One that does not say how sure it is may be sure of nothing.
            unsaid = self._index.words[word].confidence is None
            if unsaid or self._has_pixels(word):
                return True
        return self._confidence(word) < MIN_CONFIDENCE.get(engine, DEFAULT_MIN_CONFIDENCE)

    def _stroke(self, word: int) -> bool:
        """Whether a stroke at the digits of a word may be a 1."""
        text = self._index.words[word].text
        if word == self._index.rows[self._index.row_of[word]].start:
            return has_stroke(text)
        before, gap = self._index.words[word - 1].text, self._index.gap_after(word - 1)
        return has_stroke(text) or touches_stroke(before, text, gap)

    def _has_pixels(self, word: int) -> bool:
        page = self._index.document.page(self._index.page_of(word))
        return page is not None and page.pixels

    def _confidence(self, word: int) -> float:
        confidence = self._index.words[word].confidence
        return 1.0 if confidence is None else confidence

    def _settled(self, run: Run, low: list[int]) -> bool:
        """Whether a reading of the same pixels that knows nothing of the claim says the same."""
        key = (*run.words, -1, *low)
        if key not in self._seen_again:
            doubtful = set(low)
            self._seen_again[key] = all(
                self._agrees(words, doubtful & set(words))
                for _, words in self._index.boxes(run.words)
                if doubtful & set(words)
            )
        return self._seen_again[key]

    def _agrees(self, words: Sequence[int], doubtful: set[int]) -> bool:
        """Whether the second reading of some neighbours has each doubtful word at its place."""
        index = self._index
        box = union([index.words[w].box for w in words])
        first = [(t.text, w) for w in words for t in word_tokens(index.words[w].text)]
        spelled = [t for t, _ in first]
        wanted = {i for i, (_, w) in enumerate(first) if w in doubtful}
        engine = index.words[words[0]].engine
        for reading in self._look_again(index.page_of(words[0]), box, engine):
            sure = " ".join(
                text if confidence >= SECOND_LOOK_CONFIDENCE else _UNSURE
                for text, confidence in reading
            )
            if agree(spelled, [t.text for t in tokens(sure)], wanted):
                return True
        return False

    def reads(self, claim: Claim, finding: Finding) -> bool:
        """Whether a look-alike was only misread: two more readings agree, and say the claim.

        Both know nothing of it; one alone, or one in doubt, settles nothing.
        """
        codes = {r.code for r in finding.reasons}
        if not codes & {"OCR_CONFUSION", "LOW_CONFIDENCE"} or not isinstance(claim.value, str):
            return False
        index = self._index
        readings: list[list[tuple[str, float]]] = [[], []]
        for _, words in index.boxes(finding.places[0].words):
            box = union([index.words[w].box for w in words])
            engine = index.words[words[0]].engine
            again = list(self._look_again(index.page_of(words[0]), box, engine))
            if len(again) < 2:
                return False
            for kept, reading in zip(readings, again, strict=False):
                kept += reading
        wanted = [t.text for t in tokens(claim.value)]
        return all(
            min((c for _, c in reading), default=0.0) >= SECOND_LOOK_CONFIDENCE
            and contains([t.text for t in tokens(" ".join(w for w, _ in reading))], wanted)
            for reading in readings
        )
