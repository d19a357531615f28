"""Makes self-signed certificates, for servers of tests and for clients that log in by one."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    public_pem: str
    key_pem: str
    der: bytes

    @property
    def pem(self) -> str:
        """The certificate and its private key."""
        return f"{self.public_pem}{self.key_pem}"


def make_certificate(name: str) -> Certificate:
    """Makes a certificate for a host name, an IP address, or the name of a client."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    try:
        names: list[x509.GeneralName] = [x509.IPAddress(ip_address(name))]
    except ValueError:
        names = [x509.DNSName(name)]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Certificate(
        certificate.public_bytes(Encoding.PEM).decode(),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        certificate.public_bytes(Encoding.DER),
    )
