"""Between the model and the wire, one function a message and direction."""

from google.protobuf import timestamp_pb2
from visualproof.v1 import block_pb2, document_pb2, report_pb2, status_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.document import DocumentState, Failure, Page, ReadOptions
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.geometry import Box, Quad, quad_of
from visualproof_server.model.prose import ProseReport
from visualproof_server.model.report import (
    Action,
    Anchor,
    Evidence,
    FieldResult,
    FieldSpec,
    Method,
    Outcome,
    Reason,
    Relation,
    RelationResult,
    Report,
    Status,
)
from visualproof_server.model.request import ProveRequest, ShownPages, StatusAction
from visualproof_server.model.summary import Framed, PageFrame, PageSummary
from visualproof_server.rpc import checks


def document_to_wire(state: DocumentState) -> document_pb2.Document:
    expire = timestamp_pb2.Timestamp()
    expire.FromMilliseconds(round(state.expire_time * 1000))
    return document_pb2.Document(
        document_id=state.document_id,
        source_sha256=state.source_sha256,
        file_name=state.file_name,
        options=options_to_wire(state.options),
        reader_version=state.reader_version,
        state=document_pb2.DocumentState.ValueType(state.state.value),
        page_count=state.page_count,
        read_page_count=state.read_page_count,
        failure=failure_to_wire(state.failure),
        warnings=[
            document_pb2.Warning(code=w.code, message=w.message, page_number=w.page_number)
            for w in state.warnings
        ],
        expire_time=expire,
        reading_sha256=state.options.reading_sha256 or None,
    )


def options_to_wire(options: ReadOptions) -> document_pb2.ReadOptions:
    """Without the password."""
    return document_pb2.ReadOptions(
        languages=options.languages,
        dpi=options.dpi,
        first_page=options.first_page,
        last_page=options.last_page,
        engine=options.engine,
        tables_disabled=options.tables_disabled,
        text_layer=document_pb2.TextLayer.ValueType(options.text_layer.value),
    )


def failure_to_wire(failure: Failure | None) -> document_pb2.Failure | None:
    if failure is None:
        return None
    return document_pb2.Failure(code=failure.code, message=failure.message)


def page_to_wire(page: Page | PageSummary) -> document_pb2.Page:
    return document_pb2.Page(
        page_number=page.number,
        page_label=page.label,
        width_px=page.width,
        height_px=page.height,
        width_pt=page.width_pt,
        height_pt=page.height_pt,
        rotation_degrees=page.rotation,
        dpi=page.dpi,
        confidence=page.confidence,
        source=document_pb2.Source.ValueType(page.source.value),
        pdf_transform=page.pdf_transform,
        failure=failure_to_wire(page.failure),
        damaged=page.damaged,
    )


def box_to_wire(box: Box, page: PageFrame) -> block_pb2.BoundingBox:
    return block_pb2.BoundingBox(
        left=box.left / page.width,
        top=box.top / page.height,
        width=box.width / page.width,
        height=box.height / page.height,
    )


def quad_to_wire(quad: Quad, page: PageFrame) -> list[block_pb2.Point]:
    return [
        block_pb2.Point(x=min(max(x / page.width, 0.0), 1.0), y=min(max(y / page.height, 0.0), 1.0))
        for x, y in quad
    ]


def fields_from_wire(fields: "list[report_pb2.FieldSpec]") -> tuple[FieldSpec, ...]:
    """Error FIELDS_INVALID for a path that is no JSON Pointer or stands twice."""
    out: list[FieldSpec] = []
    seen: set[str] = set()
    for number, field in enumerate(fields):
        if (field.path and not field.path.startswith("/")) or field.path in seen:
            raise VisualProofError(
                "FIELDS_INVALID",
                "A field's path is a JSON Pointer such as /total, and each path stands once.",
                field_path=f"fields[{number}].path",
            )
        seen.add(field.path)
        out.append(
            FieldSpec(
                field.path,
                field.kind,
                field.locale,
                field.currency,
                field.unit,
                tuple(field.labels),
                field.row_label,
                field.column_label,
                field.required,
                field.derived_allowed,
                checks.known(Anchor, field.anchor, f"fields[{number}].anchor"),
            )
        )
    return tuple(out)


def request_from_wire(request: pb.VerifyAnswerRequest) -> ProveRequest:
    """Errors FIELDS_INVALID, OPTIONS_INVALID."""
    return ProveRequest(
        fields_from_wire(list(request.fields)),
        tuple(Relation(r.expression, r.tolerance) for r in request.relations),
        tuple(
            StatusAction(
                checks.known(Status, rule.status, f"policy.rules[{number}].status"),
                checks.known(Action, rule.action, f"policy.rules[{number}].action"),
            )
            for number, rule in enumerate(request.policy.rules)
            if rule.status and rule.action
        ),
        request.source_sha256,
        request.reader_version,
        tuple(ShownPages(r.first_page or 1, r.last_page or 2**31) for r in request.shown_pages),
    )


def report_to_wire(report: Report, document: Framed) -> report_pb2.Report:
    counts: dict[Status, int] = {}
    for result in report.results:
        counts[result.status] = counts.get(result.status, 0) + 1
    return report_pb2.Report(
        document_id=report.document_id,
        source_sha256=report.source_sha256,
        reader_version=report.reader_version,
        rules_version=report.rules_version,
        results=[_result_to_wire(r, document) for r in report.results],
        relations=[_relation_to_wire(r) for r in report.relations],
        action=_action(report.action),
        counts=[
            report_pb2.StatusCount(status=_status(status), count=count)
            for status, count in sorted(counts.items())
        ],
        damaged_pages=report.damaged_pages,
    )


def _status(status: Status) -> status_pb2.Status.ValueType:
    return status_pb2.Status.ValueType(status.value)


def _action(action: Action) -> status_pb2.Action.ValueType:
    return status_pb2.Action.ValueType(action.value)


def _relation_to_wire(result: RelationResult) -> report_pb2.RelationResult:
    return report_pb2.RelationResult(
        expression=result.expression,
        outcome=report_pb2.RelationOutcome.ValueType(result.outcome.value),
        message=result.message,
        action=_action(result.action),
    )


def _result_to_wire(result: FieldResult, document: Framed) -> report_pb2.FieldResult:
    return report_pb2.FieldResult(
        path=result.path,
        value_json=result.value_json,
        kind=result.kind,
        status=_status(result.status),
        action=_action(result.action),
        reasons=[report_pb2.Reason(code=r.code, message=r.message) for r in result.reasons],
        evidence=[_evidence_to_wire(e, document) for e in result.evidence],
        printed_text=result.printed_text,
        candidates=[_evidence_to_wire(e, document) for e in result.candidates],
        nearest=_evidence_to_wire(result.nearest, document) if result.nearest else None,
        anchor=report_pb2.Anchor.ValueType(result.anchor.value),
    )


def _evidence_to_wire(evidence: Evidence, document: Framed) -> report_pb2.Evidence:
    page = document.page(evidence.page)
    assert page is not None
    return report_pb2.Evidence(
        page_number=evidence.page,
        page_label=page.label,
        block_ids=evidence.block_ids,
        boxes=[box_to_wire(b, page) for b in evidence.boxes],
        polygons=[point for quad in evidence.quads for point in quad_to_wire(quad, page)],
        text=evidence.text,
        context=evidence.context,
        method=report_pb2.MatchMethod.ValueType(evidence.method.value),
        similarity=evidence.similarity,
        confidence=evidence.confidence,
        cited=evidence.cited,
        source=document_pb2.Source.ValueType(page.source.value),
        coarse=evidence.coarse,
    )


def report_from_wire(report: report_pb2.Report, document: Framed | None) -> Report:
    """A report that a caller sends back; error OPTIONS_INVALID.

    Places on pages that the document has not are left out; without a document, places keep their
    text only.
    """
    return Report(
        report.document_id,
        report.source_sha256,
        report.reader_version,
        report.rules_version,
        tuple(
            _result_from_wire(r, document, f"report.results[{number}]")
            for number, r in enumerate(report.results)
        ),
        tuple(
            _relation_from_wire(r, f"report.relations[{number}]")
            for number, r in enumerate(report.relations)
        ),
        checks.known(Action, report.action or Action.BLOCK, "report.action"),
        tuple(report.damaged_pages),
    )


def _relation_from_wire(relation: report_pb2.RelationResult, path: str) -> RelationResult:
    return RelationResult(
        relation.expression,
        checks.known(Outcome, relation.outcome or 3, f"{path}.outcome"),
        relation.message,
        checks.known(Action, relation.action or 3, f"{path}.action"),
    )


def _result_from_wire(
    result: report_pb2.FieldResult, document: Framed | None, path: str
) -> FieldResult:
    def places(items: "list[report_pb2.Evidence]", name: str) -> tuple[Evidence, ...]:
        made = (
            _evidence_from_wire(item, document, f"{path}.{name}[{number}]")
            for number, item in enumerate(items)
        )
        return tuple(place for place in made if place is not None)

    return FieldResult(
        result.path,
        result.value_json,
        result.kind,
        checks.known(Status, result.status or Status.UNSUPPORTED, f"{path}.status"),
        checks.known(Action, result.action or Action.BLOCK, f"{path}.action"),
        tuple(Reason(r.code, r.message) for r in result.reasons),
        places(list(result.evidence), "evidence"),
        result.printed_text,
        places(list(result.candidates), "candidates"),
    )


def _evidence_from_wire(
    evidence: report_pb2.Evidence, document: Framed | None, path: str
) -> Evidence | None:
    boxes: tuple[Box, ...] = ()
    quads: tuple[Quad, ...] = ()
    if document is not None:
        page = document.page(evidence.page_number)
        if page is None or page.failure is not None or not evidence.boxes:
            return None
        boxes = tuple(checks.box_from_wire(b, page, f"{path}.boxes") for b in evidence.boxes)
        quads = tuple(quad_of(b) for b in boxes)
        if len(evidence.polygons) == 4 * len(boxes):
            quads = checks.quads_from_wire(list(evidence.polygons), page, f"{path}.polygons")
    confidence = evidence.confidence if evidence.HasField("confidence") else None
    return Evidence(
        evidence.page_number,
        tuple(evidence.block_ids),
        boxes,
        quads,
        evidence.text,
        evidence.context,
        checks.known(Method, evidence.method or Method.FUZZY, f"{path}.method"),
        checks.finite(evidence.similarity, f"{path}.similarity"),
        None if confidence is None else checks.finite(confidence, f"{path}.confidence"),
        evidence.cited,
        evidence.coarse,
    )


def spans_to_wire(report: ProseReport) -> list[pb.ProseSpan]:
    return [
        pb.ProseSpan(
            start=span.start,
            end=span.end,
            text=span.text,
            prose_class=pb.ProseClass.ValueType(span.kind.value),
            path=span.path,
        )
        for span in report.spans
    ]
