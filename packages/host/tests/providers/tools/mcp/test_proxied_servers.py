"""MCP servers over HTTP are reached through the proxies of the environment."""

import sys
from collections.abc import Iterator

import pytest

from parlour.core.model.mcp_server import McpServer
from parlour.testing.network import free_port
from parlour.testing.proxy_server import running_proxy

from .real_servers import HERE, RemoteServer, connecting, settled


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    started = RemoteServer(sys.executable, str(HERE / "modern_server.py"), announced="listening").start()
    yield started
    started.kill()


@pytest.mark.parametrize(("scheme", "kind"), [("http", "forward"), ("socks5h", "socks")])
async def test_a_server_is_reached_through_the_proxy(
    server: RemoteServer, scheme: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_proxy({"mcp.test:80": f"127.0.0.1:{server.port}"}, "ann:geheim") as proxy:
        monkeypatch.setenv("http_proxy", f"{scheme}://ann:geheim@127.0.0.1:{proxy.port}")
        async with connecting(McpServer("far", "far", "http", "http://mcp.test/mcp"), allowed=False) as servers:
            status = await settled(servers, "far")
            assert proxy.next_target() == f"{kind} mcp.test:80"
            assert "geheim" not in str(status.last_error)


async def test_a_proxy_that_is_offline_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("http_proxy", f"http://ann:geheim@127.0.0.1:{port}")
    async with connecting(McpServer("far", "far", "http", "http://mcp.test/mcp"), allowed=False) as servers:
        status = await settled(servers, "far")
    assert status.state != "connected"
    assert f"through the proxy http://127.0.0.1:{port}" in str(status.last_error)
    assert "geheim" not in str(status.last_error)
