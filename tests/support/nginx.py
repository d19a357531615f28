"""Runs a real nginx before a Host, with the configuration of the guide. `make nginx` installs the program."""

import datetime
import getpass
import ipaddress
import re
import shutil
import ssl
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from parlour.testing.network import free_port

from .harness import ROOT, eventually

GUIDE = ROOT / "docs" / "operate" / "reverse-proxy.md"
UPSTREAM = "http://127.0.0.1:5300"
PREFIX = "/chat"
"""The path prefix that the guide uses."""


def program() -> str:
    found = shutil.which("nginx") or str(ROOT / ".tools" / "nginx" / "usr" / "sbin" / "nginx")
    assert Path(found).exists(), "there is no nginx; make nginx brings it"
    return found


class Nginx:
    """Serves one name with TLS on a free port. The upstream is set before it starts."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
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

    def start(self, upstream: str, below_prefix: bool = False, keeps_prefix: bool = True, bare: bool = False) -> None:
        """Passes all requests to `upstream`. `below_prefix` limits that to requests below the guide's prefix; `bare`
        leaves out all headers of the guide.
        """
        port = urlsplit(upstream).port
        passed = f"http://127.0.0.1:{port}" + ("" if keeps_prefix else "/")
        server, upgrade, location = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        if below_prefix:
            server = re.sub(r"    location / \{.*?\n    \}\n", lambda _: location, server, flags=re.DOTALL)
        server = (
            server.replace(UPSTREAM, passed)
            .replace("listen 443", f"listen 127.0.0.1:{self._port}")
            .replace("chat.example.org;", f"{self._name};", 1)
            .replace("/etc/ssl/chat.example.org.pem", f'"{self._folder / "certificate.pem"}"')
            .replace("/etc/ssl/chat.example.org.key", f'"{self._folder / "key.pem"}"')
        )
        if bare:
            server = re.sub(r" *proxy_(set_header|http_version) .*\n", "", server)
        places = "".join(
            f'{kind}_temp_path "{self._folder / kind}";\n'
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self._folder / "nginx.conf").write_text(
            f'daemon off; pid "{self._folder / "pid"}"; error_log "{self._folder / "error.log"}";\n'
            f"user {getpass.getuser()}; worker_processes 1; events {{}}\n"
            f"http {{\naccess_log off;\n{places}{upgrade}{server}}}\n"
        )
        command = [program(), "-p", str(self._folder), "-c", "nginx.conf", "-e", "error.log"]
        with (self._folder / "output.txt").open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output)
        eventually(self._listens, f"nginx listens: {self._output()}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

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
