"""Tests that requests go through the proxy of the configuration or of the environment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from parlour_sdk.agents.http_agent.proxies import find_proxy
from parlour_sdk.testing import FakeHost

from .toy import ToyRig

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class ForwardProxy:
    """A proxy that speaks SOCKS5 and plain HTTP, and connects every request to one port."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.names: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(1)
        if first == b"\x05":
            await reader.readexactly((await reader.readexactly(1))[0])
            writer.write(b"\x05\x00")
            header = await reader.readexactly(4)
            length = (await reader.readexactly(1))[0] if header[3] == 3 else 4
            address = await reader.readexactly(length)
            await reader.readexactly(2)
            self.names.append(address.decode() if header[3] == 3 else ".".join(map(str, address)))
            writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
            first = b""
        else:
            first += await reader.readline()
            self.names.append(first.split()[1].decode())
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self._target)
        upstream_writer.write(first)
        await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def proxy_to(rig: ToyRig) -> AsyncIterator[tuple[ForwardProxy, int]]:
    proxy = ForwardProxy(int(rig.service.url.rpartition(":")[2]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    try:
        yield proxy, server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.mark.parametrize(
    ("scheme", "name"),
    [("http", "http://service.invalid/chat"), ("socks5", "service.invalid"), ("socks5h", "service.invalid")],
)
@pytest.mark.parametrize("source", ["configuration", "environment"])
async def test_a_request_goes_through_the_proxy_which_resolves_the_name(
    monkeypatch: pytest.MonkeyPatch, scheme: str, name: str, source: str
) -> None:
    async with ToyRig() as rig, proxy_to(rig) as (proxy, port):
        config = {**rig.config(), "base_url": "http://service.invalid"}
        if source == "configuration":
            config["proxy"] = f"{scheme}://127.0.0.1:{port}"
        else:
            monkeypatch.setenv("ALL_PROXY", f"{scheme}://127.0.0.1:{port}")
        run = await FakeHost().run(rig.plugin, "hello", config=config)
        assert run.text == "Hello there", run
        assert proxy.names == [name]


async def test_a_proxy_that_is_down_is_a_failure_of_the_service() -> None:
    async with ToyRig() as rig:
        for scheme in ("http", "socks5"):
            config = {**rig.config(), "proxy": f"{scheme}://127.0.0.1:1"}
            assert (await FakeHost().run(rig.plugin, "hello", config=config)).failed_with("toy.unavailable")


def test_the_environment_decides_by_scheme_and_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://one:1")
    monkeypatch.setenv("ALL_PROXY", "socks5://two:2")
    monkeypatch.setenv("NO_PROXY", "internal,.example.org")
    assert find_proxy("https://x", None) == "http://one:1"
    assert find_proxy("http://x", None) == "socks5://two:2"
    assert find_proxy("http://internal:8080", None) is None
    assert find_proxy("https://a.example.org", None) is None
    assert find_proxy("https://x", "direct") is None
    assert find_proxy("http://internal", "http://three:3") == "http://three:3"
