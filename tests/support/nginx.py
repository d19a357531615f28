"""Runs a real nginx before a Host, with the configuration of the guide. `make nginx` installs the program."""

import getpass
import re
from urllib.parse import urlsplit

from .tls_proxy import GUIDE, PREFIX, UPSTREAM, TlsProxy, program

__all__ = ["PREFIX", "Nginx"]


class Nginx(TlsProxy):
    def start(self, upstream: str, below_prefix: bool = False, keeps_prefix: bool = True, bare: bool = False) -> None:
        """Passes all requests to `upstream`. `bare` leaves out all headers of the guide."""
        port = urlsplit(upstream).port
        passed = f"http://127.0.0.1:{port}" + ("" if keeps_prefix else "/")
        server, upgrade, location = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        if below_prefix:
            server = re.sub(r"    location / \{.*?\n    \}\n", lambda _: location, server, flags=re.DOTALL)
        server = (
            server.replace(f"http://{UPSTREAM}", passed)
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
        nginx = program("nginx", "usr/sbin/nginx")
        self._run(nginx, "-p", str(self._folder), "-c", "nginx.conf", "-e", "error.log")
