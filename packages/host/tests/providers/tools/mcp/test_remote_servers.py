"""MCP servers over the network: all transports and revisions, restarted servers, and addresses without a server."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from aiohttp import web

from parlour.core.model.mcp_server import McpServer
from parlour.core.model.providers import ProviderFailed
from parlour.core.secrets import SecretUnreadable
from parlour.providers.tools.mcp.servers import McpServers
from parlour_sdk.protocol.content import plain_text

from ..sources import ASKING
from .real_servers import EVERYTHING, HERE, RemoteServer, connecting, settled

pytestmark = pytest.mark.asyncio(loop_scope="module")
LISTENING = r"(listening|running) on port"


@pytest.fixture(scope="module")
def remote() -> Iterator[dict[str, RemoteServer]]:
    started = {
        "http": RemoteServer("node", EVERYTHING, "streamableHttp", announced=LISTENING),
        "sse": RemoteServer("node", EVERYTHING, "sse", announced=LISTENING),
        "modern": RemoteServer(sys.executable, str(HERE / "modern_server.py"), announced="listening"),
    }
    try:
        for each in started.values():
            each.start()
        yield started
    finally:
        for each in started.values():
            each.kill()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(remote: dict[str, RemoteServer]) -> AsyncIterator[McpServers]:
    listed = [
        McpServer("http", "http", "http", f"http://127.0.0.1:{remote['http'].port}/mcp"),
        McpServer("sse", "sse", "sse", f"http://127.0.0.1:{remote['sse'].port}/sse"),
        McpServer("modern", "modern", "http", f"http://127.0.0.1:{remote['modern'].port}/mcp"),
    ]
    async with connecting(*listed, allowed=False) as made:
        for server in listed:
            status = await settled(made, server.name)
            assert status.state == "connected", status.last_error
        yield made


async def test_each_transport_and_revision_is_supported(servers: McpServers) -> None:
    versions = {name: servers.status(name).identity.protocol_version for name in ("http", "sse", "modern")}
    assert versions == {"http": "2025-11-25", "sse": "2025-11-25", "modern": "2026-07-28"}


@pytest.mark.parametrize(
    ("tool", "parameters", "text"),
    [
        ("http.echo", {"message": "hi"}, "Echo: hi"),
        ("sse.echo", {"message": "hi"}, "Echo: hi"),
        ("modern.add", {"a": 2, "b": 3}, "5"),
    ],
)
async def test_tools_are_called_over_each_transport(
    servers: McpServers, tool: str, parameters: dict[str, object], text: str
) -> None:
    assert plain_text((await servers.call(ASKING, tool, parameters)).content) == text


@pytest.mark.parametrize("name", ["http", pytest.param("sse", marks=pytest.mark.long)])
async def test_a_restarted_server_is_reconnected(
    servers: McpServers, remote: dict[str, RemoteServer], name: str
) -> None:
    long = {"duration": 300, "steps": 300}
    calling = asyncio.ensure_future(servers.call(ASKING, f"{name}.trigger-long-running-operation", long))
    assert (await servers.call(ASKING, f"{name}.echo", {"message": "one"})).is_error is False
    remote[name].kill()
    with pytest.raises(ProviderFailed, match="whether it acted is not known"):
        await asyncio.wait_for(calling, 60)
    remote[name].start()
    again = await servers.call(ASKING, f"{name}.echo", {"message": "two"})
    assert plain_text(again.content) == "Echo: two"


async def test_a_server_that_lost_the_session_gets_a_new_one(
    servers: McpServers, remote: dict[str, RemoteServer]
) -> None:
    """The server restarts while no call is active, so the connection does not notice."""
    remote["http"].kill()
    remote["http"].start()
    again = await servers.call(ASKING, "http.echo", {"message": "three"})
    assert plain_text(again.content) == "Echo: three"


@pytest.mark.long
async def test_a_sessionless_server_that_exits_in_mid_call_is_reconnected(
    servers: McpServers, remote: dict[str, RemoteServer]
) -> None:
    with pytest.raises(ProviderFailed, match="whether it acted is not known"):
        await servers.call(ASKING, "modern.leave", {})
    remote["modern"].kill()
    remote["modern"].start()
    assert plain_text((await servers.call(ASKING, "modern.add", {"a": 1, "b": 1})).content) == "2"


async def answer_wrongly(request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/401":
            return web.Response(status=401, text="who are you?")
        case "/500":
            return web.Response(status=500, text="no")
        case "/page":
            return web.Response(text="<h1>Welcome</h1>", content_type="text/html")
        case "/elsewhere":
            raise web.HTTPTemporaryRedirect("http://127.0.0.2:1/mcp")
        case _:
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            while True:
                await response.write(b" " * 65536)


@pytest.mark.parametrize(
    ("path", "transport", "reason"),
    [
        ("/401", "http", "it answered 401 Unauthorized; check the headers"),
        ("/401", "sse", "it answered 401 Unauthorized; check the headers"),
        ("/500", "http", "it answered 500 Internal Server Error"),
        ("/page", "http", "it answers with a web page, not as an MCP server; check the address"),
        ("/page", "sse", "it answers with a web page, not as an MCP server; check the address"),
        ("/elsewhere", "http", "Redirect to http://127.0.0.2:1/mcp not followed"),
        ("/endless", "http", "it answered with more than 8388608 bytes at once"),
    ],
)
async def test_an_address_without_an_mcp_server_is_reported(
    servers: McpServers, path: str, transport: str, reason: str
) -> None:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer_wrongly)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}{path}"
    status = await servers.test(McpServer("", "x", transport, url))  # type: ignore[arg-type]
    await runner.cleanup()
    assert (status.state, status.last_error[: len(reason)]) == ("failed", reason)


async def test_an_unreachable_server_is_reported(servers: McpServers) -> None:
    status = await servers.test(McpServer("", "x", "http", "http://127.0.0.1:1/mcp"))
    assert (status.state, status.last_error) == ("failed", "127.0.0.1 can't be reached: All connection attempts failed")


async def test_a_process_is_not_started_unless_the_operator_allows_it(servers: McpServers) -> None:
    status = await servers.test(McpServer("", "x", "stdio", command=sys.executable))
    assert status.state == "failed"
    assert "an owner or admin confirms that where the server is edited" in status.last_error


class UnreadableSecrets:
    def seal(self, secret: str) -> str:
        return secret

    def open(self, sealed: str) -> str:
        raise SecretUnreadable


async def test_an_unreadable_secret_is_reported() -> None:
    server = McpServer("x", "x", "http", "http://127.0.0.1:1/mcp", headers={"Authorization": "sealed"})
    async with connecting(server, secrets=UnreadableSecrets()) as servers:
        assert (await settled(servers, "x")).last_error.startswith("The secret was sealed with another key")


async def test_concurrent_reloads_leave_one_connection() -> None:
    server = McpServer("x", "x", "http", "http://127.0.0.1:1/mcp", headers={"Authorization": "sealed"})
    async with connecting(server, secrets=UnreadableSecrets()) as servers:
        await asyncio.gather(*(servers.reload("x") for _ in range(3)))
        tasks = [task for task in asyncio.all_tasks() if task.get_name() == "MCP server x"]
        assert len(tasks) == 1
