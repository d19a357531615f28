"""Runs a command in a sandbox without a network and connects it to the Host's index proxy.

It is a program of its own that imports nothing of Parlour: `index_relay.py SOCKET COMMAND...`. It listens on the
sandbox's own loopback, passes every connection on to the socket, and exits with the command's status.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading

CHUNK_BYTES = 64 * 1024
SIGNALLED = 128


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK_BYTES):
            target.sendall(chunk)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def relay(connection: socket.socket, socket_path: str) -> None:
    with connection, socket.socket(socket.AF_UNIX) as proxy:
        try:
            proxy.connect(socket_path)
        except OSError:
            return
        response_thread = threading.Thread(target=pump, args=(proxy, connection), daemon=True)
        response_thread.start()
        pump(connection, proxy)
        response_thread.join()


def accept(listener: socket.socket, socket_path: str) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=relay, args=(connection, socket_path), daemon=True).start()


def main() -> int:
    socket_path, *command = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    threading.Thread(target=accept, args=(listener, socket_path), daemon=True).start()
    proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    variables = {name: proxy for each in ("http_proxy", "https_proxy", "all_proxy") for name in (each, each.upper())}
    status = subprocess.call(command, env=os.environ | variables)
    return SIGNALLED - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
