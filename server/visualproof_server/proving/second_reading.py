"""No value hangs on one reading of one engine: its words are read once more from their pixels."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from visualproof_server.model.answer import Claim
from visualproof_server.model.document import Trust
from visualproof_server.model.geometry import union
from visualproof_server.model.report import REASONS, Reason, Status
from visualproof_server.model.second_reading import Place, Reading, SecondReader
from visualproof_server.proving.decide.gate import Finding
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run, word_tokens
from visualproof_server.proving.text.boundaries import has_stroke, touches_stroke
from visualproof_server.proving.text.folding import agree, contains, tokens

# Confidence that a second reading must have: at a word that an engine read, at one that only a file
# says, and where it alone says that a look-alike was misread.
MIN_CONFIDENCE, MIN_CONFIDENCE_UNSEEN, MIN_CONFIDENCE_ALIKE = 0.5, 0.8, 0.8
# Equal places of a list's value that are read ahead: its items may choose between them.
MAX_AHEAD = 100
# Heights within which a neighbour's letters show in the crop of a word.
BESIDE = 1.0
STROKE = "A stroke beside the digits may be a 1; a second reading did not settle it."
# Marks that change what a number says, each easily read as another: = for >=, % for a fraction.
SIGNS = frozenset("=≠≈~±<>≤≥+%‰¼½¾⅓⅔⅛⅜⅝⅞⁰¹²³⁴⁵⁶⁷⁸⁹")
# Stands for a word of the second reading that is itself in doubt; agrees with nothing.
_UNSURE = "\u2047"
# A word that spells itself out: one wrong letter makes no other word of it.
_PLAIN = re.compile(r"[^\W\d_]{4,}")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring words of a row read by one engine, and those of them that are to be confirmed.

    sure: all of these were read surely, and nothing speaks against the reading.
    """

    place: Place
    words: tuple[int, ...]
    wanted: frozenset[int]
    sure: bool


class SecondReadings:
    """Second readings of one answer's values in one document."""

    def __init__(self, index: Index, read: SecondReader) -> None:
        self._index = index
        self._read = read
        self._known: dict[Place, tuple[Reading, ...]] = {}
        self._asked: set[Place] = set()

    def prepare(self, cases: Sequence[tuple[Claim, Finding]], items: Sequence[Run] = ()) -> None:
        """Reads all places that may turn green, so that the crops of a page go in one batch.

        items are places of values of lists, whose rows and bands are told later.
        """
        more = self._places(items, False)[:MAX_AHEAD]
        for claim, finding in cases:
            if finding.status is Status.AMBIGUOUS and _in_list(claim.path):
                more += self._places(finding.equal, finding.needs_second_reading)[:MAX_AHEAD]
            elif _looks_alike(claim, finding):
                more += self._both_attempts(finding)
        self.ahead([finding for _, finding in cases], more)

    def ahead(self, findings: Iterable[Finding], more: Iterable[Place] = ()) -> None:
        """Reads the places of findings, and more, in one batch; what that leaves open in another."""
        green = [f for f in findings if f.status is Status.VERIFIED]
        parts = [
            p for f in green for run in f.places for p in self._parts(run, f.needs_second_reading)
        ]
        self._ask([*(p.place for p in parts), *more])
        self._ask(replace(p.place, attempt=1) for p in parts if not self._first_settles(p))

    def doubt(self, finding: Finding) -> Reason | None:
        """Why a value must not turn green yet: a word whose reading is not confirmed."""
        if finding.status is not Status.VERIFIED:
            return None
        for run in finding.places:
            reason = self._doubt(run, finding.needs_second_reading)
            if reason is not None:
                return reason
        return None

    def reads(self, claim: Claim, finding: Finding) -> bool:
        """Whether a look-alike was only misread: two engines read the claim at its place.

        Both know nothing of it; one alone, or one in doubt, settles nothing.
        """
        if not _looks_alike(claim, finding):
            return False
        self._ask(self._both_attempts(finding))
        said: dict[str, list[tuple[str, float]]] = {}
        parts = self._whole(finding.places[0])
        for part in parts:
            here: dict[str, Reading] = {}
            for attempt in (0, 1):
                for reading in self._known.get(replace(part.place, attempt=attempt), ()):
                    here.setdefault(reading.engine, reading)
            if len(here) < 2:
                return False
            for engine, reading in here.items():
                said.setdefault(engine, []).extend(reading.words)
        wanted = [t.text for t in tokens(str(claim.value))]
        return all(
            min((c for _, c in words), default=0.0) >= MIN_CONFIDENCE_ALIKE
            and contains([t.text for t in tokens(" ".join(w for w, _ in words))], wanted)
            for words in said.values()
        )

    def _doubt(self, run: Run, suspect: bool) -> Reason | None:
        index = self._index
        trusts = {w: index.words[w].trust for w in run.words}
        if Trust.UNCLEAR in trusts.values():
            return Reason("PRINT_UNCLEAR", REASONS["PRINT_UNCLEAR"])
        for part in self._parts(run, suspect):
            if not self._settled(part):
                return self._reason(part, suspect)
        return None

    def _reason(self, part: _Part, suspect: bool) -> Reason:
        """What is said of a part that is not confirmed."""
        lowest = max(self._index.words[w].trust for w in part.wanted)
        code = "LOW_CONFIDENCE"
        if not self._has_pixels(part.words[0]):
            code = "NO_PIXELS"
        elif part.place not in self._known:
            code = "NOT_READ_AGAIN"
        elif lowest is Trust.UNSEEN:
            code = "PIXELS_DIFFER"
        elif part.sure:
            code = "READINGS_DIFFER"
        elif lowest <= Trust.SURE and not suspect:
            return Reason("OCR_CONFUSION", STROKE)
        if code != "LOW_CONFIDENCE":
            return Reason(code, REASONS[code])
        confidence = min(self._confidence(w) for w in part.wanted)
        return Reason(
            code, f"Read with confidence {confidence:.2f}; a second reading did not settle it."
        )

    def _settled(self, part: _Part) -> bool:
        """Whether a part is confirmed; what was read surely also if nothing can read it again."""
        self._ask([part.place])
        if self._first_settles(part):
            return True
        self._ask([replace(part.place, attempt=1)])
        return self._confirmed(part)

    def _first_settles(self, part: _Part) -> bool:
        return self._confirmed(part) or (part.sure and self._known.get(part.place) == ())

    def _confirmed(self, part: _Part) -> bool:
        """Whether another engine reads the same each time, or where none did, its own one twice."""
        said: dict[str, list[bool]] = {}
        for attempt in (0, 1):
            for reading in self._known.get(replace(part.place, attempt=attempt), ()):
                said.setdefault(reading.engine, []).append(self._agrees(part, reading))
        own = said.pop(part.place.engine, [])
        if said:
            return any(all(same) for same in said.values())
        return len(own) > 1 and all(own)

    def _agrees(self, part: _Part, reading: Reading) -> bool:
        """Whether a reading has each wanted word, whole and at its place."""
        index = self._index
        printed = "".join(index.words[w].text for w in part.words)
        if _signs_in(printed) != _signs_in("".join(text for text, _ in reading.words)):
            return False
        unseen = any(index.words[w].trust is Trust.UNSEEN for w in part.wanted)
        least = MIN_CONFIDENCE_UNSEEN if unseen else MIN_CONFIDENCE
        said = [text if c >= least else _UNSURE for text, c in reading.words]
        # An engine may part a code at its hyphen; letters of a neighbour may show or not.
        texts = [[t.text for t in tokens(gap.join(said))] for gap in (" ", "")]
        for words in (part.words, tuple(self._beside(part))):
            first = [(t.text, w) for w in words for t in word_tokens(index.words[w].text)]
            wanted = {i for i, (_, w) in enumerate(first) if w in part.wanted}
            if any(agree([t for t, _ in first], text, wanted) for text in texts):
                return True
        return False

    def _beside(self, part: _Part) -> Iterator[int]:
        """The words of a part with the neighbours whose letters may show in its crop."""
        index = self._index
        row = index.rows[index.row_of[part.words[0]]]
        before, after = part.words[0] - 1, part.words[-1] + 1
        if before >= row.start and index.gap_after(before) < BESIDE:
            yield before
        yield from part.words
        if after < row.end and index.gap_after(part.words[-1]) < BESIDE:
            yield after

    def _places(self, runs: Iterable[Run], suspect: bool) -> list[Place]:
        return [part.place for run in runs for part in self._parts(run, suspect)]

    def _both_attempts(self, finding: Finding) -> list[Place]:
        return [
            replace(part.place, attempt=attempt)
            for part in self._whole(finding.places[0])
            for attempt in (0, 1)
        ]

    def _parts(self, run: Run, suspect: bool) -> list[_Part]:
        """What of a run is to be confirmed: by row and by the engine that read it."""
        code = not any(_PLAIN.fullmatch(self._index.words[w].text.strip(".,:;")) for w in run.words)
        run_words = self._with_signs(run.words) if code else run.words
        wanted = {w for w in run_words if suspect or self._needs(w, code)}
        parts = []
        for _, row in self._index.boxes(run_words):
            engines = {self._index.words[w].engine: None for w in row if w in wanted}
            for engine in engines:
                of_engine = [
                    w for w in row if w in wanted and self._index.words[w].engine == engine
                ]
                words = row[row.index(of_engine[0]) : row.index(of_engine[-1]) + 1]
                parts.append(self._part(words, frozenset(of_engine), suspect))
        return parts

    def _with_signs(self, words: tuple[int, ...]) -> tuple[int, ...]:
        """Words with the lone signs that stand beside them."""
        index = self._index
        row = index.rows[index.row_of[words[0]]]
        before, after = words[0] - 1, words[-1] + 1
        if before >= row.start and self._is_sign(before) and index.gap_after(before) < BESIDE:
            words = (before, *words)
        row = index.rows[index.row_of[words[-1]]]
        if after < row.end and self._is_sign(after) and index.gap_after(after - 1) < BESIDE:
            words = (*words, after)
        return words

    def _is_sign(self, word: int) -> bool:
        return set(self._index.words[word].text) <= SIGNS

    def _whole(self, run: Run) -> list[_Part]:
        """A run by rows, all of it to be confirmed."""
        return [
            self._part(words, frozenset(words), suspect=True)
            for _, words in self._index.boxes(run.words)
        ]

    def _part(self, words: Sequence[int], wanted: frozenset[int], suspect: bool) -> _Part:
        index = self._index
        if words[0] <= words[-1]:
            # With what stands between them: a run leaves marks out.
            words = range(words[0], words[-1] + 1)
        place = Place(
            index.page_of(words[0]),
            union([index.words[w].box for w in words]),
            index.words[min(wanted)].engine,
        )
        doubted = any(index.words[w].trust > Trust.SURE or self._stroke(w) for w in wanted)
        return _Part(place, tuple(words), wanted, not (suspect or doubted))

    def _needs(self, word: int, code: bool) -> bool:
        """Whether a word's reading must be confirmed; code: its run has no word that is plain."""
        trust = self._index.words[word].trust
        if trust > Trust.SURE or self._stroke(word):
            return True
        if trust is Trust.AGREED or not self._has_pixels(word):
            return False
        return code or bool(_DIGIT.search(self._index.words[word].text))

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

    def _ask(self, places: Iterable[Place]) -> None:
        """Reads places that were not asked for yet, each once."""
        new = [p for p in dict.fromkeys(places) if p not in self._asked]
        if new:
            self._asked.update(new)
            self._known.update(self._read(new))


def _signs_in(text: str) -> list[str]:
    return sorted(c for c in text if c in SIGNS)


def _in_list(path: str) -> bool:
    return any(part.isdigit() for part in path.split("/"))


def _looks_alike(claim: Claim, finding: Finding) -> bool:
    """Whether a text was found but for characters that engines confuse."""
    codes = {r.code for r in finding.reasons}
    return (
        finding.status is Status.UNCERTAIN
        and bool(codes & {"OCR_CONFUSION", "LOW_CONFIDENCE"})
        and isinstance(claim.value, str)
        and bool(finding.places)
    )
