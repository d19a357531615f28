"""The common part of the reverse proxies that tests put before a Host: a process, and a name with TLS."""

import datetime
import ipaddress
import os
import shutil
import ssl
import subprocess
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from parlour.testing.network import free_port

from .harness import ROOT, eventually

GUIDE = ROOT / "docs" / "operate" / "reverse-proxy.md"
UPSTREAM = "127.0.0.1:5300"
PREFIX = "/chat"
"""The path prefix that the guide uses."""


class TlsProxy:
    """Serves one name with TLS on a free port. The upstream is set before it starts."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.environment = dict(os.environ)
        folder.mkdir(parents=True)
        self._certificate()

    @property
    def url(self) -> str:
        return f"https://{self._name}:{self._port}"

    @property
    def local_url(self) -> str:
        """Returns the address of the same server without its name, which no name service knows."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def host(self) -> str:
        """Returns the Host header that a client sends."""
        return f"{self._name}:{self._port}"

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self._folder / "certificate.pem"))

    def start(self, upstream: str, below_prefix: bool = False, keeps_prefix: bool = True) -> None:
        """Passes all requests to `upstream`. `below_prefix` limits that to requests below the guide's prefix."""
        raise NotImplementedError

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def _run(self, *command: str) -> None:
        with (self._folder / "output.txt").open("wb") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, cwd=self._folder, env=self.environment
            )
        eventually(self._listens, f"the proxy listens: {self._output()}")

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._output()
        return (self._folder / "pid").exists() and (self._folder / "pid").read_text().strip() != ""

    def _output(self) -> str:
        return (self._folder / "output.txt").read_text()

    def _certificate(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, self._name)])
        now = datetime.datetime.now(datetime.UTC)
        names = [x509.DNSName(self._name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        made = (
            x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        (self._folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        plain = serialization.NoEncryption()
        written = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        (self._folder / "key.pem").write_bytes(written)


def program(name: str, path: str) -> str:
    """Returns the path of a program that is on the PATH, or unpacked below `.tools`."""
    found = shutil.which(name) or str(ROOT / ".tools" / name / path)
    assert Path(found).exists(), f"there is no {name}; make {name} brings it"
    return found
