"""money: amounts, whose currency stands at them, in their caption, row or document."""

from dataclasses import replace

from visualproof_server.model.answer import JsonScalar
from visualproof_server.model.report import FieldSpec, Reason
from visualproof_server.proving.kinds.number import Number, NumberClaim
from visualproof_server.proving.places.columns import column_prints_cents
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.text.doubt import Doubt
from visualproof_server.proving.text.folding import plain
from visualproof_server.proving.values.number_read import NumberRead
from visualproof_server.proving.values.units import currencies_named

_BARE = Reason("CURRENCY_UNKNOWN", "Printed as a bare whole number, maybe no amount.")


class Money(Number):
    """An amount: its currency must agree where both state one; quantities are no amounts."""

    name = "money"
    is_amount = True

    def parse(self, value: JsonScalar, field: FieldSpec, index: Index) -> NumberClaim | None:
        claim = super().parse(value, field, index)
        # An amount's word is its neighbour, not its unit.
        return None if claim is None else replace(claim, unit=claim.read.unit)

    def _is(self, read: NumberRead, run: Run, index: Index) -> bool:
        return (not read.unit or _is_tax_code(read)) and not (read.word and _is_bare(read))

    def _ranked_lower(self, claim: NumberClaim, read: NumberRead) -> Reason | None:
        """A bare integer may be a count."""
        return _BARE if _is_bare(read) else None

    def _compare(
        self, claim: NumberClaim, read: NumberRead, run: Run, field: FieldSpec, index: Index
    ) -> str:
        code = super()._compare(claim, read, run, field, index)
        if code:
            return code
        if read.unit and not claim.unit and not _is_tax_code(read):
            return "UNIT_DIFFERS"
        if read.word and _is_bare(read) and not index.statements.over(run).currencies:
            # 100 pieces, 100 points: nothing says that it is money.
            return Doubt.UNIT_UNKNOWN
        if _is_bare(read) and not read.scaled and column_prints_cents(run, index):
            return Doubt.DECIMALS_MISSING
        if claim.currencies and not read.currencies:
            return self._named_near(claim, run, index)
        return ""

    def _named_near(self, claim: NumberClaim, run: Run, index: Index) -> str:
        """Whether a currency that is not at the amount is its caption's, row's or document's."""
        stated = index.statements.of(run).currencies
        near = stated or _row_currencies(run, index) or _document_currencies(index)
        if not near:
            return Doubt.CURRENCY_UNKNOWN
        return "" if claim.currencies & near else "CURRENCY_DIFFERS"


def _is_bare(read: NumberRead) -> bool:
    """A whole number that no currency, scale, cents or groups make an amount."""
    return read.digits.isdigit() and not read.currencies and not read.scaled


def _is_tax_code(read: NumberRead) -> bool:
    """A lone capital after an amount with cents is its tax's code on a till's bill: 5.00 A."""
    return read.decimals == 2 and len(read.unit) == 1 and read.unit.isupper()


def _row_currencies(run: Run, index: Index) -> frozenset[str]:
    """The currency that a run's row names, where it names one and no other amount has it."""
    row = index.rows[index.row_of[run.words[0]]]
    taken = {
        w
        for word in range(row.start, row.end)
        for other, read in index.numbers_by_word.get(word, ())
        if read.currencies
        for w in other.words
    }
    found: set[str] = set()
    for word in range(row.start, row.end):
        if word not in taken:
            found |= _named(index.words[word].text)
    return frozenset(found)


def _document_currencies(index: Index) -> frozenset[str]:
    """The currencies that all amounts of the document which name one agree on."""
    sets = index.currencies
    return frozenset.intersection(*sets) if sets else frozenset()


def _named(text: str) -> frozenset[str]:
    word = plain(text).strip("().,:;[]")
    if word.isalpha() and not word.isupper():
        return frozenset()
    return currencies_named(word)
