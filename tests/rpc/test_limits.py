"""Each field of a request has a limit in the contract, asked before anything is made of it."""

from collections.abc import Callable, Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto
from hypothesis import given, settings
from hypothesis import strategies as st
from visualproof.v1 import limits_pb2, report_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof_server.model.errors import CODES, VisualProofError
from visualproof_server.rpc import limits

VERIFY = pb.VerifyAnswerRequest.DESCRIPTOR
LARGEST = 8 * 1024 * 1024


def reached() -> Iterator[tuple[Descriptor, FieldDescriptor, bool]]:
    """Every field that a request may hold, and whether it is repeated (or a map)."""
    waiting = [m.input_type for m in limits.SERVICE.methods]
    seen: set[str] = set()
    while waiting:
        kind = waiting.pop()
        if kind.full_name in seen:
            continue
        seen.add(kind.full_name)
        proto = DescriptorProto()
        kind.CopyToProto(proto)
        for field, spelled in zip(kind.fields, proto.field, strict=True):
            yield kind, field, spelled.label == spelled.LABEL_REPEATED
            if field.message_type is not None:
                waiting.append(field.message_type)


def test_every_field_of_a_request_has_a_limit() -> None:
    for kind, field, repeated in reached():
        limit = field.GetOptions().Extensions[limits_pb2.limit]
        name = f"{kind.name}.{field.name}"
        long = field.cpp_type == FieldDescriptor.CPPTYPE_STRING
        assert bool(limit.items) == repeated, f"{name} states no items"
        assert bool(limit.length) == long, f"{name} states no length"
        assert not limit.code or limit.code in CODES, name


def test_no_request_holds_itself() -> None:
    """Or a message could be as deep as it is long."""

    def walk(kind: Descriptor, above: tuple[str, ...]) -> None:
        assert kind.full_name not in above
        for field in kind.fields:
            if field.message_type is not None:
                walk(field.message_type, (*above, kind.full_name))

    for method in limits.SERVICE.methods:
        walk(method.input_type, ())


def test_server_info_names_every_limit() -> None:
    stated = {name for name, _, _ in limits.stated()}
    for kind, field, repeated in reached():
        if repeated or field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            assert f"{kind.name}.{field.name}" in stated


def refusal(kind: Descriptor, data: bytes) -> tuple[str, str]:
    """(code, field path) of what is not read."""
    with pytest.raises(VisualProofError) as caught:
        limits.read(kind, data)
    return caught.value.code, caught.value.field_path


def many(tag: int, item: bytes = b"\0") -> bytes:
    one = bytes([tag]) + item
    return one * (LARGEST // len(one))


def report(**parts: object) -> bytes:
    made = report_pb2.Report(results=[report_pb2.FieldResult(**parts)])  # type: ignore[arg-type]
    return pb.AnnotatePagesRequest(report=made).SerializeToString()


LONG = "x" * 200_001
HOSTILE: dict[str, tuple[Descriptor, Callable[[], bytes], tuple[str, str]]] = {
    "empty ranges": (VERIFY, lambda: many(0x3A), ("OPTIONS_INVALID", "shown_pages")),
    "empty relations": (VERIFY, lambda: many(0x2A), ("OPTIONS_INVALID", "relations")),
    "empty fields": (VERIFY, lambda: many(0x22), ("FIELDS_INVALID", "fields")),
    "empty rules": (
        VERIFY,
        lambda: pb.VerifyAnswerRequest(
            policy=report_pb2.Policy(rules=[report_pb2.Policy.Rule()] * 101)
        ).SerializeToString(),
        ("OPTIONS_INVALID", "policy.rules"),
    ),
    "one policy in many parts": (
        VERIFY, lambda: many(0x32, b"\x02\x0a\0"), ("REQUEST_INVALID", "policy"),
    ),
    "an answer sent twice": (
        VERIFY, lambda: b"\x1a\x02{}\x1a\x02{}", ("REQUEST_INVALID", "answer_json"),
    ),
    "an answer of 5 MiB": (
        VERIFY,
        lambda: pb.VerifyAnswerRequest(answer_json="x" * 5 * 1024 * 1024).SerializeToString(),
        ("ANSWER_TOO_LARGE", "answer_json"),
    ),
    "kinds one by one": (
        pb.ListBlocksRequest.DESCRIPTOR, lambda: many(0x18), ("OPTIONS_INVALID", "kinds"),
    ),
    "kinds in a row": (
        pb.ListBlocksRequest.DESCRIPTOR,
        lambda: pb.ListBlocksRequest(kinds=[1] * 8_000_000).SerializeToString(),  # type: ignore[list-item]
        ("OPTIONS_INVALID", "kinds"),
    ),
    "page numbers": (
        pb.AnnotatePagesRequest.DESCRIPTOR,
        lambda: pb.AnnotatePagesRequest(page_numbers=[300] * 1_000_000).SerializeToString(),
        ("OPTIONS_INVALID", "page_numbers"),
    ),
    "fields that nobody knows": (
        VERIFY, lambda: b"\xf8\x01\0" * 2_000_000, ("OPTIONS_INVALID", "(unknown)"),
    ),
    "evidence without end": (
        pb.AnnotatePagesRequest.DESCRIPTOR,
        lambda: report(evidence=[report_pb2.Evidence()] * 101),
        ("OPTIONS_INVALID", "report.results[0].evidence"),
    ),
    "a little of everything": (
        pb.AnnotatePagesRequest.DESCRIPTOR,
        lambda: pb.AnnotatePagesRequest(
            report=report_pb2.Report(
                results=[report_pb2.FieldResult(evidence=[report_pb2.Evidence()] * 99)] * 4999
            )
        ).SerializeToString(),
        ("OPTIONS_INVALID", "report.results"),
    ),
    "a long text deep inside": (
        pb.CheckProseRequest.DESCRIPTOR,
        lambda: pb.CheckProseRequest(
            reports=[
                report_pb2.Report(),
                report_pb2.Report(
                    results=[report_pb2.FieldResult(evidence=[report_pb2.Evidence(text=LONG)])]
                ),
            ]
        ).SerializeToString(),
        ("OPTIONS_INVALID", "reports[1].results[0].evidence[0].text"),
    ),
    "a label of 4 MB": (
        VERIFY,
        lambda: pb.VerifyAnswerRequest(
            fields=[report_pb2.FieldSpec(), report_pb2.FieldSpec(labels=["", "<" * 4_000_000])]
        ).SerializeToString(),
        ("FIELDS_INVALID", "fields[1].labels"),
    ),
    "a password of 257": (
        pb.ExportEvidenceRequest.DESCRIPTOR,
        lambda: pb.ExportEvidenceRequest(password="€" * 257).SerializeToString(),
        ("OPTIONS_INVALID", "password"),
    ),
    "a chunk of 2 MiB": (
        pb.UploadDocumentRequest.DESCRIPTOR,
        lambda: pb.UploadDocumentRequest(content=bytes(2 * 1024 * 1024)).SerializeToString(),
        ("CHUNK_TOO_LARGE", "content"),
    ),
    "a cut message": (VERIFY, lambda: b"\x1a\x7f{}", ("REQUEST_INVALID", "")),
    "a number without end": (VERIFY, lambda: b"\xff" * 1000, ("REQUEST_INVALID", "")),
    "a group": (VERIFY, lambda: b"\x0b" * 100_000, ("REQUEST_INVALID", "")),
    "a text that is no UTF-8": (VERIFY, lambda: b"\x1a\x02\xff\xfe", ("REQUEST_INVALID", "")),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_too_much_is_refused_by_field(name: str) -> None:
    kind, made, expected = HOSTILE[name]
    assert refusal(kind, made()) == expected


def test_characters_are_counted_not_bytes() -> None:
    for text in ("x" * 256, "€" * 256, "\U0001f600" * 256):
        request = pb.ExportEvidenceRequest(password=text)
        assert limits.read(request.DESCRIPTOR, request.SerializeToString()) == request


@given(st.binary(max_size=200))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for method in limits.SERVICE.methods:
        try:
            limits.read(method.input_type, data)
        except VisualProofError as error:
            assert error.code in CODES


def test_the_largest_report_of_ours_may_be_sent_back() -> None:
    place = report_pb2.Evidence(
        page_number=1, block_ids=[f"L1.W{n}" for n in range(8)], text="x" * 40, context="y" * 80
    )
    place.boxes.add(left=0.1)
    for _ in range(4):
        place.polygons.add(x=0.1)
    one = report_pb2.FieldResult(path="/a", evidence=[place], candidates=[place])
    request = pb.AnnotatePagesRequest(report=report_pb2.Report(results=[one] * 5000))
    assert limits.read(request.DESCRIPTOR, request.SerializeToString()) == request
