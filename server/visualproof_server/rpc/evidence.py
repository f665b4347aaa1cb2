"""ExportEvidence: an answer is proven, and what shows it is sent in chunks."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from visualproof.v1 import status_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.answers.service import AnswerService
from visualproof_server.model.document import DocumentState
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.export import ExportRequest, Format
from visualproof_server.model.report import Action, Report
from visualproof_server.model.tasks import Answered
from visualproof_server.rpc.convert import request_from_wire
from visualproof_server.rpc.sealed import report_json, request_json


async def export(
    state: DocumentState, request: pb.ExportEvidenceRequest, answers: AnswerService, version: str
) -> AsyncGenerator[pb.ExportEvidenceResponse, None]:
    """Errors as VerifyAnswer's, OPTIONS_INVALID for an unknown format."""
    try:
        wanted = Format(request.format or Format.BUNDLE)
    except ValueError:
        raise VisualProofError(
            "OPTIONS_INVALID", "This server does not know the format.", field_path="format"
        ) from None
    name = state.document_id
    summary = await answers.summary(state)
    answer = request.answer.answer_json.encode()
    if wanted.of_reading:
        report, again = _no_report(name), b""
    else:
        asked = await asyncio.to_thread(request_from_wire, request.answer)
        report, again = await answers.verify(state, answer, asked)
    spelled = await asyncio.to_thread(request_json, request.answer)
    shown = await asyncio.to_thread(report_json, report, summary)
    answered = Answered(answer, spelled, shown, again)
    about = ExportRequest(
        wanted, state.file_name, version, state.warnings, request.with_original, request.password
    )
    first = True
    # A caller who goes away closes this generator: the file must go at once too.
    async with aclosing(answers.export(state, report, about, answered)) as chunks:
        async for size, chunk in chunks:
            made = pb.ExportEvidenceResponse(content=chunk)
            if first:
                made.mime_type = wanted.media
                made.size_bytes = size
                if not wanted.of_reading:
                    made.action = status_pb2.Action.ValueType(report.action.value)
                first = False
            yield made


def _no_report(document_id: str) -> Report:
    return Report(document_id, "", "", "", (), (), Action.BLOCK)
