"""What a document is called."""

import hashlib
import hmac
import json

from visualproof_server.model import codec
from visualproof_server.model.document import ReadOptions


def document_id(
    sha256: str, options: ReadOptions, reader_version: str, tenant: str, key: bytes
) -> str:
    """Hash of bytes, options with defaults filled in, and reader version: 32 hex digits.

    With tenants it is keyed: who knows a document's hash cannot tell another tenant's id.
    """
    identity = json.dumps([sha256, codec.dumps(options).decode(), reader_version])
    if tenant:
        return hmac.new(key, f"{tenant}\n{identity}".encode(), hashlib.sha256).hexdigest()[:32]
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
