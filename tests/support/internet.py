"""Provides a small internet for a real Host: names that resolve as a test sets, a web server with hostile pages, and an
internal server that must not be reached.
"""

import json
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from .harness import Host

PUBLIC = "93.184.216.34"
INSIDE = "127.0.0.1"
GIGABYTE = 1024**3
BLOCK = b"all work and no play " * 3000


class InternetHost(Host):
    def __init__(self, folder: Path, names: Mapping[str, list[list[str]]], port: int, **environment: object) -> None:
        super().__init__(folder, **environment)
        self._internet = folder / "internet.json"
        self._internet.write_text(json.dumps({"names": names, "port": port}))

    def _command(self) -> list[str]:
        module = "parlour.testing.small_internet_host"
        return [sys.executable, "-m", module, str(self.data), str(self._internet)]


class Web(ThreadingHTTPServer):
    """Serves the pages. `requested_urls` lists the requested pages with their hosts, `sent` counts the bytes
    of endless pages.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)
        self.requested_urls: list[str] = []
        self.sent = 0
        self.left = threading.Event()
        """Set when the client of an endless page has disconnected."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def forget(self) -> None:
        self.requested_urls.clear()
        self.sent = 0
        self.left.clear()


class _Pages(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        self.server.requested_urls.append(f"{self.headers['Host'].partition(':')[0]}{address.path}")
        match address.path:
            case "/to":
                self._begin(302, Location=parse_qs(address.query)["url"][0], **{"Content-Length": "0"})
            case "/gigabyte":
                self._begin(200, **{"Content-Length": str(GIGABYTE)})
                self._without_end(BLOCK, 0)
            case "/endless":
                self._begin(200)
                self._without_end(BLOCK, 0)
            case "/dripping":
                self._begin(200)
                self._without_end(b"more ", 0.05)
            case _:
                self._begin(200, **{"Content-Length": "13"})
                self.wfile.write(b"a public page")

    def _begin(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _without_end(self, piece: bytes, pause: float) -> None:
        with suppress(OSError):
            while not self.server.left.wait(pause):
                self.wfile.write(piece)
                self.server.sent += len(piece)
        self.server.left.set()

    def log_message(self, *_: object) -> None:
        """Discards log messages."""


class Inside:
    """Listens at an internal address that must not be reached from outside."""

    def __init__(self) -> None:
        self._listener = socket.create_server((INSIDE, 0))
        self._listener.setblocking(False)
        self.port = int(self._listener.getsockname()[1])

    def was_reached(self) -> bool:
        try:
            self._listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._listener.close()


@contextmanager
def web() -> Iterator[Web]:
    with Web() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.left.set()
        server.shutdown()
        thread.join(30)
