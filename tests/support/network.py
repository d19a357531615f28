"""Provides a network between two processes that a test can cut, silence and restore."""

import contextlib
import socket
import threading
from collections.abc import Iterator

BLOCK = 64 * 1024


class Network:
    """Carries bytes between its clients and one address."""

    def __init__(self, host: str, port: int) -> None:
        self._upstream = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[socket.socket] = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._is_open = True
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._listener.getsockname()[1]}"

    def redirect(self, url: str) -> None:
        """Connects clients with another address from now on."""
        host, _, port = url.removeprefix("ws://").rpartition(":")
        self._upstream = (host, int(port))

    def cut(self) -> None:
        """Breaks every connection and prevents new ones."""
        self._is_open = False
        for each in self._pairs:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def silence(self) -> None:
        """Keeps connections open and lets nothing through."""
        self._flowing.clear()

    def restore(self) -> None:
        self._is_open = True
        self._flowing.set()

    def close(self) -> None:
        self.cut()
        self._flowing.set()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                if not self._is_open:
                    here.close()
                    continue
                upstream = socket.create_connection(self._upstream)
                self._pairs += (here, upstream)
                for pair in ((here, upstream), (upstream, here)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := source.recv(BLOCK):
                self._flowing.wait()
                target.sendall(block)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def network_to(url: str) -> Iterator[Network]:
    host, _, port = url.removeprefix("ws://").rpartition(":")
    network = Network(host, int(port))
    try:
        yield network
    finally:
        network.close()
