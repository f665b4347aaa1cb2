"""Visual proof: where does the document say so, and does it really?"""

from visualproof._channel import Exported, Picture, PlainTextToken, Prompt
from visualproof._version import __version__
from visualproof.client import Client
from visualproof.errors import (
    CallError,
    CallTimeout,
    DocumentFailed,
    InvalidRequest,
    NotFound,
    NotReady,
    ReportBlocked,
    ServerBusy,
    Unauthenticated,
    Unreachable,
    VisualProofError,
)
from visualproof.report import Action, Anchor, FieldResult, Report, Status
from visualproof.v1.block_pb2 import Block, BlockKind, BoundingBox
from visualproof.v1.document_pb2 import Document, DocumentState, Page
from visualproof.v1.report_pb2 import Evidence, FieldSpec, Policy, Reason, Relation

__all__ = [
    "Action",
    "Anchor",
    "Block",
    "BlockKind",
    "BoundingBox",
    "CallError",
    "CallTimeout",
    "Client",
    "Document",
    "DocumentFailed",
    "DocumentState",
    "Evidence",
    "Exported",
    "FieldResult",
    "FieldSpec",
    "InvalidRequest",
    "NotFound",
    "NotReady",
    "Page",
    "Picture",
    "PlainTextToken",
    "Policy",
    "Prompt",
    "Reason",
    "Relation",
    "Report",
    "ReportBlocked",
    "ServerBusy",
    "Status",
    "Unauthenticated",
    "Unreachable",
    "VisualProofError",
    "__version__",
]
