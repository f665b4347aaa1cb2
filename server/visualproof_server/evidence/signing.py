"""Signatures by Ed25519 (RFC 8032); needs the package cryptography, the extra `signing`."""

import base64
import json
from pathlib import Path

_ALGORITHM = "Ed25519"


class Signer:
    """Signs with a private key in PEM (PKCS 8), as `openssl genpkey -algorithm ed25519` makes."""

    def __init__(self, key_file: Path) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(key_file.read_bytes(), None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError(f"{key_file} holds no Ed25519 key")
        self._key = key

    def sign(self, data: bytes) -> bytes:
        """JSON with algorithm, public key and signature, both in Base64; the same each time."""
        public = self._key.public_key().public_bytes_raw()
        body = {
            "algorithm": _ALGORITHM,
            "public_key": base64.b64encode(public).decode(),
            "signature": base64.b64encode(self._key.sign(data)).decode(),
        }
        return json.dumps(body, indent=1, sort_keys=True).encode() + b"\n"


def checked_signature(data: bytes, signature: bytes) -> tuple[str, str]:
    """(public key in hex, "") if the signature is right, else ("", what is wrong).

    ImportError without the package cryptography.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        body = json.loads(signature)
        public = base64.b64decode(body["public_key"], validate=True)
        key = Ed25519PublicKey.from_public_bytes(public)
        if body["algorithm"] != _ALGORITHM:
            return "", "the algorithm is unknown"
        # Base64 has spare bits: only the one spelling that `sign` writes counts.
        key.verify(base64.b64decode(body["signature"], validate=True), data)
        spelled = {
            "algorithm": _ALGORITHM,
            "public_key": base64.b64encode(public).decode(),
            "signature": base64.b64encode(base64.b64decode(body["signature"])).decode(),
        }
        if signature != json.dumps(spelled, indent=1, sort_keys=True).encode() + b"\n":
            return "", "it is not spelled as signatures are"
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return "", "the signature is wrong"
    return public.hex(), ""


def public_key_hex(pem: bytes) -> str:
    """The 32 bytes of a public key in PEM, as `openssl pkey -pubout` writes it, in hex."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(pem)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("the public key is no Ed25519 key")
    return key.public_bytes_raw().hex()
