"""Runs a web server that receives webhooks and gives the answers that a test sets."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body)["event"])


class Hooks:
    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: deque[tuple[int, Any]] = deque()
        """Status and JSON body of each answer to come; without any it answers 200 and nothing."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in"

    @contextmanager
    def serving(self) -> Iterator["Hooks"]:
        hooks = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, answer = hooks.answers.popleft() if hooks.answers else (200, None)
                content = json.dumps(answer).encode() if answer is not None else b""
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                hooks.received.append(Received(self.path, headers, body))

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
