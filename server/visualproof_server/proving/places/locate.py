"""Where it says so: exact runs through the index's streams, and the most similar run for people.

Likeness picks blocks to look at; it never decides whether a value is printed.
"""

from collections import Counter
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run, confused_tokens
from visualproof_server.proving.text.folding import compact, fold_text, tokens
from visualproof_server.proving.vocabulary.words import vocabulary as _all

# Bounds that keep hostile proofs cheap (docs/operating.md, limits).
MAX_FUZZY_CHARS = 600
MAX_PROBES = 8
MAX_KNOWN = 5_000
MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True)
class Near:
    """The most similar printed run, likeness 0 to 1."""

    run: Run
    similarity: float


def exact(text: str, index: Index) -> list[Run]:
    """Runs that print this text, equal token by token, in rows, else down a column."""
    sought = compact(tokens(text))
    if not any(c.isalnum() for c in sought):
        return []
    # One answer asks for the same text several times: as proof, as value, as label.
    known = index.known_texts
    if sought not in known:
        if len(known) >= MAX_KNOWN:
            known.clear()
        known[sought] = index.lines.find(sought) or index.columns.find(sought)
    return known[sought]


def confused(text: str, index: Index) -> list[Run]:
    """Runs that print this text if look-alike characters were misread."""
    sought = compact([t for word in text.split() for t in confused_tokens(word)])
    return index.confused.find(sought) if len(sought.replace(" ", "")) >= 3 else []


def nearest(text: str, index: Index, rows: list[int] | None = None) -> Near | None:
    """The most similar run, among some rows (and what follows them) or everywhere."""
    sought = fold_text(text)[:MAX_FUZZY_CHARS].strip()
    if not sought:
        return None
    best: Near | None = None
    for row in _likely_rows(sought, index) if rows is None else rows:
        near = _in_window(sought, index, row)
        if near is not None and (best is None or near.similarity > best.similarity):
            best = near
    return best if best is not None and best.similarity >= MIN_SIMILARITY else None


def _likely_rows(sought: str, index: Index) -> list[int]:
    """A few rows that share rare or similar words with the text."""
    vocabulary = index.rows_by_token
    votes: Counter[int] = Counter()
    probes = sorted({t.text for t in tokens(sought)}, key=len, reverse=True)[:MAX_PROBES]
    for probe in probes:
        hits = [probe] if probe in vocabulary else []
        if not hits and len(probe) >= 3:
            hits = [
                word
                for word, _, _ in process.extract(
                    probe, vocabulary.keys(), scorer=fuzz.ratio, score_cutoff=65, limit=3
                )
            ]
        for word in hits:
            rows = vocabulary[word]
            weight = 1000 // (1 + len(rows))
            for row in rows[:200]:
                votes[row] += weight
    return [row for row, _ in votes.most_common(6)]


def _in_window(sought: str, index: Index, row: int) -> Near | None:
    """The best word run in a row and its neighbours, aligned character by character."""
    first = max(0, row - 1)
    words: list[int] = []
    length, last = 0, first
    while last < len(index.rows) and (last <= row + 1 or length < 2 * len(sought)):
        words += range(index.rows[last].start, index.rows[last].end)
        length += len(index.rows[last].text)
        last += 1
        if last - first > 40:
            break
    texts, starts, at = [], [], 0
    for word in words:
        folded = fold_text(index.words[word].text)
        starts.append(at)
        texts.append(folded)
        at += len(folded) + 1
    window = " ".join(texts)
    if not window.strip():
        return None
    aligned = fuzz.partial_ratio_alignment(sought, window)
    if aligned is None or aligned.dest_end <= aligned.dest_start:
        return None
    chosen = [
        i
        for i, start in enumerate(starts)
        if start < aligned.dest_end and start + len(texts[i]) > aligned.dest_start
    ]
    chosen = _trimmed(chosen, texts, sought)
    run = Run(tuple(words[i] for i in chosen), " ".join(index.words[words[i]].text for i in chosen))
    return Near(run, fuzz.ratio(sought, " ".join(texts[i] for i in chosen)) / 100)


def _trimmed(chosen: list[int], texts: list[str], sought: str) -> list[int]:
    """Drops end words that make the run less similar: the smallest run that says it."""
    best = fuzz.ratio(sought, " ".join(texts[i] for i in chosen))
    while len(chosen) > 1:
        fewer = max(
            (chosen[1:], chosen[:-1]),
            key=lambda c: fuzz.ratio(sought, " ".join(texts[i] for i in c)),
        )
        score = fuzz.ratio(sought, " ".join(texts[i] for i in fewer))
        if score < best:
            break
        chosen, best = fewer, score
    return chosen


def difference(claimed: str, printed: str) -> str:
    """Reason code for how two texts differ: NEGATION_, DIGIT_, or WORD_DIFFERS."""
    ours = Counter(t.text for t in tokens(claimed))
    theirs = Counter(t.text for t in tokens(printed))
    changed = (ours - theirs) + (theirs - ours)
    negations = _all().negations
    if any((word,) in negations for word in changed):
        return "NEGATION_DIFFERS"
    if changed and all(any(c.isdigit() for c in word) for word in changed):
        return "DIGIT_DIFFERS"
    return "WORD_DIFFERS"


def likeness(claimed: str, printed: str) -> float:
    """0 to 1, for choosing what to show; never for deciding."""
    return fuzz.ratio(fold_text(claimed)[:2000], fold_text(printed)[:2000]) / 100
