"""Tests the opening handshake of WebSockets and the messages of failed ones."""

import asyncio
import logging
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from parlour_sdk.wire import ConnectionClosed, Peer, WireLimits
from parlour_sdk.wire.websocket import CannotConnect, WebSocketTransport, connect, serve, serve_admitted, server

from .raw_websocket import RawWebSocket, accept, raw_server, tcp_connection, upgrade_request
from .support import TOKEN, Handlers, in_virtual_time, no_other_tasks, now, settle, websocket_pair, within

CERTIFICATE = Path(__file__).with_name("certificate.pem")  # for 127.0.0.1, signed by itself


class AcceptedConnections:
    """Records the paths of accepted connections and starts their transports."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, path: str, transport: WebSocketTransport) -> None:
        self.paths.append(path)
        transport.start(lambda _: None, lambda _: None)


@pytest.fixture
def accepted_connections() -> AcceptedConnections:
    return AcceptedConnections()


@pytest.fixture
async def port(accepted_connections: AcceptedConnections) -> AsyncIterator[int]:
    def accepts(path: str) -> bool:
        return path == "/control" or path.startswith("/plugins/")

    async with serve("127.0.0.1", 0, TOKEN, accepted_connections, accepts=accepts) as port:
        yield port


async def refusal(url: str, token: str | None = TOKEN, tls: ssl.SSLContext | None = None) -> CannotConnect:
    with pytest.raises(CannotConnect) as raised:
        await within(connect(url, token, tls=tls))
    return raised.value


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


async def test_the_right_token_opens_a_connection_at_the_requested_path(
    port: int, accepted_connections: AcceptedConnections
) -> None:
    transport = await connect(f"ws://127.0.0.1:{port}/plugins/acme/echo?since=1", TOKEN)
    assert accepted_connections.paths == ["/plugins/acme/echo"]
    transport.close()
    await within(transport.wait_closed())


async def test_the_token_selects_the_handler_of_the_connection() -> None:
    hosts = {"for-anna": AcceptedConnections(), "for-ben": AcceptedConnections()}
    async with serve_admitted("127.0.0.1", 0, hosts.get) as port:
        transport = await connect(f"ws://127.0.0.1:{port}/control", "for-ben")
        assert (await refusal(f"ws://127.0.0.1:{port}/control", "for-carl")).code == "unauthorized"
        assert (hosts["for-anna"].paths, hosts["for-ben"].paths) == ([], ["/control"])
        transport.close()
        await within(transport.wait_closed())


@pytest.mark.parametrize("token", ["open-sesam", "open-sesame1", "OPEN-SESAME", None])
async def test_a_wrong_or_missing_token_is_refused(
    port: int, accepted_connections: AcceptedConnections, token: str | None
) -> None:
    error = await refusal(f"ws://127.0.0.1:{port}/control", token)
    assert error.code == "unauthorized"
    assert "both sides need the same" in error.message
    assert TOKEN not in str(error)
    assert accepted_connections.paths == []


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["Authorization: Basic open-sesame"],
        ["Authorization: open-sesame"],
        ["Authorization: Bearer \xfc"],
        ["Authorization: Bearer open-sesame", "Authorization: Bearer open-sesame"],
    ],
)
async def test_a_refusal_says_how_to_send_the_token(
    port: int, accepted_connections: AcceptedConnections, headers: list[str]
) -> None:
    async with tcp_connection(port) as raw:
        raw.writer.write(upgrade_request(*headers))
        answer = await raw.end()
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert answer.endswith(b"as 'Authorization: Bearer TOKEN'.\n")
    assert accepted_connections.paths == []


async def test_an_unknown_path_is_reported_only_with_the_token(
    port: int, accepted_connections: AcceptedConnections
) -> None:
    error = await refusal(f"ws://127.0.0.1:{port}/elsewhere")
    assert error.code == "not_found"
    assert f"ws://127.0.0.1:{port}/elsewhere: it has nothing under that path" in error.message
    assert (await refusal(f"ws://127.0.0.1:{port}/elsewhere", "guess")).code == "unauthorized"
    assert accepted_connections.paths == []


async def test_a_plain_http_request_is_answered_with_426(port: int) -> None:
    async with tcp_connection(port) as raw:
        raw.writer.write(f"GET /control HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        assert b" 426 " in (await raw.end()).partition(b"\r\n")[0]


@pytest.mark.parametrize("follows", [b"\x81\x80mask", b"\x88\x80mask", b"nonsense"])
async def test_frames_before_the_answer_close_the_connection(
    port: int, accepted_connections: AcceptedConnections, follows: bytes
) -> None:
    async with tcp_connection(port) as raw:
        raw.writer.write(upgrade_request(f"Authorization: Bearer {TOKEN}") + follows)
        assert await raw.end() == b""
    assert accepted_connections.paths == []


async def test_an_invalid_request_closes_the_connection(port: int) -> None:
    async with tcp_connection(port) as raw:
        raw.writer.write(b"EHLO there\r\n")
        assert await raw.end() == b""


def test_an_incomplete_request_is_closed_after_ten_seconds(accepted_connections: AcceptedConnections) -> None:
    async def scenario() -> None:
        async with serve("127.0.0.1", 0, TOKEN, accepted_connections) as port, tcp_connection(port) as raw:
            raw.writer.write(upgrade_request()[:-2])
            assert await within(raw.reader.read(), 60) == b""
            assert 9 < now() < 11

    in_virtual_time(scenario())


async def test_the_number_of_connections_without_a_request_is_limited(
    port: int, accepted_connections: AcceptedConnections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_MAX_UPGRADES", 10)
    monkeypatch.setattr(server, "_UPGRADE_TIMEOUT_SECONDS", 3600.0)
    async with AsyncExitStack() as stack:
        idle_clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(15)]
        for _, writer in idle_clients:
            stack.callback(writer.close)
        for reader, _ in idle_clients[10:]:
            assert await within(_is_closed(reader))
    transport = await within(_connected_soon(port))
    assert accepted_connections.paths == ["/control"]
    transport.close()
    await within(transport.wait_closed())


async def _is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def _connected_soon(port: int) -> WebSocketTransport:
    """Connects as soon as the server has noticed that the idle clients left."""
    while True:
        try:
            return await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        except CannotConnect:
            await asyncio.sleep(0.01)


async def test_a_closed_port_is_reported() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        error = await refusal(f"ws://127.0.0.1:{reserved.getsockname()[1]}/control")
    assert error.code == "unreachable"
    assert "nothing answers there; check the address and that it runs" in error.message


async def test_a_host_that_does_not_exist_is_reported() -> None:
    error = await refusal("ws://nowhere.invalid/control")
    assert (error.code, "can't be resolved" in error.message) == ("unreachable", True)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "127.0.0.1:5400",
        "ws://",
        "ws://host:99999/",
        "ws://host:port/",
        "ws://host/a b",
        "ws://anna:secret@host/",
        f"ws://{'a' * 64}/",
    ],
)
async def test_an_invalid_address_is_refused_with_the_expected_form(url: str) -> None:
    error = await refusal(url)
    assert (error.code, "ws://host:port/path" in error.message) == ("invalid_argument", True)
    assert "secret" not in str(error)


@pytest.mark.parametrize("token", ["", "two description", "line\r\nbreak: 1", "schlüssel"])
async def test_a_token_that_is_not_visible_ascii_is_refused_on_both_sides(
    accepted_connections: AcceptedConnections, token: str
) -> None:
    error = await refusal("ws://127.0.0.1:1/", token)
    assert (error.code, "visible ASCII" in error.message) == ("invalid_argument", True)
    with pytest.raises(ValueError, match="visible ASCII"):
        async with serve("127.0.0.1", 0, token, accepted_connections):
            pass


@pytest.mark.parametrize(
    ("answer", "code", "description"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "unauthorized", "forbids this connection (403)"),
        (b"HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n", "refused", "HTTP status 503"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", "refused", "HTTP status 200"),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "refused", "is no WebSocket server"),
        (b"220 mail.example.org ESMTP\r\n", "refused", "is no WebSocket server"),
        (b"", "unreachable", "hung up without an answer"),
    ],
)
async def test_a_failed_handshake_is_reported_with_its_reason(answer: bytes, code: str, description: str) -> None:
    async def give(raw: RawWebSocket) -> None:
        await raw.request()
        raw.writer.write(answer)
        raw.writer.write_eof()

    async with raw_server(give) as port:
        error = await refusal(f"ws://127.0.0.1:{port}/control")
    assert (error.code, description in error.message) == (code, True)


async def test_a_server_that_does_not_answer_times_out_and_is_disconnected() -> None:
    closed: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def keep_quiet(raw: RawWebSocket) -> None:
        request = await raw.request()
        assert await raw.end() == b""
        closed.set_result(request)

    async with raw_server(keep_quiet) as port:
        with pytest.raises(CannotConnect, match=r"no answer came within 0\.05 seconds") as raised:
            await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN, timeout=0.05))
        assert raised.value.code == "unreachable"
        assert b"Authorization: Bearer open-sesame" in await within(closed)


async def test_a_cancelled_attempt_closes_the_connection() -> None:
    requested, closed = asyncio.Event(), asyncio.Event()

    async def keep_quiet(raw: RawWebSocket) -> None:
        await raw.request()
        requested.set()
        assert await raw.end() == b""
        closed.set()

    async with raw_server(keep_quiet) as port:
        attempt = asyncio.create_task(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        await within(requested.wait())
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        await within(closed.wait())


async def test_frames_that_arrive_with_the_servers_answer_are_kept() -> None:
    async def greet_at_once(raw: RawWebSocket) -> None:
        await accept(raw)
        raw.send_text(b"first")
        raw.send_text(b"second")

    async with raw_server(greet_at_once) as port:
        transport = await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        received: asyncio.Queue[bytes] = asyncio.Queue()
        transport.start(received.put_nowait, lambda _: None)
        assert [await within(received.get()) for _ in range(2)] == [b"first", b"second"]
    await within(transport.wait_closed())


async def test_frames_of_a_server_that_closes_at_once_are_received() -> None:
    async def accept_and_close(raw: RawWebSocket) -> None:
        await accept(raw)
        raw.send_text(b"one thing")
        raw.send_close(4000, "no room")

    async with raw_server(accept_and_close) as port:
        transport = await within(connect(f"ws://127.0.0.1:{port}/control", TOKEN))
        received: list[bytes] = []
        ended: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
        transport.start(received.append, ended.set_result)
        assert "(4000: no room)" in str(await within(ended))
        assert received == [b"one thing"]
    await within(transport.wait_closed())


async def test_a_wss_address_of_a_server_without_tls_is_reported(port: int) -> None:
    async def answer_http(raw: RawWebSocket) -> None:
        raw.writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    error = await refusal(f"wss://127.0.0.1:{port}/control")
    assert (error.code, "check host, port and ws or wss" in error.message) == ("unreachable", True)
    async with raw_server(answer_http) as plain_port:
        error = await refusal(f"wss://127.0.0.1:{plain_port}/control")
    assert (error.code, "use ws:// if it has no certificate" in error.message) == ("tls_failed", True)


async def test_a_self_signed_certificate_is_not_trusted(accepted_connections: AcceptedConnections) -> None:
    async with serve("127.0.0.1", 0, TOKEN, accepted_connections, tls=server_tls()) as port:
        error = await refusal(f"wss://127.0.0.1:{port}/control")
        assert (error.code, "certificate isn't trusted" in error.message) == ("tls_failed", True)
        assert "check host, port and ws or wss" in (await refusal(f"ws://127.0.0.1:{port}/control")).message
    assert accepted_connections.paths == []


async def test_calls_and_closing_work_over_tls() -> None:
    async def echo(data: str) -> str:
        return data

    trusting = ssl.create_default_context(cafile=CERTIFICATE)
    async with websocket_pair(WireLimits(), WireLimits(), server_tls=server_tls(), client_tls=trusting) as (
        client,
        server,
    ):
        left, right = Peer(client, Handlers()), Peer(server, Handlers(echo=echo))
        left.start()
        right.start()
        answers = await within(asyncio.gather(*(left.call("echo", "x" * 10**size) for size in range(7))))
        assert [len(answer) for answer in answers] == [10**size for size in range(7)]
        right.close("enough")
        assert "other side closed" in await within(left.wait_closed())
        await within(asyncio.gather(client.wait_closed(), server.wait_closed()))


async def test_a_server_shutdown_is_reported_on_both_sides_without_delay() -> None:
    async def wait(data: None) -> None:
        await asyncio.Event().wait()

    accepted: asyncio.Queue[WebSocketTransport] = asyncio.Queue()
    serving = serve("127.0.0.1", 0, TOKEN, lambda _, transport: accepted.put_nowait(transport))
    async with serving as port:
        client = await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        server = await accepted.get()
        left, right = Peer(client, Handlers(wait=wait)), Peer(server, Handlers(wait=wait))
        left.start()
        right.start()
        calls = [asyncio.create_task(peer.call("wait")) for peer in (left, right)]
        await within(asyncio.gather(left.call("ping"), right.call("ping")))
        started = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - started < 1.0  # it waited for no handler
    await within(server.wait_closed(), 0)  # but for the close frame
    assert await within(right.wait_closed()) == "the server is shutting down"
    reason = "the other side closed the connection: it is going away (1001: the server is shutting down)"
    assert await within(left.wait_closed()) == reason
    outcomes = await within(asyncio.gather(*calls, return_exceptions=True))
    assert all(isinstance(outcome, ConnectionClosed) for outcome in outcomes)
    assert (await refusal(f"ws://127.0.0.1:{port}/control")).code == "unreachable"
    await within(client.wait_closed())
    await within(no_other_tasks())


async def test_an_incomplete_request_is_closed_when_the_server_shuts_down(
    accepted_connections: AcceptedConnections,
) -> None:
    async with AsyncExitStack() as connections:
        async with serve("127.0.0.1", 0, TOKEN, accepted_connections) as port:
            raw = await connections.enter_async_context(tcp_connection(port))
            raw.writer.write(b"GET ")
            await settle()
        assert await raw.end() == b""


async def test_neither_token_nor_frames_are_logged(port: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        transport = await connect(f"ws://127.0.0.1:{port}/control", TOKEN)
        transport.send(b"private matter")
        transport.close()
        await within(transport.wait_closed())
    assert TOKEN not in caplog.text
    assert "private matter" not in caplog.text


def test_a_plugins_process_does_not_load_websockets() -> None:
    code = "import sys, parlour_sdk.worker; sys.exit(any(name.startswith('websockets') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
