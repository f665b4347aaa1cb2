"""An answer against a document: the report."""

import json
from dataclasses import dataclass, replace
from datetime import date

from visualproof_server.model.answer import Claim
from visualproof_server.model.geometry import span_quad, union
from visualproof_server.model.report import (
    ACTIONS,
    REASONS,
    Action,
    Anchor,
    Evidence,
    FieldResult,
    FieldSpec,
    Method,
    Reason,
    Report,
    Status,
)
from visualproof_server.model.request import ProveRequest
from visualproof_server.model.second_reading import SecondReader
from visualproof_server.proving.answer import parse_answer
from visualproof_server.proving.decide.gate import Finding, gate
from visualproof_server.proving.decide.items import settle_lists
from visualproof_server.proving.decide.nulls import null_finding
from visualproof_server.proving.decide.printed_roles import PrintedRoles
from visualproof_server.proving.decide.relations import derive, recompute
from visualproof_server.proving.decide.search import Search
from visualproof_server.proving.decide.sought import Page
from visualproof_server.proving.kinds.date import DateClaim
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.kinds.registry import KINDS, kind_by_value
from visualproof_server.proving.places import citations
from visualproof_server.proving.places.captions import Captions
from visualproof_server.proving.places.index import Index
from visualproof_server.proving.places.stream import Run
from visualproof_server.proving.second_reading import SecondReadings
from visualproof_server.proving.text.folding import fold_text
from visualproof_server.proving.version import RULES_VERSION

__all__ = ["RULES_VERSION", "Index", "SecondReader", "prove"]

MAX_EVIDENCE = 20
# What a list of items may decide: where there are equal prints, or none that says which it is.
OPEN = frozenset(
    {"SEVERAL_PLACES", "ROLE_DIFFERS", "ROLE_UNKNOWN", "ANCHOR_MISSING", "UNIT_DIFFERS"}
)


def prove(index: Index, answer: bytes, request: ProveRequest, read: SecondReader) -> Report:
    """One result for each value of the answer and for each missing field.

    Errors: ANSWER_NOT_JSON, ANSWER_TOO_LARGE.
    """
    claims = parse_answer(answer)
    prover = _Prover(index, request, read)
    cases = [prover.case(claim) for claim in claims]
    prover.read_again(cases)
    results = [prover.result(case) for case in cases]
    results = settle_lists(results, prover)
    seen = {claim.path for claim in claims}
    results += [
        prover.missing(spec)
        for spec in request.fields
        if "*" not in spec.path and spec.path not in seen and not _has_children(spec.path, seen)
    ]
    results += [prover.missing(spec) for spec in prover.lists_lost(seen)]
    relations = recompute(request.relations, results, prover.day_of)
    actions = [r.action for r in results] + [r.action for r in relations]
    document = index.document
    return Report(
        document.document_id,
        document.source_sha256,
        document.reader_version,
        RULES_VERSION,
        tuple(results),
        tuple(relations),
        max(actions) if results else Action.BLOCK,
        tuple(page.number for page in document.pages if page.damaged),
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A value, its field, the name of its kind, and what was found for it."""

    claim: Claim
    spec: FieldSpec
    kind: str
    finding: Finding


class _Prover:
    def __init__(self, index: Index, request: ProveRequest, read: SecondReader) -> None:
        self.index = index
        self._request = request
        self._second = SecondReadings(index, read)
        labels = [
            label
            for spec in request.fields
            for label in (*spec.labels, spec.row_label, spec.column_label)
            if label
        ]
        self.roles = PrintedRoles(index)
        self._page = Page(index, Captions(index, labels), self.roles)
        self._exact = {spec.path: spec for spec in request.fields if "*" not in spec.path}
        self._wild = [(spec.path.split("/"), spec) for spec in request.fields if "*" in spec.path]
        self._stricter = {p.status: p.action for p in request.policy}
        self.stale = self._staleness()
        # What each result was made from; its lists hold all places, the report's not.
        self._cases: dict[str, tuple[Claim, Finding]] = {}
        # Every print that equals a claim without doubt, wherever it stands.
        self._sure: dict[str, tuple[Run, ...]] = {}

    def day_of(self, result: FieldResult) -> date | None:
        """The one day that a proven value means."""
        value = json.loads(result.value_json)
        parsed = KINDS["date"].parse(value, self.spec_for(result.path), self.index)
        days = parsed.days if isinstance(parsed, DateClaim) else frozenset()
        return next(iter(days)) if len(days) == 1 else None

    def spec_for(self, path: str) -> FieldSpec:
        if path in self._exact:
            return self._exact[path]
        parts = path.split("/")
        for pattern, spec in self._wild:
            if len(pattern) == len(parts) and all(
                p == q or (p == "*" and q.isdigit()) for p, q in zip(pattern, parts, strict=True)
            ):
                return spec
        return FieldSpec(path)

    def action(self, status: Status, spec: FieldSpec) -> Action:
        """The server's action, or the caller's where it is stricter."""
        action = ACTIONS[status]
        if status is Status.DERIVED and spec.derived_allowed:
            action = Action.RELEASE
        if status is Status.ABSENT and spec.required:
            action = Action.BLOCK
        return max(action, self._stricter.get(status, action))

    def read_again(self, cases: list[_Case]) -> None:
        """Second readings of all that may turn green, in one batch."""
        items = [
            run
            for case in cases
            if any(part.isdigit() for part in case.claim.path.split("/"))
            and case.finding.status is not Status.VERIFIED
            and {r.code for r in case.finding.reasons} & OPEN
            for run in self._sure.get(case.claim.path, ())[:3]
        ]
        self._second.prepare([(case.claim, case.finding) for case in cases], items)

    def result(self, case: _Case) -> FieldResult:
        return self._result(case.claim, case.spec, case.kind, case.finding)

    def case(self, claim: Claim) -> _Case:
        """What the search for a value comes to, before its words are read a second time."""
        spec = self.spec_for(claim.path)
        if self.stale is not None:
            return _Case(
                claim, spec, spec.kind, Finding(status=Status.STALE, reasons=(self.stale,))
            )
        if not claim.comparable:
            note = Reason("NOT_ALLOWED", REASONS["NOT_ALLOWED"])
            return _Case(
                claim, spec, spec.kind, Finding(status=Status.UNSUPPORTED, reasons=(note,))
            )
        if spec.kind and spec.kind not in KINDS:
            note = Reason("KIND_UNKNOWN", f"Kind must be one of {', '.join(KINDS)}.")
            return _Case(
                claim, spec, spec.kind, Finding(status=Status.UNSUPPORTED, reasons=(note,))
            )
        if claim.value is None:
            return self._null(claim, spec)
        kind = KINDS[spec.kind] if spec.kind else kind_by_value(claim.value, spec, self.index)
        return self._value(claim, spec, kind)

    def missing(self, spec: FieldSpec) -> FieldResult:
        """A field that the answer leaves out is checked like a null."""
        result = self.result(self.case(Claim(spec.path, None, "")))
        note = Reason("FIELD_MISSING", "The answer has no value at this path.")
        return replace(result, reasons=(note, *result.reasons))

    def lists_lost(self, seen: set[str]) -> list[FieldSpec]:
        """Required fields of lists that have no item in the answer."""
        taken = {id(self.spec_for(path)) for path in seen}
        return [spec for _, spec in self._wild if spec.required and id(spec) not in taken]

    def _staleness(self) -> Reason | None:
        document, request = self.index.document, self._request
        if request.source_sha256 and request.source_sha256.lower() != document.source_sha256:
            return Reason("SOURCE_STALE", "The answer was made for other bytes; read them again.")
        if request.reader_version and request.reader_version != document.reader_version:
            return Reason("READER_STALE", "The answer was made for another reader version.")
        return None

    def _null(self, claim: Claim, spec: FieldSpec) -> _Case:
        kind = KINDS[spec.kind] if spec.kind else KINDS["text"]
        return _Case(claim, spec, kind.name, null_finding(spec, kind, self._page))

    def _value(self, claim: Claim, spec: FieldSpec, kind: ValueKind) -> _Case:
        index = self.index
        areas, reasons = citations.resolve(claim, index, self._request.shown)
        parsed = kind.parse(claim.value, spec, index)
        compared = kind
        if parsed is None:
            text = str(claim.value)
            if not any(c.isalnum() for c in fold_text(text)):
                note = Reason("EMPTY_VALUE", REASONS["EMPTY_VALUE"])
                return _Case(
                    claim, spec, kind.name, Finding(status=Status.NOT_FOUND, reasons=(note,))
                )
            note = Reason("VALUE_UNPARSABLE", f"The value is no {kind.name}; compared as text.")
            reasons = [note, *reasons]
            compared = KINDS["text"]
            parsed = compared.parse(claim.value, spec, index)
            if parsed is None:
                return _Case(
                    claim, spec, kind.name, Finding(status=Status.NOT_FOUND, reasons=tuple(reasons))
                )
        search = Search(claim, spec, compared, parsed, self._page)
        self._sure[claim.path] = search.sure
        if claim.derivation and areas:
            finding = self._derived(claim, areas, reasons, search)
        elif areas:
            finding = search.nearby(areas, search.cited(areas, reasons))
        elif claim.proofs and all(r.code == "TABLES_NOT_READ" for r in reasons):
            finding = Finding(status=Status.UNSUPPORTED, reasons=tuple(reasons))
        elif claim.proofs or claim.malformed:
            finding = search.uncited(reasons)
            if finding.status in (Status.VERIFIED, Status.AMBIGUOUS):
                finding = finding.demoted(Status.FOUND_ELSEWHERE)
        else:
            finding = search.uncited(reasons)
        if compared is not kind and finding.status is Status.VERIFIED:
            finding = finding.demoted(Status.EVIDENCE_ONLY)
        if getattr(parsed, "bad_check_digit", False):
            # A real one has the right digit, so claim and page may share one misreading.
            note = Reason("CHECK_DIGIT", REASONS["CHECK_DIGIT"])
            finding = replace(finding, reasons=(*finding.reasons, note), needs_second_reading=True)
        return _Case(claim, spec, kind.name, finding)

    def _derived(
        self, claim: Claim, areas: list[citations.CitedSpan], reasons: list[Reason], search: Search
    ) -> Finding:
        direct = search.cited(areas, reasons)
        if direct.status is Status.VERIFIED:
            return direct
        words = sorted({w for a in areas for w in (a.printed.words if a.printed else a.words)})
        printed = " ".join(self.index.words[w].text for w in words)
        code, message = derive(claim.derivation, printed, claim.value)
        runs = tuple(a.printed for a in areas if a.printed is not None) or direct.places
        if not code:
            return Finding(
                status=Status.DERIVED, reasons=tuple(reasons), places=runs, printed=printed,
                exact=True, cited=True, anchor=Anchor.ARITHMETIC,
            )  # fmt: skip
        return Finding(
            status=Status.MISMATCH, reasons=(Reason(code, message), *reasons), places=runs,
            printed=printed, cited=True,
        )  # fmt: skip

    def _result(self, claim: Claim, spec: FieldSpec, kind: str, finding: Finding) -> FieldResult:
        if finding.status is Status.UNCERTAIN and self._second.reads(claim, finding):
            finding = replace(finding, status=Status.VERIFIED, exact=True)
            doubt = None
        else:
            doubt = self._second.doubt(finding) or self._structure_doubt(claim, spec, finding)
            doubt = doubt or _weak_anchor(spec, finding)
        status = gate(finding, doubt, self.stale)
        reasons = list(finding.reasons)
        if doubt is not None:
            reasons.insert(0, doubt)
        if status is Status.NOT_FOUND and not reasons:
            pages = len(self.index.document.pages)
            said = f"Nothing that says it is printed on {pages} page{'s' if pages > 1 else ''}."
            reasons.append(Reason("SEARCHED", said))
        self._cases[claim.path] = (claim, finding)
        method = Method.FUZZY
        if finding.exact:
            same = bool(finding.places) and finding.places[0].text == str(claim.value)
            method = Method.EXACT if same else Method.NORMALIZED
        return FieldResult(
            claim.path,
            claim.value_json,
            kind,
            status,
            self.action(status, spec),
            tuple(reasons),
            tuple(self._evidence(r, method, finding) for r in finding.places[:MAX_EVIDENCE]),
            finding.printed,
            tuple(self._evidence(r, method, finding) for r in finding.others[:MAX_EVIDENCE]),
            self._evidence(finding.nearest, Method.FUZZY, finding) if finding.nearest else None,
            finding.anchor if status is Status.VERIFIED else Anchor.NONE,
        )

    def _structure_doubt(self, claim: Claim, spec: FieldSpec, finding: Finding) -> Reason | None:
        """Whether the place was told by the rows and columns of a table that is doubtful."""
        told = spec.row_label or spec.column_label
        if not told and not any(p.form in ("CELL", "TABLE") for p in claim.proofs):
            return None
        tables = {self.index.table_of(w) for run in finding.places for w in run.words}
        if not tables & self.index.doubtful_tables:
            return None
        return Reason("TABLE_DOUBTFUL", REASONS["TABLE_DOUBTFUL"])

    def _evidence(self, run: Run, method: Method, finding: Finding) -> Evidence:
        index = self.index
        groups = index.boxes(run.words)
        known = [c for w in run.words if (c := index.words[w].confidence) is not None]
        return Evidence(
            index.page_of(run.words[0]),
            tuple(index.ids[w] for w in run.words),
            tuple(union([index.words[w].box for w in words]) for _, words in groups),
            tuple(span_quad([index.words[w].quad for w in words]) for _, words in groups),
            run.text,
            index.rows[index.row_of[run.words[0]]].text,
            method,
            1.0 if method is not Method.FUZZY else round(finding.similarity, 4),
            min(known) if known else None,
            finding.cited,
            run.partial,
        )

    def places(self, result: FieldResult) -> list[Run]:
        """All places that print a value which is proven, or open between equal prints."""
        claim, finding = self._cases[result.path]
        codes = {r.code for r in result.reasons}
        if result.status is not Status.VERIFIED and not codes & OPEN:
            return []
        if claim.proofs or claim.malformed:
            return list(finding.equal or finding.places[:1])
        own = list(finding.places[:1]) if result.status is Status.VERIFIED else []
        return own + [r for r in self._sure.get(result.path, ()) if r not in own]

    def settle(self, result: FieldResult, place: Run) -> FieldResult:
        """A list item that was ambiguous, given its own place."""
        claim, was = self._cases[result.path]
        finding = Finding(
            status=Status.VERIFIED, places=(place,), printed=place.text, exact=True,
            cited=was.cited, needs_second_reading=was.needs_second_reading, anchor=Anchor.ROW,
        )  # fmt: skip
        return self._result(claim, self.spec_for(claim.path), result.kind, finding)

    def unsettle(self, result: FieldResult, status: Status, note: Reason) -> FieldResult:
        """A list item that stands at another item's place."""
        return replace(
            result,
            status=status,
            action=self.action(status, self.spec_for(result.path)),
            reasons=(note, *result.reasons),
            candidates=result.candidates or result.evidence,
        )

    def row_of(self, path: str, run: Run, note: Reason) -> FieldResult:
        """What is printed like the items of a list, and is none of them."""
        claim, spec = Claim(path, None, ""), self.spec_for(path)
        finding = Finding(
            status=Status.UNCERTAIN, reasons=(note,), places=(run,), printed=run.text, exact=True
        )
        status = gate(finding, None, self.stale)
        return FieldResult(
            claim.path, "", "text", status, self.action(status, spec), (note,),
            (self._evidence(run, Method.EXACT, finding),), run.text,
        )  # fmt: skip


def _weak_anchor(spec: FieldSpec, finding: Finding) -> Reason | None:
    """Whether the place was told by less than the field asks for."""
    if spec.anchor is Anchor.NONE or Anchor.NONE < finding.anchor <= spec.anchor:
        return None
    return Reason("ANCHOR_WEAK", REASONS["ANCHOR_WEAK"])


def _has_children(path: str, seen: set[str]) -> bool:
    return any(other.startswith(path + "/") for other in seen)
