"""Tests connections of protocols of lines: TLS from the start and later, untrusted certificates, silence and cuts."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from parlour.core.platforms.port import PlatformOffline, PlatformUncertain
from parlour.platforms._kit.line_connection import LineConnection, NoAnswer, ServerAddress

SERVICE = "the mail server"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a certificate for 127.0.0.1 that its own authority has signed, in one file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests of Parlour")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("certificate") / "server.pem"
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


class Server:
    """Repeats lines. `TLS` protects the connection, `CUT` breaks it, and `WAIT` gets no answer."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            match line.strip():
                case b"TLS":
                    writer.write(b"go ahead\r\n")
                    await writer.drain()
                    await writer.start_tls(self._context)
                case b"CUT":
                    writer.transport.abort()
                    return
                case b"WAIT":
                    pass
                case _:
                    writer.write(line)
        writer.close()


@pytest.fixture
async def server(certificate: Path) -> AsyncIterator[Server]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    made = Server(context)
    plain = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = plain.sockets[0].getsockname()[1]
    yield made
    plain.close()


@pytest.fixture
async def tls_port(certificate: Path) -> AsyncIterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(Server(context).serve, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def _repeats(connection: LineConnection, text: bytes) -> None:
    await connection.send(text + b"\r\n")
    assert await connection.read_line() == text


async def test_tls_from_the_start_works_with_a_trusted_certificate(
    tls_port: int, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connection = await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", tls_port, "tls"))
    await _repeats(connection, "grüße".encode())
    connection.close()


async def test_starttls_protects_an_open_connection(
    server: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connection = await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", server.port, "starttls"))
    await connection.send(b"TLS\r\n")
    assert await connection.read_line() == b"go ahead"
    await connection.start_tls()
    await _repeats(connection, b"protected")
    connection.close()


async def test_an_untrusted_certificate_is_refused_in_words(server: Server, tls_port: int) -> None:
    with pytest.raises(PlatformOffline, match="the mail server can't be reached: its certificate is not trusted"):
        await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", tls_port, "tls"))
    connection = await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", server.port, "starttls"))
    await connection.send(b"TLS\r\n")
    await connection.read_line()
    with pytest.raises(PlatformOffline, match="its certificate is not trusted"):
        await connection.start_tls()
    connection.close()


async def test_silence_and_a_cut_are_told_apart(server: Server) -> None:
    connection = await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", server.port, "none"))
    await connection.send(b"WAIT\r\n")
    with pytest.raises(NoAnswer, match="did not answer in time"):
        await connection.read_line(0.05)
    await _repeats(connection, b"still open")
    await connection.send(b"CUT\r\n")
    with pytest.raises(PlatformUncertain, match="ended"):
        await connection.read_line()
    with pytest.raises(PlatformOffline, match="can't be reached"):
        await LineConnection.open(SERVICE, ServerAddress("127.0.0.1", 1, "none"))
