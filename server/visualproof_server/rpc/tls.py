"""TLS and mutual TLS; certificates are read again when their files change."""

from pathlib import Path

import grpc


def credentials(cert: Path, key: Path, client_ca: Path | None) -> grpc.ServerCredentials:
    """Credentials of a server; with client_ca, callers must show a certificate that it signed.

    OSError for a file that cannot be read.
    """
    files = [cert, key, *([client_ca] if client_ca else [])]

    def configuration() -> grpc.ServerCertificateConfiguration:
        roots = client_ca.read_bytes() if client_ca else None
        return grpc.ssl_server_certificate_configuration(
            [(key.read_bytes(), cert.read_bytes())], root_certificates=roots
        )

    def stamps() -> list[int]:
        return [file.stat().st_mtime_ns for file in files]

    seen = stamps()

    def changed() -> grpc.ServerCertificateConfiguration | None:
        """Asked at each handshake; None keeps what there is."""
        nonlocal seen
        try:
            now = stamps()
            if now == seen:
                return None
            made = configuration()
        except OSError:
            # Half of a pair was replaced: the next handshake asks again.
            return None
        seen = now
        return made

    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        changed,  # type: ignore[arg-type]  # The stubs know no None.
        require_client_authentication=client_ca is not None,
    )
