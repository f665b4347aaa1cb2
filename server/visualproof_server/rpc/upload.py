"""Takes an upload: bounded, hashed, and on disk before it is answered."""

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.errors import VisualProofError

# Bytes a second that an upload brings on the whole, at least.
_LEAST_RATE = 1024
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Received:
    """A finished upload: temporary files that the caller owns, and the hash of the document's.

    reading is another reader's output, None if none was announced.
    """

    file: Path
    sha256: str
    reading: Path | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What an upload says of itself; hashes are empty where none was stated."""

    sha256: str
    reading_sha256: str
    file_name: str


def checked_header(header: pb.UploadHeader) -> Header:
    """Error OPTIONS_INVALID."""
    for name in ("source_sha256", "reading_sha256"):
        if header.HasField(name) and not _SHA256.fullmatch(getattr(header, name)):
            raise VisualProofError(
                "OPTIONS_INVALID", f"{name} is 64 hex digits.", field_path=f"header.{name}"
            )
    return Header(header.source_sha256.lower(), header.reading_sha256.lower(), header.file_name)


async def in_time(
    messages: AsyncIterator[pb.UploadDocumentRequest], idle_s: float
) -> AsyncGenerator[pb.UploadDocumentRequest, None]:
    """The same messages; error UPLOAD_IDLE where none comes for too long, or they bring too little."""
    started, size = time.monotonic(), 0
    while True:
        now = time.monotonic()
        left = min(idle_s, started + idle_s + size / _LEAST_RATE - now)
        try:
            # Not wait_for: that may swallow that the call was cancelled, and take half for the whole.
            async with asyncio.timeout(max(0.0, left)):
                message = await anext(messages, None)
        except TimeoutError:
            raise VisualProofError(
                "UPLOAD_IDLE", f"The upload brought nothing, or too little, for {idle_s:.0f} s."
            ) from None
        if message is None:
            return
        size += len(message.content) + len(message.reading)
        yield message


async def receive(
    first: pb.UploadDocumentRequest,
    rest: AsyncIterator[pb.UploadDocumentRequest],
    header: Header,
    folder: Path,
    limit: int,
) -> Received:
    """Writes the content to files in `folder`; nothing is left when it fails.

    Errors EMPTY_FILE, FILE_TOO_LARGE, SHA256_MISMATCH, HEADER_MISSING, OPTIONS_INVALID; OSError where
    the disk is full.
    """
    content = _Sink.open(folder, limit)
    reading: _Sink | None = None
    try:
        if header.reading_sha256:
            reading = _Sink.open(folder, limit)
        message: pb.UploadDocumentRequest | None = first
        while message is not None:
            await content.take(message.content)
            if message.reading and reading is None:
                raise VisualProofError(
                    "OPTIONS_INVALID",
                    "Announce a reading with its hash in the header.",
                    field_path="header.reading_sha256",
                )
            if reading is not None:
                await reading.take(message.reading)
            message = await anext(rest, None)
            if message is not None and message.HasField("header"):
                raise VisualProofError(
                    "HEADER_MISSING", "Only the first message of an upload has a header."
                )
        sha256 = await content.finish(header.sha256)
        if reading is not None:
            await reading.finish(header.reading_sha256)
        return Received(content.path, sha256, reading.path if reading else None)
    except BaseException:
        content.abandon()
        if reading is not None:
            reading.abandon()
        raise


class _Sink:
    """A file that is written, hashed and bounded as its bytes come."""

    def __init__(self, handle: int, path: Path, limit: int) -> None:
        self.path = path
        self._file = os.fdopen(handle, "wb")
        self._limit = limit
        self._digest = hashlib.sha256()
        self._size = 0

    @classmethod
    def open(cls, folder: Path, limit: int) -> "_Sink":
        # Not in a thread: a call that is cancelled meanwhile would leave a file without an owner.
        handle, name = tempfile.mkstemp(dir=folder, prefix="upload-")
        return cls(handle, Path(name), limit)

    async def take(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise VisualProofError(
                "FILE_TOO_LARGE",
                f"At most {self._limit} bytes are taken.",
                {"limit": str(self._limit)},
            )
        await asyncio.to_thread(self._write, data)

    async def finish(self, stated_sha256: str) -> str:
        """The hash, once the bytes are safe."""
        await asyncio.to_thread(self._sync)
        if not self._size:
            raise VisualProofError("EMPTY_FILE", "The file is empty; send one with content.")
        sha256 = self._digest.hexdigest()
        if stated_sha256 and stated_sha256 != sha256:
            raise VisualProofError(
                "SHA256_MISMATCH", "The bytes are not those that the header's SHA-256 states."
            )
        return sha256

    def _write(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        # What is not yet written has no room either.
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
