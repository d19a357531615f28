"""A forward proxy through which the sandboxed installer reaches the package indexes and no other host.

It listens on a Unix socket; `index_relay` connects the sandbox to it. HTTPS passes through it encrypted (CONNECT),
plain HTTP as single GET and HEAD requests. The proxy that the operator has set, if any, is used from here.
"""

import asyncio
import base64
import contextlib
import logging
import ssl
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from parlour.core.addresses import authority
from parlour.isolation.subprocesses import OnLine

from .index_settings import HostPort, parse_address

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 30.0
HEAD_SECONDS = 30.0
CHUNK_BYTES = 64 * 1024
_HEAD_END = b"\r\n\r\n"
_HOP_BY_HOP_HEADERS = (b"connection:", b"proxy-", b"keep-alive:", b"te:", b"upgrade:")


class ProxyUnusable(OSError):
    """Raised when the operator's proxy can't be used for a connection."""


class IndexProxy:
    def __init__(self, allowed: frozenset[HostPort], proxies: Mapping[str, str], on_line: OnLine) -> None:
        self._allowed = allowed
        self._proxies = dict(proxies) | getproxies_environment()
        self._on_line = on_line
        self._blocked: dict[str, None] = {}

    @property
    def blocked(self) -> list[str]:
        """Hosts that the installer asked for and that are no index."""
        return list(self._blocked)

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[Path]:
        """Yields the path of the socket. It is in a folder of its own, since the path of a socket must be short."""
        with tempfile.TemporaryDirectory(prefix="parlour-index-") as folder:
            socket_path = Path(folder, "socket")
            server = await asyncio.start_unix_server(self._serve, socket_path, limit=CHUNK_BYTES)
            try:
                yield socket_path
            finally:
                server.close()  # connections end with the sandbox

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(_HEAD_END)
            await self._answer(head, reader, writer)
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError) as error:
            logger.debug("a connection of the installer ended: %s", error)
        finally:
            writer.close()

    async def _answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request_line, _, headers = head.partition(b"\r\n")
        method, target, _ = request_line.decode("ascii").split(" ", 2)
        secure = method == "CONNECT"
        url = f"https://{target}" if secure else target
        if not secure and (method not in ("GET", "HEAD") or not url.startswith("http://")):
            _refuse(writer, "405 Method Not Allowed")
            return
        address = parse_address(url)
        if address not in self._allowed:
            self._block(address)
            _refuse(writer, "403 Forbidden")
            return
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                upstream = await self._connect(address, secure)
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError) as error:
            self._on_line(f"{authority(*address)} can't be reached: {error or 'no answer in time'}")
            _refuse(writer, "502 Bad Gateway")
            return
        with contextlib.closing(upstream[1]):
            if secure:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _tunnel((reader, writer), upstream)
            else:
                upstream[1].write(self._request(method, url, headers))
                await _pump(upstream[0], writer)

    def _block(self, address: HostPort) -> None:
        target_text = authority(*address)
        if target_text not in self._blocked:
            self._blocked[target_text] = None
            self._on_line(f"blocked a connection to {target_text}, which is none of the package indexes")

    async def _connect(self, address: HostPort, secure: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connects to the index, through the operator's proxy if there is one for it."""
        proxy = self._proxy(address, secure)
        if proxy is None:
            return await asyncio.open_connection(*address)
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https"):
            raise ProxyUnusable(f"a proxy must be http:// or https://, and {parts.scheme}:// is set")
        secured = ssl.create_default_context() if parts.scheme == "https" else None
        reader, writer = await asyncio.open_connection(*parse_address(proxy), ssl=secured)
        if secure:
            target_text = authority(*address)
            login = _proxy_authorization(proxy)
            writer.write(f"CONNECT {target_text} HTTP/1.1\r\nHost: {target_text}\r\n{login}\r\n".encode())
            answer = await reader.readuntil(_HEAD_END)
            status = answer.split(b" ", 2)[1:2]
            if status != [b"200"]:
                writer.close()
                status_text = status[0].decode("ascii", "replace") if status else "no status"
                raise ProxyUnusable(f"the proxy {parts.hostname} answers {status_text}")
        return reader, writer

    def _proxy(self, address: HostPort, secure: bool) -> str | None:
        if proxy_bypass(authority(*address)):  # as NO_PROXY says
            return None
        proxy = self._proxies.get("https" if secure else "http") or self._proxies.get("all")
        return proxy if not proxy or "://" in proxy else f"http://{proxy}"

    def _request(self, method: str, url: str, headers: bytes) -> bytes:
        """Returns the request for the next hop. It is the only one on its connection, so the host can't change."""
        forwarded_headers = [
            line for line in headers.split(b"\r\n") if line and not line.lower().startswith(_HOP_BY_HOP_HEADERS)
        ]
        proxy = self._proxy(parse_address(url), secure=False)
        parts = urlsplit(url)
        target = url if proxy else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        login = _proxy_authorization(proxy).encode() if proxy else b""
        request_line = f"{method} {target} HTTP/1.1".encode()
        return b"\r\n".join([request_line, *forwarded_headers, b"Connection: close", b""]) + login + b"\r\n"


def _proxy_authorization(proxy: str) -> str:
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"


def _refuse(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())


async def _tunnel(
    client: tuple[asyncio.StreamReader, asyncio.StreamWriter], server: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Ends when either side has ended."""
    pumps = [asyncio.create_task(_pump(client[0], server[1])), asyncio.create_task(_pump(server[0], client[1]))]
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()
