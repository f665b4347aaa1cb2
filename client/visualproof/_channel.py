"""How channels are made, and what both clients share."""

import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

import grpc

from visualproof.v1 import document_pb2, report_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

CHUNK = 256 * 1024
# Attempts in all, and how long the second one waits (s); each one waits twice as long. Not by gRPC's
# service config: with it, calls hang for ever now and then (grpc/grpc#41036; bench/chaos.py showed it).
RETRIES = 4
RETRY_DELAY_S = 0.6
Source = str | Path | bytes | bytearray | IO[bytes]
DocumentRef = str | document_pb2.Document
RelationLike = str | report_pb2.Relation
Answer = str | bytes | Mapping[str, Any] | list[Any]

OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", 32 * 1024 * 1024),
    ("grpc.max_send_message_length", 8 * 1024 * 1024),
    # Above the server's minimum ping interval.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
]


@dataclass(frozen=True)
class Prompt:
    """Text for a model. next_page is 0 when no page is left; pages is (first, last)."""

    text: str
    instructions: str
    answer_schema: dict[str, Any] | None
    pages: tuple[int, int]
    next_page: int
    estimated_tokens: int


@dataclass(frozen=True)
class Picture:
    """A marked page or crop, or a page as read. path is the value of a crop."""

    page_number: int
    path: str
    image: bytes
    mime_type: str
    width: int
    height: int

    def save(self, file: str | Path) -> Path:
        """Writes the image and returns where."""
        target = Path(file)
        target.write_bytes(self.image)
        return target


def credentials(
    root_certificates: bytes | None, private_key: bytes | None, certificate_chain: bytes | None
) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(root_certificates, private_key, certificate_chain)


def metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),) if token else ()


class PlainTextToken(UserWarning):
    """A token goes over a channel that is not encrypted, to another machine."""


def check_token(target: str, token: str | None) -> None:
    """Warns of a token that is about to be sent in the clear: anybody on the way can use it."""
    if token and not _is_local(target):
        text = f"the token goes to {target} in plain text; give tls=True or root_certificates"
        # Named where the client is made.
        warnings.warn(text, PlainTextToken, stacklevel=3)


def _is_local(target: str) -> bool:
    scheme, _, rest = target.partition(":")
    if scheme in ("unix", "unix-abstract"):
        return True
    if scheme in ("dns", "ipv4", "ipv6"):
        target = rest.rpartition("/")[2]
    host = target.rpartition(":")[0] if target.count(":") == 1 else target
    host = host.partition("]")[0].strip("[")
    return host in ("localhost", "::1", "ip6-localhost") or host.startswith("127.")


def read_source(source: Source, file_name: str | None) -> tuple[bytes, str]:
    """The bytes of a path, bytes or binary file, and a name for people."""
    if isinstance(source, str | Path):
        path = Path(source)
        return path.read_bytes(), _name(file_name or path.name)
    if isinstance(source, bytes | bytearray):
        return bytes(source), _name(file_name or "")
    return source.read(), _name(file_name or Path(str(getattr(source, "name", ""))).name)


def _name(text: str) -> str:
    """A name as UTF-8 can say it: names of files may hold any bytes."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def upload_messages(
    content: bytes, file_name: str, options: document_pb2.ReadOptions, reading: bytes | None
) -> Iterator[pb.UploadDocumentRequest]:
    header = pb.UploadHeader(
        source_sha256=hashlib.sha256(content).hexdigest(),
        file_name=file_name[:255],
        options=options,
        reading_sha256=hashlib.sha256(reading).hexdigest() if reading is not None else None,
    )
    # The header alone first: a server that knows the bytes answers before any is sent.
    yield pb.UploadDocumentRequest(header=header)
    for at in range(0, len(content), CHUNK):
        yield pb.UploadDocumentRequest(content=content[at : at + CHUNK])
    for at in range(0, len(reading or b""), CHUNK):
        yield pb.UploadDocumentRequest(reading=(reading or b"")[at : at + CHUNK])


def options_of(
    languages: Iterable[str],
    dpi: int,
    engine: str,
    first_page: int,
    last_page: int,
    password: str,
    tables: bool,
    text_layer: bool,
) -> document_pb2.ReadOptions:
    return document_pb2.ReadOptions(
        languages=list(languages),
        dpi=dpi,
        engine=engine,
        first_page=first_page,
        last_page=last_page,
        password=password,
        tables_disabled=not tables,
        text_layer=(
            document_pb2.TEXT_LAYER_VISIBLE if text_layer else document_pb2.TEXT_LAYER_IGNORED
        ),
    )


def id_of(document: DocumentRef) -> str:
    return document if isinstance(document, str) else document.document_id


def _spelled(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"an answer cannot hold a {type(value).__name__}")


def answer_text(answer: Answer) -> str:
    """The model's own JSON, or JSON made of a dict."""
    if isinstance(answer, bytes):
        return answer.decode("utf-8")
    if isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False, default=_spelled)


def prompt_request(
    document: DocumentRef,
    fields: Iterable[report_pb2.FieldSpec],
    json_schema: str | Mapping[str, Any],
    pages: tuple[int, int] | None,
    max_tokens: int,
    compact: bool,
) -> pb.RenderPromptRequest:
    first, last = pages or (0, 0)
    return pb.RenderPromptRequest(
        document_id=id_of(document),
        first_page=first,
        last_page=last,
        max_tokens=max_tokens,
        marker_style=pb.MARKER_STYLE_COMPACT if compact else pb.MARKER_STYLE_LINE,
        fields=fields,
        json_schema=json_schema if isinstance(json_schema, str) else json.dumps(json_schema),
    )


def prompt_from(response: pb.RenderPromptResponse) -> Prompt:
    schema = response.answer_schema_json
    return Prompt(
        response.text,
        response.instructions,
        json.loads(schema) if schema else None,
        (response.pages.first_page, response.pages.last_page),
        response.next_page,
        response.estimated_tokens,
    )


def verify_request(
    document: DocumentRef,
    answer: Answer,
    fields: Iterable[report_pb2.FieldSpec],
    relations: Iterable[RelationLike],
    policy: report_pb2.Policy | None,
    shown_pages: Iterable[tuple[int, int]],
) -> pb.VerifyAnswerRequest:
    request = pb.VerifyAnswerRequest(
        document_id=id_of(document),
        answer_json=answer_text(answer),
        fields=fields,
        relations=[
            report_pb2.Relation(expression=r) if isinstance(r, str) else r for r in relations
        ],
        policy=policy,
        shown_pages=[report_pb2.PageRange(first_page=a, last_page=b) for a, b in shown_pages],
    )
    if not isinstance(document, str):
        request.source_sha256 = document.source_sha256
        request.reader_version = document.reader_version
    return request


FORMATS = {
    "jpeg": pb.IMAGE_FORMAT_JPEG,
    "png": pb.IMAGE_FORMAT_PNG,
    "webp": pb.IMAGE_FORMAT_WEBP,
}


def picture_from(message: pb.AnnotatePagesResponse) -> Picture:
    return Picture(
        message.page_number,
        message.path,
        message.image,
        message.mime_type,
        message.width_px,
        message.height_px,
    )


def joined_picture(number: int, parts: list[pb.GetPageImageResponse]) -> Picture:
    first = parts[0]
    content = b"".join(p.content for p in parts)
    return Picture(number, "", content, first.mime_type, first.width_px, first.height_px)


EVIDENCE_FORMATS = {
    "bundle": pb.EVIDENCE_FORMAT_BUNDLE,
    "pdf": pb.EVIDENCE_FORMAT_PDF,
    "html": pb.EVIDENCE_FORMAT_HTML,
    "web-annotation": pb.EVIDENCE_FORMAT_WEB_ANNOTATION,
    "ethos-citations": pb.EVIDENCE_FORMAT_ETHOS_CITATIONS,
    "hocr": pb.EVIDENCE_FORMAT_HOCR,
    "textract": pb.EVIDENCE_FORMAT_TEXTRACT,
}
_SUFFIXES = {
    ".zip": "bundle",
    ".pdf": "pdf",
    ".html": "html",
    ".jsonld": "web-annotation",
    ".hocr": "hocr",
}


@dataclass(frozen=True)
class Exported:
    """An exported file. action is the report's within, UNSPECIFIED where there is no answer."""

    path: Path
    mime_type: str
    size: int
    action: int


def export_request(
    document: DocumentRef,
    answer: Answer,
    fields: Iterable[report_pb2.FieldSpec],
    relations: Iterable[RelationLike],
    policy: report_pb2.Policy | None,
    shown_pages: Iterable[tuple[int, int]],
    to: str | Path,
    format: str,
    with_original: bool,
    password: str,
) -> pb.ExportEvidenceRequest:
    """ValueError for an unknown format, or a suffix that tells none."""
    chosen = format or _SUFFIXES.get(Path(to).suffix.lower(), "")
    if chosen not in EVIDENCE_FORMATS:
        raise ValueError(f"format must be one of {', '.join(EVIDENCE_FORMATS)}")
    return pb.ExportEvidenceRequest(
        answer=verify_request(document, answer, fields, relations, policy, shown_pages),
        format=EVIDENCE_FORMATS[chosen],
        with_original=with_original,
        password=password,
    )


class EvidenceFile:
    """Takes the chunks of an export: the file is there whole, or not at all."""

    def __init__(self, to: str | Path) -> None:
        self._target = Path(to)
        self._partial = self._target.with_name(f".{self._target.name}.part")
        self._file = self._partial.open("wb")
        self._first = pb.ExportEvidenceResponse()

    def take(self, part: pb.ExportEvidenceResponse) -> None:
        """Writes a chunk."""
        if part.size_bytes:
            self._first = part
        self._file.write(part.content)

    def finish(self) -> Exported:
        """Moves the finished file to its place."""
        size = self._file.tell()
        self._file.close()
        self._partial.replace(self._target)
        return Exported(self._target, self._first.mime_type, size, self._first.action)

    def abandon(self) -> None:
        """Removes what an error left."""
        self._file.close()
        self._partial.unlink(missing_ok=True)
