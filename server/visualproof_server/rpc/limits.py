"""What a request may hold: the contract's limits (limits.proto), asked of its bytes before anything is
made of them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cache

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from visualproof.v1 import limits_pb2
from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.errors import VisualProofError

SERVICE = pb.DESCRIPTOR.services_by_name["VisualProofService"]
# Items of repeated fields in a whole message, at all levels.
MAX_ITEMS = 200_000
# From here on, a message is read in a thread.
_LARGE = 64 * 1024
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {
    FieldDescriptor.TYPE_DOUBLE: 8,
    FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8,
    FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4,
    FieldDescriptor.TYPE_SFIXED32: 4,
}
_GOES_ON = bytes(range(128, 256))


@dataclass(frozen=True, slots=True)
class _Field:
    """A field and its limit; items is 1 where it is not repeated. width is that of a packed number,
    0 for varints, None for what is never packed."""

    name: str
    repeated: bool
    items: int
    length: int
    code: str
    text: bool
    width: int | None
    message: Descriptor | None


@cache
def _fields(kind: Descriptor) -> dict[int, _Field]:
    proto = DescriptorProto()
    kind.CopyToProto(proto)
    many = {f.number for f in proto.field if f.label == f.LABEL_REPEATED}
    return {f.number: _field(f, f.number in many) for f in kind.fields}


def _field(of: FieldDescriptor, repeated: bool) -> _Field:
    limit = of.GetOptions().Extensions[limits_pb2.limit]
    plain = of.cpp_type not in (FieldDescriptor.CPPTYPE_STRING, FieldDescriptor.CPPTYPE_MESSAGE)
    return _Field(
        of.name,
        repeated,
        limit.items if repeated else 1,
        limit.length,
        limit.code or "OPTIONS_INVALID",
        of.type == FieldDescriptor.TYPE_STRING,
        _WIDTHS.get(of.type, 0) if plain and repeated else None,
        of.message_type,
    )


async def request(rpc: str, sent: bytes) -> Message:
    """A call's message from the bytes sent.

    Errors REQUEST_INVALID, and the codes of the contract's limits.
    """
    return await _one(SERVICE.methods_by_name[rpc].input_type, sent)


async def stream(rpc: str, sent: AsyncIterator[bytes]) -> AsyncIterator[Message]:
    """A call's messages, each with the errors of `request`."""
    async for data in sent:
        yield await _one(SERVICE.methods_by_name[rpc].input_type, data)


async def _one(kind: Descriptor, data: bytes) -> Message:
    return await asyncio.to_thread(read, kind, data) if len(data) > _LARGE else read(kind, data)


def read(kind: Descriptor, data: bytes) -> Message:
    """A message within its limits; errors as `request`'s."""
    try:
        _Scan(data).message(kind, 0, len(data), "")
        made: Message = GetMessageClass(kind).FromString(data)
    except (DecodeError, IndexError):
        raise VisualProofError(
            "REQUEST_INVALID", f"The bytes are no {kind.name} of the contract."
        ) from None
    return made


def stated() -> tuple[tuple[str, int, str], ...]:
    """(field, most, unit) of every limit of the contract, for GetServerInfo."""
    found = {}
    for kind in request_messages():
        for one in _fields(kind).values():
            name = f"{kind.name}.{one.name}"
            if one.repeated:
                found[name, "items"] = one.items
            if one.length:
                found[name, "characters" if one.text else "bytes"] = one.length
    rows = sorted((name, most, unit) for (name, unit), most in found.items())
    return (("request_items", MAX_ITEMS, "items"), *rows)


def request_messages() -> list[Descriptor]:
    """Every message that a request may hold, itself included."""
    waiting, found = [m.input_type for m in SERVICE.methods], []
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.append(kind)
            waiting += [f.message_type for f in kind.fields if f.message_type is not None]
    return found


@dataclass
class _Scan:
    """One pass over a message as it was sent: it ends where the first limit is passed."""

    data: bytes
    items: int = field(default=0)

    def message(self, kind: Descriptor, at: int, end: int, path: str) -> None:
        """Error DecodeError or IndexError for what is no message; path ends in a point, or is empty."""
        fields, counts = _fields(kind), dict[int, int]()
        while at < end:
            tag, at = self._varint(at)
            start, wire = at, tag & 7
            if wire == _BYTES:
                size, start = self._varint(at)
                at = start + size
            elif wire == _VARINT:
                _, at = self._varint(at)
            elif wire in (_FIXED64, _FIXED32):
                at += 8 if wire == _FIXED64 else 4
            else:
                raise DecodeError("groups are not of this contract")
            if at > end:
                raise DecodeError("a field goes on beyond its message")
            known = fields.get(tag >> 3)
            if known is None:
                self._more(1, f"{path}(unknown)")
                continue
            more = 1
            if wire == _BYTES and known.width is not None:
                more = _packed(self.data[start:at], known.width)
            before = counts.get(tag >> 3, 0)
            counts[tag >> 3] = before + more
            self._count(known, before, more, path)
            if wire == _BYTES and known.width is None:
                self._content(known, before, start, at, path)

    def _count(self, known: _Field, before: int, more: int, path: str) -> None:
        if known.repeated:
            if before + more > known.items:
                raise _too_much(known, path, f"At most {known.items} items are taken here.")
            self._more(more, path + known.name)
        elif before:
            # A parser would join messages that stand twice, with the items of both.
            raise VisualProofError(
                "REQUEST_INVALID", "This field may stand once.", field_path=path + known.name
            )

    def _content(self, known: _Field, number: int, start: int, end: int, path: str) -> None:
        if known.message is not None:
            inner = f"{path}{known.name}[{number}]." if known.repeated else f"{path}{known.name}."
            self.message(known.message, start, end, inner)
        elif end - start > known.length and self._length(known, start, end) > known.length:
            unit = "characters" if known.text else "bytes"
            raise _too_much(known, path, f"At most {known.length} {unit} are taken here.")

    def _length(self, known: _Field, start: int, end: int) -> int:
        """Bytes, or the characters of a text, of which each has up to four."""
        size = end - start
        if not known.text or size > 4 * known.length:
            return size
        return len(self.data[start:end].decode("utf-8", "replace"))

    def _more(self, count: int, path: str) -> None:
        self.items += count
        if self.items > MAX_ITEMS:
            raise VisualProofError(
                "OPTIONS_INVALID", f"A request has at most {MAX_ITEMS} items.", field_path=path
            )

    def _varint(self, at: int) -> tuple[int, int]:
        value = self.data[at]
        if value < 128:
            return value, at + 1
        value &= 127
        for shift in range(7, 70, 7):
            at += 1
            byte = self.data[at]
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at + 1
        raise DecodeError("a number has more than ten bytes")


def _packed(part: bytes, width: int) -> int:
    """Numbers in a row: each varint has one byte that does not go on."""
    return len(part) // width if width else len(part.translate(None, _GOES_ON))


def _too_much(known: _Field, path: str, message: str) -> VisualProofError:
    return VisualProofError(known.code, message, field_path=path + known.name)
