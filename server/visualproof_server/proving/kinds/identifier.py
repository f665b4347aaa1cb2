"""identifier, phone, email and url: exact strings, separators aside."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from stdnum import iban

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import Difference, Match
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.boundaries import NEAR
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import Token, confusable, fold_text, plain
from visualproof_server.proving.values.numbers import scan_numbers

# Characters that end an identifier inside a word; others, such as "-" and "/", belong to it.
_EDGES = re.compile(r"[^:#=()\[\]{};|,<>*\"']+")
# "No.123" is the number 123.
_COUNTED = re.compile(r"(?:no|nr|n°|nº|№)[.:]?(?=\d)", re.I)
# Parts of one identifier stand closer than this (heights).
_PART_GAP = 1.5
# Where a line's end cuts codes and addresses, and what only these have.
_CUTS = frozenset("-/_@=&?")
_IN_CODES = re.compile(r"[\d@_]|://|www\.|\w\.\w")
# Forms print one character a box; the boxes stand further apart.
_BOX_GAP = 5.0


@dataclass(frozen=True, slots=True)
class IdentifierClaim:
    """Letters and digits, folded.

    closing is the claim's last character where it has no digit: "Arctex Inc." is an abbreviation
    with its period, so there the period counts. breaks are the places where separators part it.
    """

    compact: str
    bad_check_digit: bool
    closing: str = ""
    breaks: frozenset[int] = frozenset()


class Identifier:
    """Equal letters and digits; a printed identifier that goes on is another one."""

    name = "identifier"
    repeats_by_chance = False
    is_text = False
    is_amount = False
    is_code = True
    is_literal = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> IdentifierClaim | None:
        if isinstance(value, bool) or value is None:
            return None
        text = str(value).strip()
        compact = _letters_and_digits(text)
        if not compact or len(text) > 200:
            return None
        digits = any(c.isdigit() for c in compact)
        return IdentifierClaim(
            compact, _bad_iban(compact), "" if digits else text[-1], _breaks(text)
        )

    def needs_context(self, claim: IdentifierClaim, run: Run, index: Index) -> bool:
        letters = len(claim.compact) <= 3 and claim.compact.isalpha()
        return len(claim.compact) == 1 or letters

    def find(self, claim: IdentifierClaim, field: FieldSpec, index: Index) -> list[Match]:
        matches = []
        for run in index.stream(_identifier_tokens).find(_spaced(claim.compact)):
            if not index.unbroken(run) or not _one_place(run, index):
                continue
            doubt = self._doubt(run, index)
            printed = _breaks(run.text)
            if not (printed <= claim.breaks or claim.breaks <= printed):
                # 10.1.23.4 is not 10.12.3.4.
                doubt = Doubt.PUNCTUATION_DIFFERS
            if "(" in run.text[1:-1] and printed != claim.breaks and not claim.breaks:
                # Article 5(2) is no 52.
                doubt = Doubt.PUNCTUATION_DIFFERS
            if claim.closing and (claim.closing == ".") != run.text.endswith("."):
                doubt = Doubt.PUNCTUATION_DIFFERS
            if _signed(run, index) != (claim.closing if claim.closing in ("+", "-") else ""):
                doubt = Doubt.SIGN_DIFFERS
            matches.append(Match(run, doubt))
        return matches

    def misread(self, claim: IdentifierClaim, field: FieldSpec, index: Index) -> list[Run]:
        return [
            run
            for run in index.stream(_misread_tokens).find(_spaced(confusable(claim.compact)))
            if len({index.row_of[w] for w in run.words}) == 1
        ]

    def printed(self, words: list[int], field: FieldSpec, index: Index) -> list[Run]:
        """Neighbouring words that hold a digit, with capitals beside them, and are no date; else
        all words."""
        groups: list[list[int]] = []
        for word in words:
            text = index.words[word].text
            if not any(c.isalnum() for c in text):
                continue
            close = bool(groups) and groups[-1][-1] == word - 1
            close = close and index.gap_after(word - 1) < NEAR and _is_part(text)
            if close and _is_part(index.words[word - 1].text):
                groups[-1].append(word)
            else:
                groups.append([word])
        with_digit = [g for g in groups if any(c.isdigit() for w in g for c in index.words[w].text)]
        codes = [g for g in with_digit if not index.dated.issuperset(g)]
        kept = codes or with_digit or groups
        return [Run(tuple(g), " ".join(index.words[w].text for w in g)) for g in kept]

    def differs(
        self, claim: IdentifierClaim, run: Run, field: FieldSpec, index: Index
    ) -> Difference:
        theirs = _letters_and_digits(run.text)
        if len(theirs) == len(claim.compact):
            return Difference("DIGIT_DIFFERS")
        return Difference("VALUE_DIFFERS")

    def _doubt(self, run: Run, index: Index) -> str:
        """Whether the parts stand too far apart, or the neighbours may belong to it."""
        if index.runs_on(run) or _is_cut(run, index):
            return Doubt.GROUPING_UNKNOWN
        if len({index.row_of[w] for w in run.words}) > 1:
            return ""
        boxed = all(len(index.words[w].text) == 1 for w in run.words)
        for left in run.words[:-1]:
            if index.gap_after(left) > (_BOX_GAP if boxed else _PART_GAP):
                return Doubt.GROUPING_UNKNOWN
        first, last = run.words[0], run.words[-1]
        run_on = _BOX_GAP if boxed and len(run.words) > 1 else NEAR
        row = index.rows[index.row_of[first]]
        before = first - 1 if first > row.start else None
        after = last + 1 if last + 1 < row.end else None
        ends, starts = index.words[last].text[-1], index.words[first].text[0]
        if after is not None and not run.partial and ends.isdigit():
            if index.gap_after(last) < run_on and _digit_group(index.words[after].text):
                return Doubt.GROUPING_UNKNOWN
        if before is not None and not run.partial and starts.isdigit():
            if index.gap_after(before) < run_on and _digit_group(index.words[before].text):
                return Doubt.GROUPING_UNKNOWN
        return ""


class Phone(Identifier):
    """Equal digits; a country code with + may stand for the leading 0 of the national form."""

    name = "phone"

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> IdentifierClaim | None:
        digits = re.sub(r"\D", "", plain(str(value))) if isinstance(value, str) else ""
        return IdentifierClaim(digits, False) if 5 <= len(digits) <= 18 else None

    def find(self, claim: IdentifierClaim, field: FieldSpec, index: Index) -> list[Match]:
        return [
            Match(run, self._doubt(run, index))
            for tokenize in (_phone_tokens, _national_tokens)
            for run in index.stream(tokenize).find(_spaced(claim.compact))
            if len({index.row_of[w] for w in run.words}) == 1 and index.unbroken(run)
        ]


class Email(Identifier):
    """The whole address; case is folded (RFC 5321 leaves the local part's case to the host)."""

    name = "email"
    _shape = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> IdentifierClaim | None:
        text = fold_text(value).strip() if isinstance(value, str) else ""
        return IdentifierClaim(text, False) if self._shape.fullmatch(text) else None

    def find(self, claim: IdentifierClaim, field: FieldSpec, index: Index) -> list[Match]:
        sought = self._sought(claim.compact)
        return [
            Match(run, Doubt.GROUPING_UNKNOWN if _is_cut(run, index) else "")
            for run in index.stream(_whole_word).find(sought)
            if len(run.words) == 1
        ] + [
            # The hyphen at the line's end may be the address's own or not.
            Match(Run(pair, text), Doubt.GROUPING_UNKNOWN)
            for pair, text in _cut_words(index)
            if any(token.text == sought for token in _whole_word(text))
        ]

    def _sought(self, text: str) -> str:
        return text


class Url(Email):
    """Scheme and a closing slash aside; the path's case counts for nothing less than a person's."""

    name = "url"
    _shape = re.compile(r"(?:https?://)?[^\s/@]+\.[^\s/@]+(?:/\S*)?")

    def _sought(self, text: str) -> str:
        return _bare_url(text)


def _bare_url(text: str) -> str:
    return re.sub(r"^https?://", "", text).rstrip("/")


@lru_cache(maxsize=65536)
def _whole_word(text: str) -> Sequence[Token]:
    folded = fold_text(text).strip("<>()[]{},;\"'.:")
    folded = folded.removeprefix("mailto:")
    return (Token(_bare_url(folded), 0, len(text)),) if folded and _bare_url(folded) else ()


@lru_cache(maxsize=65536)
def _identifier_tokens(text: str) -> Sequence[Token]:
    counted = _COUNTED.match(text)
    skip = counted.end() if counted else 0
    return tuple(
        Token(_spaced(part), match.start(), match.end())
        for match in _EDGES.finditer(text, skip)
        if (part := _letters_and_digits(match.group()))
    )


@lru_cache(maxsize=65536)
def _misread_tokens(text: str) -> Sequence[Token]:
    return tuple(
        Token(_spaced(part), match.start(), match.end())
        for match in _EDGES.finditer(text)
        if (part := confusable(_letters_and_digits(match.group())))
    )


@lru_cache(maxsize=65536)
def _phone_tokens(text: str) -> Sequence[Token]:
    shown = plain(text)
    return tuple(
        Token(_spaced(re.sub(r"\D", "", match.group())), match.start(), match.end())
        for match in re.finditer(r"[+\d()./\-]*\d[\d()./\-]*", shown)
    )


@lru_cache(maxsize=65536)
def _national_tokens(text: str) -> Sequence[Token]:
    """Digits of a number whose national 0 is in brackets: +44 (0)113 is +44113."""
    return _phone_tokens(text.replace("(0)", "   ")) if "(0)" in text else _phone_tokens(text)


def _breaks(text: str) -> frozenset[int]:
    """Places of separators in an identifier, counted in its letters and digits."""
    found, at, inside = set(), 0, False
    for char in plain(text).strip():
        if char.isalnum():
            if inside and at:
                found.add(at)
            at, inside = at + 1, False
        else:
            inside = True
    return frozenset(found)


def _one_place(run: Run, index: Index) -> bool:
    """Whether a run is one print: on one row, or a code that goes on in the next line.

    A code is cut at its hyphen or slash, or between the groups of a number with a check digit.
    """
    rows = sorted({index.row_of[w] for w in run.words})
    if len(rows) == 1:
        return True
    if (
        len(rows) > 2
        or rows[1] != rows[0] + 1
        or index.rows[rows[0]].page != index.rows[rows[1]].page
    ):
        return False
    last = [w for w in run.words if index.row_of[w] == rows[0]][-1]
    ends_row = index.parted(last)
    cut = index.words[last].text[-1] in _CUTS
    return ends_row and (cut or _good_iban(_letters_and_digits(run.text)))


def _is_cut(run: Run, index: Index) -> bool:
    """Whether what is printed goes on in the next line, or began in the line before."""
    first, last = run.words[0], run.words[-1]
    after, before = index.next_line.get(last), index.line_before.get(first)
    return (after is not None and _goes_over(last, after, len(run.words), index)) or (
        before is not None and _goes_over(before, first, len(run.words), index)
    )


def _goes_over(last: int, first: int, parts: int, index: Index) -> bool:
    """Whether a line's last word, a code or an address, goes on with the next line's first.

    parts: of how many words the print is made up; groups of equal length may be of one number.
    """
    left, right = index.words[last].text, index.words[first].text
    if left[-1] in _CUTS and left[:-1] and right[0].isalnum():
        return bool(_IN_CODES.search(left))
    groups = left.isdigit() and right.isdigit() and len(left) == len(right)
    return groups and parts > 1 and len(left) in (3, 4)


def _cut_words(index: Index) -> Iterator[tuple[tuple[int, int], str]]:
    for last, first in index.next_line.items():
        if index.words[last].text[-1] in _CUTS and _goes_over(last, first, 1, index):
            yield (last, first), index.words[last].text + index.words[first].text


def _signed(run: Run, index: Index) -> str:
    """The sign that a short code of letters ends with: BBB-."""
    text = index.words[run.words[-1]].text.rstrip(".,;")
    if len(run.words) > 1 or any(c.isdigit() for c in text) or len(text) > 5:
        return ""
    return text[-1] if text[-1:] in ("+", "-") and len(text) > 1 else ""


def _spaced(compact: str) -> str:
    """A form in which the stream's rule for neighbouring digits changes nothing."""
    return "".join("\x00" + c if c.isdigit() else c for c in compact)


def _is_part(text: str) -> bool:
    """Whether a word may be a part of an identifier: it holds a digit, or is short capitals."""
    return any(c.isdigit() for c in text) or (len(text) <= 4 and text.isupper())


def _letters_and_digits(text: str) -> str:
    return "".join(c for c in fold_text(text) if c.isalnum())


def _digit_group(text: str) -> bool:
    """Digits that may continue an identifier: no date, time or amount with decimals."""
    shown = plain(text)
    if re.fullmatch(r"\(\d+\)|\+\d+|\d[A-Z]{1,3}[.,;]?", shown):
        return True
    if not shown[:1].isdigit() or not re.fullmatch(r"\d+[.,;]?", shown):
        return False
    return bool(scan_numbers(shown.rstrip(".,;")))


def _good_iban(compact: str) -> bool:
    try:
        return bool(iban.validate(compact))
    except iban.ValidationError:
        return False


def _bad_iban(compact: str) -> bool:
    """Whether it has the shape of an IBAN of a known country and length, and a wrong check digit."""
    text = compact.upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    try:
        iban.validate(text)
    except iban.InvalidChecksum:
        return True
    except iban.ValidationError:
        return False
    return False
