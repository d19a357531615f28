"""An HTTP and SOCKS5 proxy as a process of its own: `python -m parlour.testing.proxy_server`.

Names are mapped to addresses of this machine, so that a test can show that a request went through the proxy: nothing
else knows these names. Each connection is written as a line of standard output.
"""

import argparse
import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from threading import Thread
from urllib.parse import urlsplit

WAIT_SECONDS = 20.0
SOCKS_VERSION = 5
SOCKS_PASSWORD = 2
SOCKS_NAME = 3


class ProxyServer:
    """A running proxy process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()
        self.port = int(self._lines.get(timeout=WAIT_SECONDS))

    def next_target(self) -> str:
        """Waits for the next connection and returns its kind and target, as `connect host:port`."""
        return self._lines.get(timeout=WAIT_SECONDS)

    def targets(self) -> list[str]:
        """Returns the connections since the last call, without waiting."""
        lines: list[str] = []
        with suppress(Empty):
            while True:
                lines.append(self._lines.get_nowait())
        return lines

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())


@contextmanager
def running_proxy(names: Mapping[str, str] | None = None, credentials: str = "") -> Iterator[ProxyServer]:
    """Starts a proxy. `names` maps `host:port` to an address of this machine; `credentials` are `user:password`."""
    options = [f"--map={name}={address}" for name, address in (names or {}).items()]
    command = [sys.executable, "-m", "parlour.testing.proxy_server", *options, f"--credentials={credentials}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        yield ProxyServer(process)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


class _Proxy:
    def __init__(self, names: Mapping[str, str], credentials: str) -> None:
        self._names = names
        self._credentials = credentials

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first = await reader.readexactly(1)
            if first[0] == SOCKS_VERSION:
                await self._socks(reader, writer)
            else:
                await self._http(first, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _http(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = first + await reader.readuntil(b"\r\n\r\n")
        request, *headers = head.decode().split("\r\n")
        method, target, version = request.split()
        authorization = next((each for each in headers if each.lower().startswith("proxy-authorization:")), "")
        expected = base64.b64encode(self._credentials.encode()).decode()
        if self._credentials and not authorization.endswith(f"Basic {expected}"):
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        if method == "CONNECT":
            await self._relay("connect", target, reader, writer, answer=b"HTTP/1.1 200 OK\r\n\r\n")
            return
        parts = urlsplit(target)
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        kept = [each for each in headers if not each.lower().startswith(("proxy-", "connection:"))]
        lines = [f"{method} {path} {version}", "Connection: close", *kept]
        target = f"{parts.hostname}:{parts.port or 80}"
        await self._relay("forward", target, reader, writer, request="\r\n".join(lines).encode())

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        chosen = SOCKS_PASSWORD if self._credentials else 0
        writer.write(bytes([SOCKS_VERSION, chosen if chosen in methods else 0xFF]))
        if chosen not in methods:
            return
        if chosen:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            matches = f"{user.decode()}:{password.decode()}" == self._credentials
            writer.write(bytes([1, 0 if matches else 1]))
            if not matches:
                return
        _, _, _, kind = await reader.readexactly(4)
        if kind == SOCKS_NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = ".".join(str(byte) for byte in await reader.readexactly(4))
        port = int.from_bytes(await reader.readexactly(2), "big")
        answer = bytes([SOCKS_VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        await self._relay("socks", f"{host}:{port}", reader, writer, answer=answer)

    async def _relay(
        self,
        kind: str,
        target: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answer: bytes = b"",
        request: bytes = b"",
    ) -> None:
        sys.stdout.write(f"{kind} {target}\n")
        host, _, port = self._names.get(target, target).rpartition(":")
        try:
            remote_reader, remote_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            refused = bytes([SOCKS_VERSION, 5, 0, 1, 0, 0, 0, 0, 0, 0])
            writer.write(refused if kind == "socks" else b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(answer)
        remote_writer.write(request)
        try:
            await asyncio.gather(_copy(reader, remote_writer), _copy(remote_reader, writer))
        finally:
            remote_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--map", action="append", default=[])
    parser.add_argument("--credentials", default="")
    options = parser.parse_args()
    names = {name: address for name, _, address in (each.partition("=") for each in options.map)}
    server = await asyncio.start_server(_Proxy(names, options.credentials).serve_connection, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
