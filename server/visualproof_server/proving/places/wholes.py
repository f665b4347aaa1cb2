"""Whether a printed text is a whole: a field, a clause, a name; or a part of more that says another
thing.
"""

import re

from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.negation import ENDS, is_short, negated
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import fold_text, plain, tokens
from visualproof_server.proving.text.ticks import is_box
from visualproof_server.proving.vocabulary.words import caption_words, vocabulary

# Marks that carry meaning between words and at the end of a short one.
_SYMBOL = re.compile(r"[+*=<>#^~≠≈±×÷≤≥✓✔✗✘☐☑☒√]|!=|(?<=\d) ?- ?(?=\d)|(?<![^\W\d_])-(?=\d)")
_TRAILING = re.compile(r"(?<![^\W_])([^\W\d_]{1,4})([+\-*#])(?![\w])")
_BULLETS = "*#-•·+~=>"
_CLOSING = (",", ";", ":", ".", ")", "]", "|", "!", "?", '"', "'", "”", "’", "»", "/", "\u3002")
_OPENING = ("(", "[", "|", "-", "–", "—", "/", "•", "·", '"', "'", "“", "‘", "«", "&", "@", ",", ";", ":", "=", "*", "#", "~", ">")  # fmt: skip
_EMPTY_BOX = re.compile(r"^(?:☐|□|▢|\[|\[_*\]|\(_*\)|\[\]|\(\))$")
# Runs of this many words over a page's end are a text that goes on.
_LONG = 6


def text_doubt(claim: str, run: Run, index: Index, quote: bool = False) -> str:
    """Why a run that spells a claim does not say it, as a reason code, or ""."""
    return (
        _symbols(claim, run, index)
        or _case(claim, run)
        or _split(claim, run, index)
        or _crosses(claim, run, index, quote)
        or _alternatives(run, index)
        or negated(claim, run, index)
        or ("" if quote else _goes_on(claim, run, index))
        or ("" if quote else _in_caption(run, index))
    )


def _in_caption(run: Run, index: Index) -> str:
    """Whether a word begins a caption that a colon ends: the Invoice of `Invoice number:`."""
    first, last = run.words[0], run.words[-1]
    segment = index.segments[index.segment_of[first]]
    if run.partial or first != last or first != segment.start:
        # Of several words the caption may be their neighbour: Oak Ltd Tel: 5550147.
        return ""
    for word in range(segment.start, min(segment.end, segment.start + 6)):
        if index.words[word].text.endswith(":"):
            return Doubt.PART_OF_TEXT if word != last else ""
    return ""


def _symbols(claim: str, run: Run, index: Index) -> str:
    """Whether marks that mean something differ: A+ and A-, C and C#, a = b and a != b."""
    printed = _with_marks(run, index)
    if _marks(claim) == _marks(printed):
        return ""
    # A bullet or leader before the print is none of its own.
    return (
        ""
        if _marks(claim) == _marks(printed.strip(_BULLETS + " ")) and _bulleted(printed, claim)
        else Doubt.SIGN_DIFFERS
    )


def _bulleted(printed: str, claim: str) -> bool:
    """Whether the marks around a print may be bullets or fillers: not < or >, nor glued to its end."""
    inner = printed.strip(_BULLETS + " ")
    tail = printed[printed.rfind(inner) + len(inner) :] if inner else ""
    return (
        not tail
        or tail.startswith(" ")
        or ((len(claim.split()) > 1 or len(claim) > 4) and tail[0] not in "#")
    )


def _marks(text: str) -> list[str]:
    shown = plain(text)
    found = [(m.start(), "".join(m.group().split())) for m in _SYMBOL.finditer(shown)]
    found += [(m.start(2), m[2]) for m in _TRAILING.finditer(shown) if m[2] == "-"]
    return [mark for _, mark in sorted(found)]


def _with_marks(run: Run, index: Index) -> str:
    """The print with the words beside it that are marks alone."""
    text = run.text
    first, last = run.words[0], run.words[-1]
    if not run.partial:
        text = index.words[first].text if len(run.words) == 1 else text
    row = index.rows[index.row_of[first]]
    for word in run.words[:-1]:
        if word in index.next_line and index.words[word].text[-1] in "-\xad":
            # The hyphen of a word that goes over the line's end is no sign.
            text = text.replace(f"{index.words[word].text} ", index.words[word].text[:-1], 1)
    if not run.partial and row.start <= last < row.end and last - first + 1 > len(run.words):
        # Marks that stand alone are words of the row, though not of the run.
        text = index.text_of(first, last + 1)
    if first > row.start and not index.parted(first - 1):
        before = index.words[first - 1].text
        # A check box is no part of its option.
        if not any(c.isalnum() for c in before) and _SYMBOL.search(before) and not is_box(before):
            text = before + " " + text
    if not index.parted(last):
        after = index.words[last + 1].text
        if not any(c.isalnum() for c in after) and _SYMBOL.search(after) and not is_box(after):
            text = text + " " + after
    return text


def _case(claim: str, run: Run) -> str:
    """A short code in capitals wants capitals: US is not us."""
    letters = [c for c in claim if c.isalpha()]
    short = len(letters) <= 3 and bool(letters) and claim.strip().isupper()
    return Doubt.CASE_DIFFERS if short and not run.text.isupper() else ""


def _split(claim: str, run: Run, index: Index) -> str:
    """Whether spaces or hyphens make other words: in valid is not invalid, re-sign not resign."""
    ours = {t.text for t in tokens(claim)}
    prefixes = vocabulary().single("negating_prefixes") | {"re"}
    for n, word in enumerate(run.words):
        text = fold_text(index.words[word].text)
        if text.strip(".,;:") in prefixes and n + 1 < len(run.words):
            joined = text.strip(".,;:") + _bare(index.words[run.words[n + 1]].text)
            if joined in ours:
                return Doubt.PUNCTUATION_DIFFERS
        head, dash, rest = text.partition("-")
        same_row = n + 1 == len(run.words) or rest
        if dash and rest and same_row and head in prefixes and head + _bare(rest) in ours:
            return Doubt.PUNCTUATION_DIFFERS
    first = run.words[0]
    if first and index.row_of[first - 1] != index.row_of[first]:
        before = index.words[first - 1].text
        if before.endswith("-") and len(before) > 1 and before[-2].isalpha():
            if index.words[first].text[:1].islower():
                return Doubt.PART_OF_WORD
    return ""


def _bare(text: str) -> str:
    return "".join(c for c in fold_text(text) if c.isalnum())


def _crosses(claim: str, run: Run, index: Index, quote: bool) -> str:
    """Whether a run goes over a gap, another field, the end of a sentence, or a page."""
    pages = {index.page_of(w) for w in run.words}
    if len(pages) > 1 and len(run.words) < _LONG and not _in_one_column(run, index):
        return Doubt.PART_OF_TEXT
    said = claim.split()
    for left, right in zip(run.words, run.words[1:], strict=False):
        text = index.words[left].text
        if index.row_of[left] == index.row_of[right] and right == left + 1 and index.parted(left):
            if not _fills_row(run, index) and not _same_column_gap(left, index):
                return Doubt.PART_OF_TEXT
        counts = fold_text(text) in ("no.", "nr.") and not index.words[right].text[:1].isdigit()
        if text.endswith((*ENDS, ":")) and (counts or not is_short(text)):
            # Print and claim may part an address with other marks, but not where neither does.
            marked = any(w[-1] in ",.;:" for w in said if _bare(w) == _bare(text))
            if not marked and not quote:
                return Doubt.PART_OF_TEXT
            if quote and text[-1] not in claim:
                return Doubt.PART_OF_TEXT
        if (
            index.row_of[left] != index.row_of[right]
            and _begins_caption(right, index)
            and ":" not in claim
        ):
            return Doubt.PART_OF_TEXT
    return ""


def _in_one_column(run: Run, index: Index) -> bool:
    """Whether a run stays in one column of a table, whose cells may go on over pages."""
    places = {
        (index.table_of(w), cell.column) if (cell := index.cells[w]) is not None else None
        for w in run.words
    }
    return len(places) == 1 and None not in places


def _fills_row(run: Run, index: Index) -> bool:
    """Whether a run is all that its row prints, with no caption in it: widely spaced names."""
    row = index.rows[index.row_of[run.words[0]]]
    if row.table or run.words[0] != row.start or run.words[-1] < row.end - 1 or ":" in row.text:
        return False
    return sum(index.parted(w) for w in range(row.start, row.end - 1)) == 1


def _same_column_gap(left: int, index: Index) -> bool:
    """Whether a gap is no wider than its row's usual ones: letter-spaced or justified print."""
    row = index.rows[index.row_of[left]]
    gaps = sorted(index.gap_after(w) for w in range(row.start, row.end - 1))
    if len(gaps) < 3 or index.cells[left] is not None:
        return False
    return index.gap_after(left) <= 1.6 * max(gaps[len(gaps) // 2], 0.3)


def _begins_caption(word: int, index: Index) -> bool:
    """Whether a line begins with a caption that a colon ends."""
    row = index.rows[index.row_of[word]]
    for at in range(word, min(row.end, word + 4)):
        text = index.words[at].text
        if text.endswith(":") and any(c.isalpha() for c in text):
            return True
        if any(c.isdigit() for c in text):
            return False
    return False


def _alternatives(run: Run, index: Index) -> str:
    """Whether a short print is one of several to choose from: M / F, [ ] Approved."""
    first, last = run.words[0], run.words[-1]
    row = index.rows[index.row_of[first]]
    before = index.words[first - 1].text if first > row.start else ""
    if _EMPTY_BOX.match(before) or (
        before == "]" and first - 2 >= row.start and index.words[first - 2].text == "["
    ):
        return Doubt.SEVERAL_PLACES
    if len(run.words) > 2 or len(run.text) > 12:
        return ""
    after = index.words[last + 1].text if last + 1 < row.end else ""
    follows = after == "/" and last + 2 < row.end
    leads = before == "/" and first - 2 >= row.start
    return Doubt.SEVERAL_PLACES if follows or leads else ""


def _goes_on(claim: str, run: Run, index: Index) -> str:
    """Whether a text is a part of a longer name or clause: John Smith in John Smith Holdings."""
    if _right_goes_on(run, index) or _left_goes_on(run, index):
        return Doubt.PART_OF_TEXT
    return ""


def _right_goes_on(run: Run, index: Index) -> bool:
    last = run.words[-1]
    text = index.words[last].text
    if run.partial and not _closed_in_word(run, text):
        return False
    if index.parted(last) or (text.endswith(_CLOSING) and not _is_initial(text)):
        return False
    after = index.words[last + 1].text
    if after.startswith(_OPENING) and len(after) > 1 and after[0] not in "&/-":
        return False
    if not any(c.isalnum() for c in after):
        return after in ("&", "+") and not index.parted(last + 1)
    if _is_value(last + 1, index):
        return False
    ours, theirs = _capital(text), _capital(after)
    if theirs:
        return ours
    if fold_text(after).strip(".,") in vocabulary().single("connectors") and not index.parted(
        last + 1
    ):
        return ours and _capital(index.words[last + 2].text) and not _is_value(last + 2, index)
    ends = fold_text(after).strip(".,") in vocabulary().single("functional")
    return not ours and after[:1].islower() and not ends


def _closed_in_word(run: Run, text: str) -> bool:
    return text.endswith(run.text.rsplit(" ", 1)[-1])


def _is_initial(text: str) -> bool:
    """Whether a period belongs to an initial, so that the name goes on: John F."""
    return len(text) == 2 and text[0].isupper() and text[1] == "."


def _left_goes_on(run: Run, index: Index) -> bool:
    first = run.words[0]
    row = index.rows[index.row_of[first]]
    if first == row.start or index.parted(first - 1) or run.partial:
        return False
    text, before = index.words[first].text, index.words[first - 1].text
    if before.endswith(_CLOSING) and not _is_initial(before):
        return False
    if text.startswith(_OPENING) or not any(c.isalnum() for c in before):
        return False
    if any(c.isdigit() for c in before):
        return False
    segment = index.segments[index.segment_of[first]]
    lead = caption_words(index.text_of(segment.start, first))
    if lead in vocabulary().captions or fold_text(before).strip(".") in vocabulary().single(
        "titles"
    ):
        return False
    if not text[:1].isalpha():
        return False
    if _capital(text):
        # A word before a name is its caption where it begins the line: Seller ACME Ltd.
        return _capital(before) and first - segment.start >= 2
    return before[:1].islower() and fold_text(before) not in vocabulary().single("functional")


def _is_value(word: int, index: Index) -> bool:
    """Whether an amount, a share, a date or a count in a row of numbers begins at a word."""
    hits = index.numbers_by_word.get(word, ())
    for run, read in hits:
        if run.words[0] != word:
            continue
        if read.currencies or read.unit or read.decimals == 2 or read.scaled:
            return True
        after = run.words[-1] + 1
        if not index.parted(run.words[-1]) and index.numbers_by_word.get(after):
            return True
    return word in index.date_words


def _capital(text: str) -> bool:
    """Whether a word begins like a name or code: a capital, a digit, or letters without case."""
    first = next((c for c in text if c.isalnum()), "")
    return bool(first) and not first.islower()
