"""Runs a Host on an internet of the test: names have configured addresses, and every connection to a public address
ends at one port of this machine. Everything else is unchanged.

`python -m parlour.testing.small_internet_host DATA FILE`. FILE has `names`, with the addresses of the first lookup of
each name, of the second and so on, of which the last ones stay; and `port`.
"""

import json
import socket
import sys
from collections import Counter
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from unittest.mock import patch

import uvloop

from parlour.app.host import HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve
from parlour.network.address_guard import is_public


class SmallInternet(uvloop.Loop):
    def __init__(self, names: dict[str, list[list[str]]], port: int) -> None:
        super().__init__()
        self._names = names
        self._looked_up: Counter[str] = Counter()
        self._port = port

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> list[Any]:
        if host not in self._names:
            return await super().getaddrinfo(host, port, **options)
        times = self._names[host]
        addresses = times[min(self._looked_up[host], len(times) - 1)]
        self._looked_up[host] += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (each, port)) for each in addresses]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        public = sock.family == socket.AF_INET and is_public(ip_address(address[0]))
        await super().sock_connect(sock, ("127.0.0.1", self._port) if public else address)


def main(data: str, file: str) -> None:
    config = json.loads(Path(file).read_text())
    with patch.object(serve, "loop_factory", lambda: lambda: SmallInternet(config["names"], config["port"])):
        serve.run(load(None, {"data": Path(data), "http.port": 0}), HostExtensions())


if __name__ == "__main__":
    main(*sys.argv[1:])
