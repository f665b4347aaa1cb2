"""The errors that callers meet, each with a stable code; rows of docs/errors.md."""

import errno
from dataclasses import dataclass, field
from enum import Enum


class Problem(Enum):
    """What kind of answer a code is, independent of the transport."""

    INVALID = "the request is wrong and will stay so"
    UNAUTHENTICATED = "the caller is not known"
    NOT_FOUND = "there is no such thing for this caller"
    UNAVAILABLE = "something that is needed does not answer"
    NOT_READY = "the state does not allow it yet, or no longer"
    BUSY = "try again later"
    TIMEOUT = "it took too long"
    DAMAGED = "what was kept is not there any more as it was"
    INTERNAL = "our fault"


# code -> (problem, what to do); the order is that of docs/errors.md.
CODES: dict[str, tuple[Problem, str]] = {
    "EMPTY_FILE": (Problem.INVALID, "Send a file with at least one byte."),
    "FILE_TOO_LARGE": (Problem.INVALID, "Send a smaller file, or raise max-upload-mb."),
    "UNSUPPORTED_TYPE": (
        Problem.INVALID,
        "Send a PDF, PNG, JPEG, WebP, TIFF or GIF, or a reading.",
    ),
    "READING_INVALID": (
        Problem.INVALID,
        "Send Textract JSON, hOCR or Ethos grounding JSON that has the document's pages.",
    ),
    "SHA256_MISMATCH": (Problem.INVALID, "Hash the bytes that you send, and send them again."),
    "UPLOAD_IDLE": (Problem.TIMEOUT, "Send the chunks of an upload without long pauses."),
    "HEADER_MISSING": (Problem.INVALID, "Put the header into the first message of an upload."),
    "CHUNK_TOO_LARGE": (Problem.INVALID, "Send chunks of at most 1 MiB."),
    "REQUEST_INVALID": (Problem.INVALID, "Send a message of the contract, each field once."),
    "OPTIONS_INVALID": (Problem.INVALID, "Correct the field that the error names."),
    "ENGINE_UNKNOWN": (Problem.INVALID, "Use an engine that GetServerInfo lists."),
    "LANGUAGE_UNKNOWN": (Problem.INVALID, "Install the language pack, or use a listed language."),
    "PAGE_OUT_OF_RANGE": (Problem.INVALID, "Ask for a page between 1 and the document's last."),
    "ANSWER_NOT_JSON": (
        Problem.INVALID,
        "Send one JSON value without duplicate keys, NaN or text.",
    ),
    "ANSWER_TOO_LARGE": (Problem.INVALID, "Send fewer or smaller fields at once."),
    "FIELDS_INVALID": (Problem.INVALID, "Correct the field that the error names."),
    "SCHEMA_INVALID": (Problem.INVALID, "Send a JSON Schema whose root is an object."),
    "DOCUMENT_ID_INVALID": (Problem.INVALID, "Use the id that UploadDocument returned."),
    "PAGE_TOKEN_INVALID": (Problem.INVALID, "Use the token of the last response unchanged."),
    "TOKEN_INVALID": (
        Problem.UNAUTHENTICATED,
        "Send `authorization: Bearer TOKEN` with a valid token.",
    ),
    "DOCUMENT_NOT_FOUND": (Problem.NOT_FOUND, "Upload it again; it may have expired."),
    "DOCUMENT_NOT_READY": (Problem.NOT_READY, "Follow it with WatchDocument until READY."),
    "DOCUMENT_FAILED": (Problem.NOT_READY, "Read its failure; upload a file that can be read."),
    "DOCUMENT_DAMAGED": (Problem.DAMAGED, "Delete it if it is there, and upload it again."),
    "NO_PIXELS": (Problem.NOT_READY, "Upload the document itself, with the reading beside it."),
    "QUEUE_FULL": (Problem.BUSY, "Wait as long as RetryInfo says, then upload again."),
    "MEMORY_LOW": (Problem.BUSY, "Wait as long as RetryInfo says, then upload again."),
    "DISK_FULL": (Problem.BUSY, "Free disk space on the server."),
    "SERVER_BUSY": (Problem.BUSY, "Wait as long as RetryInfo says, then call again."),
    "STORE_UNREACHABLE": (Problem.UNAVAILABLE, "Call again; look at the object store if it stays."),
    "STATE_UNKNOWN": (Problem.UNAVAILABLE, "Call again, or upload it again after the upgrade."),
    "VERIFY_TIMEOUT": (Problem.TIMEOUT, "Send fewer fields or shorter proofs at once."),
    "VERIFY_CRASHED": (
        Problem.INTERNAL,
        "Call again; send fewer fields at once if it stays, and report it.",
    ),
    "INTERNAL": (Problem.INTERNAL, "Call again; report it if it stays."),
    # Failures of a document or page, after the upload.
    "PDF_ENCRYPTED": (Problem.INVALID, "Upload it with options.password set."),
    "PDF_PASSWORD_WRONG": (Problem.INVALID, "Upload it with the right options.password."),
    "FILE_CORRUPT": (Problem.INVALID, "Open and save it again with the program that made it."),
    "NO_PAGES": (Problem.INVALID, "Send a file with at least one page."),
    "TOO_MANY_PAGES": (Problem.INVALID, "Split it, or ask for a range with first_page, last_page."),
    "PAGE_TOO_LARGE": (Problem.INVALID, "Send it at a lower resolution."),
    "PAGE_TOO_SMALL": (Problem.INVALID, "Send an image of at least 16 x 16 pixels."),
    "PAGE_TIMEOUT": (Problem.TIMEOUT, "Simplify the page, or raise page-timeout-s."),
    "PAGE_MEMORY": (Problem.INVALID, "Lower options.dpi, or raise worker-memory-mb."),
    "PAGE_CRASHED": (Problem.INTERNAL, "Send the page as an image."),
    "RASTER_FAILED": (Problem.INVALID, "Open and save it again with the program that made it."),
    # Warnings.
    "HIDDEN_TEXT": (
        Problem.INVALID,
        "Look at the page: the file holds text that it does not show.",
    ),
    "PAGE_DAMAGED": (
        Problem.INVALID,
        "Open and save it again with the program that made it; nulls go to review.",
    ),
    "PAGES_FAILED": (Problem.INVALID, "Look at each failed page's own failure."),
    "DPI_LOWERED": (Problem.INVALID, "The page is too large for the resolution asked for."),
    "TEXT_MISMATCH": (Problem.INVALID, "The text layer says other words than the page shows."),
    "TABLE_DOUBTFUL": (Problem.INVALID, "Words of a table do not fit its rows and columns well."),
}


@dataclass
class VisualProofError(Exception):
    """An error with a stable code. The message never contains document text."""

    code: str
    message: str
    metadata: dict[str, str] = field(default_factory=dict)
    retry_after_s: float = 0.0
    field_path: str = ""

    def __post_init__(self) -> None:
        Exception.__init__(self, self.code, self.message)

    def __reduce__(self) -> tuple[object, ...]:
        return (
            VisualProofError,
            (self.code, self.message, self.metadata, self.retry_after_s, self.field_path),
        )


# What a disk says that is full, over a quota, or not to be written.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_NO_HANDLES = frozenset({errno.EMFILE, errno.ENFILE})
_RETRY_S = 15.0


def of_system(error: OSError) -> VisualProofError | None:
    """What callers see of an error of the operating system, None where it is none of theirs.

    Errors DISK_FULL, SERVER_BUSY.
    """
    if error.errno in _NO_ROOM:
        text = f"The server's disk cannot be written ({error.strerror}); try again later."
        return VisualProofError("DISK_FULL", text, retry_after_s=_RETRY_S)
    if error.errno in _NO_HANDLES:
        text = "The server has too much open; try again shortly."
        return VisualProofError("SERVER_BUSY", text, retry_after_s=_RETRY_S)
    return None
