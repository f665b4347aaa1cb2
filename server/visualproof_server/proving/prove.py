"""An answer against a document: the report."""

from dataclasses import replace

from visualproof_server.model.answer import Claim
from visualproof_server.model.geometry import span_quad, union
from visualproof_server.model.report import (
    ACTIONS,
    REASONS,
    Action,
    Evidence,
    FieldResult,
    FieldSpec,
    Method,
    Reason,
    Report,
    Status,
)
from visualproof_server.proving import areas as proofs
from visualproof_server.proving.answer import parse_answer
from visualproof_server.proving.context import has_context, label_runs, labelled
from visualproof_server.proving.index import Index, Run
from visualproof_server.proving.items import settle_lists
from visualproof_server.proving.kinds.kind import ValueKind
from visualproof_server.proving.kinds.registry import KINDS, kind_by_value
from visualproof_server.proving.normalize import fold_text
from visualproof_server.proving.relations import derive, recompute
from visualproof_server.proving.request import ProveRequest
from visualproof_server.proving.search import Search
from visualproof_server.proving.second_look import LookAgain, SecondLook
from visualproof_server.proving.verdict import Finding, gate
from visualproof_server.proving.version import RULES_VERSION

__all__ = ["RULES_VERSION", "Index", "LookAgain", "prove"]

MAX_EVIDENCE = 20


def prove(index: Index, answer: bytes, request: ProveRequest, look_again: LookAgain) -> Report:
    """One result for each value of the answer and for each missing field.

    Errors: ANSWER_NOT_JSON, ANSWER_TOO_LARGE.
    """
    claims = parse_answer(answer)
    prover = _Prover(index, request, look_again)
    results = [prover.prove(claim) for claim in claims]
    results = settle_lists(results, prover)
    seen = {claim.path for claim in claims}
    results += [
        prover.missing(spec)
        for spec in request.fields
        if "*" not in spec.path and spec.path not in seen and not _has_children(spec.path, seen)
    ]
    relations = recompute(request.relations, results)
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
    )


class _Prover:
    def __init__(self, index: Index, request: ProveRequest, look_again: LookAgain) -> None:
        self.index = index
        self._request = request
        self._second = SecondLook(index, look_again)
        self._exact = {spec.path: spec for spec in request.fields if "*" not in spec.path}
        self._wild = [(spec.path.split("/"), spec) for spec in request.fields if "*" in spec.path]
        self._stricter = {p.status: p.action for p in request.policy}
        self.stale = self._staleness()
        # What each result was made from; its lists hold all places, the report's not.
        self._cases: dict[str, tuple[Claim, Finding]] = {}

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

    def prove(self, claim: Claim) -> FieldResult:
        spec = self.spec_for(claim.path)
        if self.stale is not None:
            return self._result(claim, spec, spec.kind, Finding(Status.STALE, [self.stale]))
        if not claim.comparable:
            note = Reason("NOT_ALLOWED", REASONS["NOT_ALLOWED"])
            return self._result(claim, spec, spec.kind, Finding(Status.UNSUPPORTED, [note]))
        if spec.kind and spec.kind not in KINDS:
            note = Reason("KIND_UNKNOWN", f"Kind must be one of {', '.join(KINDS)}.")
            return self._result(claim, spec, spec.kind, Finding(Status.UNSUPPORTED, [note]))
        if claim.value is None:
            return self._null(claim, spec)
        kind = KINDS[spec.kind] if spec.kind else kind_by_value(claim.value, spec, self.index)
        return self._value(claim, spec, kind)

    def missing(self, spec: FieldSpec) -> FieldResult:
        """A field that the answer leaves out is checked like a null."""
        result = self.prove(Claim(spec.path, None, ""))
        note = Reason("FIELD_MISSING", "The answer has no value at this path.")
        return replace(result, reasons=(note, *result.reasons))

    def _staleness(self) -> Reason | None:
        document, request = self.index.document, self._request
        if request.source_sha256 and request.source_sha256.lower() != document.source_sha256:
            return Reason("SOURCE_STALE", "The answer was made for other bytes; read them again.")
        if request.reader_version and request.reader_version != document.reader_version:
            return Reason("READER_STALE", "The answer was made for another reader version.")
        return None

    def _null(self, claim: Claim, spec: FieldSpec) -> FieldResult:
        kind = KINDS[spec.kind] if spec.kind else KINDS["text"]
        required = [Reason("REQUIRED", REASONS["REQUIRED"])] if spec.required else []
        if not has_context(spec):
            note = Reason("NO_LABEL", "A null without labels cannot be checked; give labels.")
            status = Status.ABSENT if spec.required else Status.UNCERTAIN
            return self._result(claim, spec, kind.name, Finding(status, [*required, note]))
        places = labelled(spec, kind, self.index)
        if places:
            value = places[0].values[0]
            note = Reason("LABEL_HAS_VALUE", "The answer says null, but its label has a value.")
            finding = Finding(Status.MISMATCH, [note], [value], printed=value.text, exact=True)
            return self._result(claim, spec, kind.name, finding)
        printed = (
            "printed without a value" if label_runs(spec.labels, self.index) else "not printed"
        )
        note = Reason("SEARCHED", f"Searched for {len(spec.labels)} label(s), {printed}.")
        return self._result(claim, spec, kind.name, Finding(Status.ABSENT, [*required, note]))

    def _value(self, claim: Claim, spec: FieldSpec, kind: ValueKind) -> FieldResult:
        index = self.index
        areas, reasons = proofs.resolve(claim, index, self._request.shown)
        parsed = kind.parse(claim.value, spec, index)
        compared = kind
        if parsed is None:
            text = str(claim.value)
            if not any(c.isalnum() for c in fold_text(text)):
                note = Reason("EMPTY_VALUE", REASONS["EMPTY_VALUE"])
                return self._result(claim, spec, kind.name, Finding(Status.NOT_FOUND, [note]))
            note = Reason("VALUE_UNPARSABLE", f"The value is no {kind.name}; compared as text.")
            reasons = [note, *reasons]
            compared = KINDS["text"]
            parsed = compared.parse(claim.value, spec, index)
            if parsed is None:
                return self._result(claim, spec, kind.name, Finding(Status.NOT_FOUND, reasons))
        search = Search(claim, spec, compared, parsed, index)
        if claim.derivation and areas:
            finding = self._derived(claim, areas, reasons, search)
        elif areas:
            finding = search.nearby(areas, search.cited(areas, reasons))
        elif claim.proofs and all(r.code == "TABLES_NOT_READ" for r in reasons):
            finding = Finding(Status.UNSUPPORTED, reasons)
        elif claim.proofs or claim.malformed:
            finding = search.uncited(reasons)
            if finding.status in (Status.VERIFIED, Status.AMBIGUOUS):
                finding.status = Status.FOUND_ELSEWHERE
        else:
            finding = search.uncited(reasons)
        if compared is not kind and finding.status is Status.VERIFIED:
            finding.status = Status.EVIDENCE_ONLY
        if getattr(parsed, "bad_check_digit", False):
            # A real one has the right digit, so claim and page may share one misreading.
            finding.reasons.append(Reason("CHECK_DIGIT", REASONS["CHECK_DIGIT"]))
            finding.suspect = True
        return self._result(claim, spec, kind.name, finding)

    def _derived(
        self, claim: Claim, areas: list[proofs.Area], reasons: list[Reason], search: Search
    ) -> Finding:
        direct = search.cited(areas, reasons)
        if direct.status is Status.VERIFIED:
            return direct
        words = sorted({w for a in areas for w in (a.printed.words if a.printed else a.words)})
        printed = " ".join(self.index.words[w].text for w in words)
        code, message = derive(claim.derivation, printed, claim.value)
        runs = [a.printed for a in areas if a.printed is not None] or direct.places
        if not code:
            return Finding(
                Status.DERIVED, [*reasons], runs, printed=printed, exact=True, cited=True
            )
        return Finding(
            Status.MISMATCH, [Reason(code, message), *reasons], runs, printed=printed, cited=True
        )

    def _result(self, claim: Claim, spec: FieldSpec, kind: str, finding: Finding) -> FieldResult:
        if finding.status is Status.UNCERTAIN and self._second.reads(claim, finding):
            finding.status, finding.exact = Status.VERIFIED, True
            doubt = None
        else:
            doubt = self._second.doubt(finding) or self._structure_doubt(claim, spec, finding)
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
        open_between = result.status is Status.AMBIGUOUS and any(
            r.code == "SEVERAL_PLACES" for r in result.reasons
        )
        if result.status is not Status.VERIFIED and not open_between:
            return []
        _, finding = self._cases[result.path]
        return finding.equal or finding.places[:1]

    def settle(self, result: FieldResult, place: Run) -> FieldResult:
        """A list item that was ambiguous, given its own place."""
        claim, was = self._cases[result.path]
        finding = Finding(
            Status.VERIFIED, [], [place], printed=place.text, exact=True, cited=was.cited,
            suspect=was.suspect,
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
        finding = Finding(Status.UNCERTAIN, [note], [run], printed=run.text, exact=True)
        status = gate(finding, None, self.stale)
        return FieldResult(
            claim.path, "", "text", status, self.action(status, spec), (note,),
            (self._evidence(run, Method.EXACT, finding),), run.text,
        )  # fmt: skip


def _has_children(path: str, seen: set[str]) -> bool:
    return any(other.startswith(path + "/") for other in seen)
