"""Provides a client that speaks HTTP byte by byte, for requests that no ordinary client sends."""

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

from .harness import Host

SECONDS = 30.0


class RawClient:
    """Represents one connection: `with RawClient(host) as client`."""

    def __init__(self, host: Host, address: str = "127.0.0.1", receive_buffer: int = 0) -> None:
        self._socket = socket.socket()
        if receive_buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(SECONDS)
        self._socket.connect((address, urlsplit(host.address).port or 80))

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def get(self, path: str, *headers: str) -> None:
        lines = (f"GET {path} HTTP/1.1", "Host: localhost", *headers)
        self.send("".join(f"{line}\r\n" for line in (*lines, "")).encode())

    def answer(self) -> tuple[int, Any]:
        """Reads one answer and returns its status and its JSON body."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._some()
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        sizes = [line.partition(":")[2] for line in lines if line.lower().startswith("content-length")]
        while len(body) < int(sizes[0]):
            body += self._some()
        return int(lines[0].split(" ")[1]), json.loads(body)

    def _some(self) -> bytes:
        got = self._socket.recv(65536)
        assert got, "the Host closed the connection"
        return got

    def rest(self, trickle: bytes = b"") -> bytes:
        """Reads until the Host closes the connection. It sends `trickle` repeatedly while it reads, byte by byte."""
        received, end = b"", time.monotonic() + SECONDS
        self._socket.settimeout(0.05 if trickle else SECONDS)
        while time.monotonic() < end:
            try:
                got = self._socket.recv(65536)
            except TimeoutError:
                self._socket.sendall(trickle)
                continue
            except ConnectionResetError:
                return received
            if not got:
                return received
            received += got
        raise AssertionError("the Host keeps the connection open")
