"""Labels: where the value of a label stands."""

from dataclasses import dataclass

from visualproof_server.model.geometry import Box, x_overlap, y_overlap
from visualproof_server.model.report import FieldSpec
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.places import locate
from visualproof_server.proving.places.index import Index, Run, word_tokens

# A value under or above its label stands within this many label heights.
_NEAR_HEIGHTS = 3.0
_MAX_LABEL_PLACES = 50


@dataclass(frozen=True, slots=True)
class Labelled:
    """What stands at one printed label: all values on the nearest side that has any."""

    label: Run
    side: str
    values: tuple[Run, ...]


def label_runs(labels: tuple[str, ...], index: Index) -> list[Run]:
    """Where any of the labels is printed, whole words only."""
    found: list[Run] = []
    for label in labels:
        for run in locate.exact(label, index):
            if not any(set(run.words) & set(other.words) for other in found):
                found.append(run)
    return found[:_MAX_LABEL_PLACES]


def labelled(field: FieldSpec, kind: ValueKind, index: Index) -> list[Labelled]:
    """For each printed label, the values of this kind right of it, else under, else above it.

    Only the best side that any place of the label has is kept: a value right of its label says
    more than one under a column head. A field with row and column label is looked for where that
    row and that column meet.
    """
    if field.row_label and field.column_label:
        return _cells(field, kind, index)
    labels = (*field.labels, field.row_label, field.column_label)
    found = []
    for run in label_runs(tuple(label for label in labels if label), index):
        for side, look in (("right", _right), ("under", _under), ("above", _above)):
            values = look(run, field, kind, index)
            if values:
                found.append(Labelled(run, side, tuple(values)))
                break
    for side in ("right", "under", "above"):
        best = [place for place in found if place.side == side]
        if best:
            return best
    return []


def has_context(field: FieldSpec) -> bool:
    """Whether the field says where its value should stand."""
    return bool(field.labels or field.row_label or field.column_label)


def _cells(field: FieldSpec, kind: ValueKind, index: Index) -> list[Labelled]:
    """Where the row of one label meets the column of the other."""
    found = []
    heads = label_runs((field.column_label,), index)
    for label in label_runs((field.row_label,), index):
        if index.cells[label.words[0]] is not None:
            found += _in_table(label, heads, field, kind, index)
            continue
        values = _right(label, field, kind, index)
        for head in _heads_of(label, heads, index):
            column = index.box(head)
            inside = [v for v in values if x_overlap(index.box(v), column) > 0]
            if inside:
                best = max(inside, key=lambda v: x_overlap(index.box(v), column))
                found.append(Labelled(label, "cell", (best,)))
    return found


def _in_table(
    label: Run, heads: list[Run], field: FieldSpec, kind: ValueKind, index: Index
) -> list[Labelled]:
    """Values in the cells where the label's rows and a head's columns meet, spans included."""
    side, number = index.cells[label.words[0]], index.table_of(label.words[0])
    found = []
    for head in heads:
        top = index.cells[head.words[0]]
        if side is None or top is None or top is side or index.table_of(head.words[0]) != number:
            continue
        if not top.column_header and top.row >= side.row:
            continue
        words = [
            w
            for w in index.table_words(number)
            if (cell := index.cells[w]) is not None
            and cell is not side
            and not cell.column_header
            and _meet(cell.row, cell.row_span, side.row, side.row_span)
            and _meet(cell.column, cell.column_span, top.column, top.column_span)
        ]
        values = kind.printed(words, field, index)
        if values:
            found.append(Labelled(label, "cell", tuple(values)))
    return found


def _meet(first: int, span: int, other: int, other_span: int) -> bool:
    return first < other + other_span and other < first + span


def _heads_of(label: Run, heads: list[Run], index: Index) -> list[Run]:
    """Column heads that stand over a row: on its page, else on the last page before it."""
    page, top = index.page_of(label.words[0]), index.box(label).top
    here = [h for h in heads if index.page_of(h.words[0]) == page and index.box(h).bottom <= top]
    if here:
        return [max(here, key=lambda h: index.box(h).bottom)]
    before = [h for h in heads if index.page_of(h.words[0]) < page]
    return [max(before, key=lambda h: index.page_of(h.words[0]))] if before else []


def misplaced(field: FieldSpec, places: list[Labelled], matches: list[Run], index: Index) -> str:
    """WRONG_COLUMN or WRONG_ROW when the claim stands in the right row or column only, else ""."""
    for place in places:
        if place.side != "cell":
            continue
        cell = index.box(place.values[0])
        for run in matches:
            box = index.box(run)
            if y_overlap(box, cell) > 0.5 * min(box.height, cell.height):
                return "WRONG_COLUMN"
            if x_overlap(box, cell) > 0:
                return "WRONG_ROW"
    return ""


def _right(label: Run, field: FieldSpec, kind: ValueKind, index: Index) -> list[Run]:
    last = label.words[-1]
    cell = index.cells[last]
    if cell is not None and cell.row_span > 1:
        beside = [
            w
            for w in index.table_words(index.table_of(last))
            if (other := index.cells[w]) is not None
            and other.column >= cell.column + cell.column_span
            and _meet(other.row, other.row_span, cell.row, cell.row_span)
        ]
        return kind.printed(beside, field, index)
    row = index.rows[index.row_of[last]]
    values = kind.printed(list(range(last + 1, row.end)), field, index)
    if label.partial and not values:
        # "Total:800.00" is one word: the value shares it.
        values = [
            v
            for v in kind.printed([last, *range(last + 1, row.end)], field, index)
            if v.words[0] == last and v.text != label.text
        ]
    if values:
        return values
    own = {index.row_of[w] for w in label.words}
    # A label may wrap; its value stands level with any of its lines.
    for number, words in index.boxes(label.words):
        if number != index.row_of[last]:
            rest = range(words[-1] + 1, index.rows[number].end)
            values += kind.printed(list(rest), field, index)
    if values:
        return values
    box = index.words[last].box
    return [
        value
        for other in _rows_near(index, row.page, box, 0, 0)
        if other not in own
        for value in kind.printed(_right_of(index, other, box), field, index)
    ]


def _right_of(index: Index, row: int, box: Box) -> list[int]:
    return [
        w
        for w in range(index.rows[row].start, index.rows[row].end)
        if index.words[w].box.left >= box.right
        and y_overlap(index.words[w].box, box) > 0.5 * min(index.words[w].box.height, box.height)
    ]


def _under(label: Run, field: FieldSpec, kind: ValueKind, index: Index) -> list[Run]:
    return _vertical(label, field, kind, index, below=True)


def _above(label: Run, field: FieldSpec, kind: ValueKind, index: Index) -> list[Run]:
    return _vertical(label, field, kind, index, below=False)


def _vertical(
    label: Run, field: FieldSpec, kind: ValueKind, index: Index, below: bool
) -> list[Run]:
    box = index.box(label)
    page = index.page_of(label.words[0])
    reach = round(_NEAR_HEIGHTS * box.height)
    rows = _rows_near(index, page, box, 0 if below else reach, reach if below else 0)
    own = {index.row_of[w] for w in label.words}
    ordered = sorted(
        (r for r in rows if r not in own), key=lambda r: abs(_row_box(index, r).middle - box.middle)
    )
    for row in ordered:
        middle = _row_box(index, row).middle
        if (middle > box.middle) != below:
            continue
        values = [
            value
            for value in kind.printed(
                list(range(index.rows[row].start, index.rows[row].end)), field, index
            )
            if x_overlap(index.box(value), box) > 0
        ]
        if values:
            return values
    return []


def _row_box(index: Index, row: int) -> Box:
    return index.words[index.rows[row].start].box


def _rows_near(index: Index, page: int, box: Box, above: int, below: int) -> list[int]:
    """Rows of a page that reach into the band from `above` over to `below` under a box."""
    top, bottom = box.top - above, box.bottom + below
    by_page: dict[int, list[int]] | None = index.cache.get("rows by page")
    if by_page is None:
        by_page = {}
        for number, row in enumerate(index.rows):
            by_page.setdefault(row.page, []).append(number)
        index.cache["rows by page"] = by_page
    return [
        row
        for row in by_page.get(page, ())
        if any(
            index.words[w].box.bottom > top and index.words[w].box.top < bottom
            for w in (index.rows[row].start, index.rows[row].end - 1)
        )
    ]


# Words that name a sum of a bill in en, de, fr, es, it, pt, nl and ms, and stems of compounds.
_TOTAL_WORDS = frozenset(
    [
        "total",
        "totals",
        "subtotal",
        "sum",
        "totaal",
        "subtotaal",
        "montant",
        "totale",
        "importe",
        "jumlah",
        "net",
        "nett",
        "grand",
        "payable",
        "due",
        "ttc",
        "ht",
        "base",
        "imponible",
        "subtotale",
        "soma",
        "vat",
        "gst",
        "tax",
        "tva",
        "iva",
        "mwst",
        "ust",
        "btw",
        "taxe",
    ]
)
_TOTAL_STEMS = ("summe", "gesamt", "betrag", "netto", "brutto", "steuer", "bedrag", "total")


def _names_total(word: str) -> bool:
    return word in _TOTAL_WORDS or any(
        word.startswith(stem) or word.endswith(stem) for stem in _TOTAL_STEMS
    )


def on_total_row(run: Run, index: Index) -> bool:
    """Whether a run's row names a total, in a word of its own left of it."""
    row = index.rows[index.row_of[run.words[0]]]
    return any(
        _names_total(token.text)
        for word in range(row.start, run.words[0])
        for token in word_tokens(index.words[word].text)
    )
