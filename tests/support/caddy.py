"""Runs a real Caddy before a Host, with the configuration of the guide, from the distribution's package."""

import re
import socket
import subprocess
from contextlib import closing
from urllib.parse import urlsplit

from .harness import ROOT
from .tls_proxy import GUIDE, UPSTREAM, TlsProxy, program

OPTIONS = "{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_sni NAME\n}\n"
"""Options that tests need, since Caddy would fetch certificates and use ports of the whole machine."""


class Caddy(TlsProxy):
    def start(self, upstream: str, below_prefix: bool = False, keeps_prefix: bool = True) -> None:
        own, below = re.findall(r"```caddyfile\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        assert keeps_prefix, "the guide's Caddy passes the prefix on"
        address, _, rest = (below if below_prefix else own).partition(" {\n")
        assert address.endswith("example.org")
        tls = f'\tbind 127.0.0.1\n\ttls "{self._folder / "certificate.pem"}" "{self._folder / "key.pem"}"\n'
        site = f"{self.url} {{\n{tls}{rest}".replace(UPSTREAM, f"127.0.0.1:{urlsplit(upstream).port}")
        file = self._folder / "Caddyfile"
        file.write_text(OPTIONS.replace("NAME", self._name) + site)
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            self.environment[name] = str(self._folder)
        packages = ROOT / "tools" / "debian_packages.sh"
        subprocess.run([packages, ROOT / ".tools" / "caddy", "caddy", "caddy"], check=True)
        self._run(program("caddy", "usr/bin/caddy"), "run", "--config", str(file), "--adapter", "caddyfile")

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._output()
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
