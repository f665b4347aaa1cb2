"""Takes an upload: bounded, hashed, and on disk before it is answered."""

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from visualproof.v1 import visual_proof_service_pb2 as pb

from visualproof_server.model.errors import VisualProofError

MAX_CHUNK = 1024 * 1024
MAX_NAME = 255
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Received:
    """A finished upload: a temporary file that the caller owns, and its hash."""

    file: Path
    sha256: str


def checked_header(header: pb.UploadHeader) -> tuple[str, str]:
    """(sha256 or "", file name); error OPTIONS_INVALID."""
    sha256 = header.source_sha256.lower()
    if header.HasField("source_sha256") and not _SHA256.fullmatch(sha256):
        raise VisualProofError(
            "OPTIONS_INVALID", "source_sha256 is 64 hex digits.", field_path="header.source_sha256"
        )
    if len(header.file_name) > MAX_NAME:
        raise VisualProofError(
            "OPTIONS_INVALID", f"file_name has at most {MAX_NAME} characters.",
            field_path="header.file_name",
        )  # fmt: skip
    return sha256, header.file_name


async def receive(
    first: pb.UploadDocumentRequest,
    rest: AsyncIterator[pb.UploadDocumentRequest],
    stated_sha256: str,
    folder: Path,
    limit: int,
) -> Received:
    """Writes the content to a file in `folder`; nothing is left when it fails.

    Errors EMPTY_FILE, FILE_TOO_LARGE, CHUNK_TOO_LARGE, SHA256_MISMATCH, HEADER_MISSING, DISK_FULL.
    """
    handle, name = await asyncio.to_thread(tempfile.mkstemp, dir=folder, prefix="upload-")
    path = Path(name)
    digest = hashlib.sha256()
    size = 0
    try:
        with os.fdopen(handle, "wb") as file:
            message: pb.UploadDocumentRequest | None = first
            while message is not None:
                content = message.content
                if len(content) > MAX_CHUNK:
                    raise VisualProofError("CHUNK_TOO_LARGE", "Send chunks of at most 1 MiB.")
                size += len(content)
                if size > limit:
                    raise VisualProofError(
                        "FILE_TOO_LARGE",
                        f"At most {limit} bytes are taken.",
                        {"limit": str(limit)},
                    )
                digest.update(content)
                await asyncio.to_thread(file.write, content)
                message = await anext(rest, None)
                if message is not None and message.HasField("header"):
                    raise VisualProofError(
                        "HEADER_MISSING", "Only the first message of an upload has a header."
                    )
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        sha256 = digest.hexdigest()
        if not size:
            raise VisualProofError("EMPTY_FILE", "The file is empty; send one with content.")
        if stated_sha256 and stated_sha256 != sha256:
            raise VisualProofError(
                "SHA256_MISMATCH", "The bytes are not those that source_sha256 states."
            )
        return Received(path, sha256)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise VisualProofError(
            "DISK_FULL", f"The upload cannot be stored ({error.strerror})."
        ) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
