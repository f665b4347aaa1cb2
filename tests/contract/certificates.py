"""A certificate authority for tests."""

import datetime
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class Authority:
    """Signs certificates; `pem` is its own."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str) -> tuple[bytes, bytes]:
        """(certificate, key) in PEM, good for localhost."""
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        made = (
            _builder(name, self.certificate.subject, key)
            .add_extension(x509.SubjectAlternativeName(hosts), False)
            .sign(self.key, hashes.SHA256())
        )
        return made.public_bytes(serialization.Encoding.PEM), _pem(key)

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """The same as files."""
        certificate, key = self.issue(name)
        files = folder / f"{name}.pem", folder / f"{name}.key"
        files[0].write_bytes(certificate)
        files[1].write_bytes(key)
        return files


def authority(name: str) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        _builder(name, subject, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    return Authority(key, made)


def _builder(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
