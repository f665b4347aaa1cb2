"""What is asked about an answer, and what was found out."""

from dataclasses import dataclass
from enum import IntEnum

from visualproof_server.model.geometry import Box, Quad


class Status(IntEnum):
    """What was found out about one value; values as in the proto."""

    VERIFIED = 1
    DERIVED = 2
    EVIDENCE_ONLY = 3
    UNCERTAIN = 4
    AMBIGUOUS = 5
    FOUND_ELSEWHERE = 6
    MISMATCH = 7
    NOT_FOUND = 8
    ABSENT = 9
    STALE = 10
    UNSUPPORTED = 11


class Action(IntEnum):
    """What to do with a value; larger is worse."""

    RELEASE = 1
    REVIEW = 2
    BLOCK = 3


class Outcome(IntEnum):
    """How a relation came out."""

    HOLDS = 1
    FAILS = 2
    UNDEFINED = 3


class Method(IntEnum):
    """How a printed run was matched."""

    EXACT = 1
    NORMALIZED = 2
    FUZZY = 3


class Anchor(IntEnum):
    """How the place of a value was told, the surest first; values as in the proto."""

    NONE = 0
    PROOF = 1
    LABEL = 2
    ROLE = 3
    ROW = 4
    ARITHMETIC = 5
    UNIQUE = 6
    REPEATED = 7


ACTIONS: dict[Status, Action] = {
    Status.VERIFIED: Action.RELEASE,
    Status.DERIVED: Action.REVIEW,
    Status.EVIDENCE_ONLY: Action.REVIEW,
    Status.UNCERTAIN: Action.REVIEW,
    Status.AMBIGUOUS: Action.REVIEW,
    Status.FOUND_ELSEWHERE: Action.REVIEW,
    Status.MISMATCH: Action.BLOCK,
    Status.NOT_FOUND: Action.BLOCK,
    Status.ABSENT: Action.RELEASE,
    Status.STALE: Action.BLOCK,
    Status.UNSUPPORTED: Action.BLOCK,
}

REASONS: dict[str, str] = {
    "VALUE_DIFFERS": "The printed value is another one.",
    "WORD_DIFFERS": "A word is missing, added or another one.",
    "DIGIT_DIFFERS": "A digit differs from what is printed.",
    "NEGATION_DIFFERS": "A negation is missing or added.",
    "UNIT_DIFFERS": "The printed unit is another one; a percentage is not a plain number.",
    "CURRENCY_DIFFERS": "The printed currency is another one.",
    "CURRENCY_UNKNOWN": "The claimed currency is not printed near the amount.",
    "DECIMALS_MISSING": "The document prints amounts with decimals; this whole number may be cut off or a count.",
    "SCALE_DIFFERS": "The printed scale (thousand, million, ...) is another one.",
    "SIGN_DIFFERS": "The printed sign is the opposite one.",
    "SIGN_UNKNOWN": "A dash before the number may be a sign or punctuation.",
    "CASE_DIFFERS": "A quote's letters differ in case.",
    "PUNCTUATION_DIFFERS": "A quote's punctuation differs.",
    "VALUE_NOT_IN_PROOF": "The proof is printed, but the value is not literally in it.",
    "OCR_CONFUSION": "Equal only if look-alike characters were misread.",
    "PIXELS_DIFFER": "The file's text or another reader says so, but the pixels were not read as the same.",
    "NO_PIXELS": "Imported without the page's image, so what is visible cannot be checked.",
    "LOW_CONFIDENCE": "The words were read with low confidence.",
    "READINGS_DIFFER": "A second reading of the same pixels does not say the same.",
    "NOT_READ_AGAIN": "The time was up before a second reading; verify again to go on.",
    "PRINT_UNCLEAR": "Raised digits, a rule or unread ink at it, or struck out: it can be meant otherwise.",
    "DATE_ORDER_UNKNOWN": "Day and month cannot be told apart; give a locale.",
    "SEPARATOR_UNKNOWN": "Decimal mark and grouping cannot be told apart; give a locale.",
    "PART_OF_WORD": "It is printed only as a part of a longer word or code.",
    "SCALE_UNKNOWN": "The letter after it may be a scale, such as million.",
    "BOUND_UNKNOWN": "A sign before it says less, more or about.",
    "LEADING_ZEROS": "It is printed with zeros before it, as codes are; a decimal mark may be missing.",
    "PART_OF_TEXT": "It is printed only as a part of a longer name, text or clause.",
    "PART_OF_RANGE": "It is printed as an end of a range, or a part of a longer quantity.",
    "UNIT_UNKNOWN": "What stands after it may be its unit, or a mark that was misread.",
    "CENTURY_UNKNOWN": "The year has two digits, and nothing tells its century.",
    "ROLE_DIFFERS": "Its caption calls it something else than the field's name asks for.",
    "ROLE_UNKNOWN": "The field's name asks for more than any caption says of it.",
    "CAPTION_DIFFERS": "The label is only a part of the caption that is printed there.",
    "ANCHOR_MISSING": "So short a value stands anywhere; give a proof, a label or a telling name.",
    "ANCHOR_WEAK": "Its place was told by less than the field asks for.",
    "LABEL_BLANK": "Nothing is printed at the label.",
    "PAGE_UNCLEAR": "Much of a page was not read for sure; the value may be printed there.",
    "NOT_LITERAL": "A yes or no may be printed in other words; no word or mark here says it.",
    "PAGE_NOT_READ": "A page was not read, so that what it prints is not known.",
    "PAGE_DAMAGED": "Something of a page cannot be decoded or drawn, so that it may lack what it prints.",
    "GROUPING_UNKNOWN": "The digits beside it may belong to the same number or identifier.",
    "NOT_TICKED": "It is an option with a check box, and not the one that is ticked.",
    "SEVERAL_PLACES": "Printed at several places, and nothing decides between them.",
    "HIDDEN_TEXT": "The file holds it as text that is not visible on the page; that is no evidence.",
    "LABEL_NOT_FOUND": "None of the labels is printed.",
    "NOT_AT_LABEL": "Printed, but not at its label.",
    "NOT_AT_PROOF": "Printed, but not where the proof points.",
    "LABEL_HAS_VALUE": "The answer says null, but a value is printed at the label.",
    "NO_LABEL": "A null without labels cannot be checked.",
    "REQUIRED": "The field is required, and there is no value, or its list has no item.",
    "FIELD_MISSING": "The answer has no value at this path.",
    "PROOF_MALFORMED": "A proof has not the shape that the schema asks for.",
    "PROOF_ID_UNKNOWN": "A proof cites an id that does not exist.",
    "PROOF_NOT_SHOWN": "A proof cites an id that the model was not shown; render that window and ask again.",
    "PROOF_NOT_FOUND": "A proof's text is not printed where it points.",
    "PAGE_OUT_OF_RANGE": "A proof cites a page that the document does not have.",
    "WRONG_PAGE": "Printed on another page than cited.",
    "WRONG_ROW": "The claimed cell prints something else; the value stands in another row.",
    "WRONG_COLUMN": "The claimed cell prints something else; the value stands in another column.",
    "TABLE_DOUBTFUL": "Rows or columns of the table are doubtful, so its cells cannot be told apart surely.",
    "TABLES_NOT_READ": "A table is cited, but this document's tables were not read.",
    "CHECK_DIGIT": "The value's own check digit is wrong, whatever is printed.",
    "KIND_UNKNOWN": "The kind is not one that this server compares.",
    "VALUE_UNPARSABLE": "The value cannot be read as its kind.",
    "EMPTY_VALUE": "The value folds to nothing.",
    "SEARCHED": "Says what was searched for.",
    "DERIVATION_FAILS": "The derivation does not give the value.",
    "DERIVATION_INPUT": "The derivation uses a number that its proof does not print.",
    "DERIVATION_INVALID": "The derivation is not an expression over numbers.",
    "SOURCE_STALE": "The answer was made for other bytes.",
    "READER_STALE": "The answer was made for another reader version.",
    "NOT_ALLOWED": "Shape that cannot be compared with print, such as an object or an empty list.",
    "CLAIMED_TWICE": "Another item of the same list already uses this place.",
    "ITEM_MISSING": "A table prints a row like those of the list's items, and no item has it.",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A code of REASONS and one sentence for this value."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What the caller knows about a value. path is a JSON Pointer, `*` for any index.

    anchor is the least that must have told its place; NONE asks for nothing.
    """

    path: str
    kind: str = ""
    locale: str = ""
    currency: str = ""
    unit: str = ""
    labels: tuple[str, ...] = ()
    row_label: str = ""
    column_label: str = ""
    required: bool = False
    derived_allowed: bool = False
    anchor: Anchor = Anchor.NONE


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation over values; tolerance is a decimal, empty for 0."""

    expression: str
    tolerance: str = ""


@dataclass(frozen=True, slots=True)
class RelationResult:
    """A relation, recomputed."""

    expression: str
    outcome: Outcome
    message: str
    action: Action


@dataclass(frozen=True, slots=True)
class Evidence:
    """A printed place. boxes and quads run in parallel, one per line touched."""

    page: int
    block_ids: tuple[str, ...]
    boxes: tuple[Box, ...]
    quads: tuple[Quad, ...]
    text: str
    context: str
    method: Method
    similarity: float
    confidence: float | None
    cited: bool = False
    coarse: bool = False


@dataclass(frozen=True, slots=True)
class FieldResult:
    """What was found out about one value."""

    path: str
    value_json: str
    kind: str
    status: Status
    action: Action
    reasons: tuple[Reason, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    printed_text: str = ""
    candidates: tuple[Evidence, ...] = ()
    nearest: Evidence | None = None
    anchor: Anchor = Anchor.NONE


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one answer; damaged_pages may lack what they print."""

    document_id: str
    source_sha256: str
    reader_version: str
    rules_version: str
    results: tuple[FieldResult, ...]
    relations: tuple[RelationResult, ...]
    action: Action
    damaged_pages: tuple[int, ...] = ()
