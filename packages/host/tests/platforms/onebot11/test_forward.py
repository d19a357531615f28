"""The adapter connects to an implementation that listens, and its state shows every failed attempt."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Event

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped
from parlour.platforms._kit import websocket_client
from parlour.platforms._kit.websocket_client import describe_connect_error
from parlour.platforms.onebot11 import accounts, adapter, connectors
from parlour.platforms.onebot11.state import ConnectedAccounts
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native

from .conftest import TOKEN

UNTRUSTED = ssl.SSLCertVerificationError(1, "verify failed")
UNTRUSTED.verify_message = "self-signed"
Talk = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def connecting_bot(url: str, backoff: Backoff | None = None, **config: Any) -> AsyncIterator[MemoryLink]:
    """Serves a bot that connects to the url."""
    link = MemoryLink({"mode": "forward", "url": url, **config})
    work = asyncio.create_task(adapter.OneBotAdapter(link, backoff or Backoff(0.01), ConnectedAccounts()).serve())
    try:
        yield link
        assert not work.done(), work
    finally:
        work.cancel()
        await asyncio.wait([work])


@asynccontextmanager
async def websocket_server(talk: Talk, **options: Any) -> AsyncIterator[str]:
    """Serves a WebSocket and yields its address."""
    async with serve(talk, "127.0.0.1", 0, **options) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


@asynccontextmanager
async def raw_server(payload: bytes) -> AsyncIterator[str]:
    """Serves a port that sends these bytes to each client and closes; yields its address."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(payload)
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_an_unreachable_implementation_is_tried_again() -> None:
    port = free_port()
    async with connecting_bot(f"ws://127.0.0.1:{port}") as link:
        await link.until(lambda: "can't be reached" in link.now[1])
        async with Simulator().listening(port):
            await link.until(lambda: link.now == ("connected", ""))
        await link.until(lambda: link.now[0] == "connecting")
    assert ("connected", "") in link.states


async def test_a_refused_token_is_shown() -> None:
    async with Simulator(token=TOKEN).listening() as url, connecting_bot(url, access_token="another") as link:
        await link.until(lambda: "refused the access token" in link.now[1])
    assert "connected" not in {state for state, _ in link.states}


async def test_a_token_refused_after_the_handshake_is_shown() -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.send(json.dumps({"status": "failed", "retcode": 1403, "wording": "token"}))

    async with websocket_server(refuse) as url, connecting_bot(url, access_token="another") as link:
        await link.until(lambda: "refused the access token" in link.now[1])
    assert "connected" not in {state for state, _ in link.states}


@pytest.mark.parametrize(
    ("status", "advice"),
    [(404, "check the url's port and path"), (200, "check the url's port and path"), (500, "look at what it logs")],
)
async def test_an_http_answer_instead_of_a_websocket_is_shown(status: int, advice: str) -> None:
    def refuse(socket: ServerConnection, request: Request) -> Response:
        return socket.respond(HTTPStatus(status), "no\n")

    async with websocket_server(_nothing, process_request=refuse) as url, connecting_bot(url) as link:
        await link.until(lambda: f"HTTP status {status}; {advice}; trying again" in link.now[1])
    assert "connected" not in {state for state, _ in link.states}


@pytest.mark.parametrize("payload", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 101"])
async def test_a_server_without_websocket_is_shown_at_each_attempt(payload: bytes) -> None:
    async with raw_server(payload) as url, connecting_bot(url, Backoff(0.01, 0.01)) as link:
        expected = "can't be reached: what listens there does not speak WebSocket; trying again"
        await link.until(lambda: sum(expected in error for _, error in link.states) >= 20)
    assert "connected" not in {state for state, _ in link.states}


async def test_a_redirection_to_elsewhere_is_shown_and_tried_again() -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with raw_server(answer) as url, connecting_bot(url) as link:
        expected = "is at no address of a WebSocket or redirects to none; check the url; trying again"
        await link.until(lambda: sum(expected in error for _, error in link.states) >= 2)
    assert "connected" not in {state for state, _ in link.states}


async def test_wss_for_an_unencrypted_server_is_shown() -> None:
    async with Simulator().listening() as url, connecting_bot(url.replace("ws://", "wss://")) as link:
        await link.until(lambda: "ws://" in link.now[1] and "wss://" in link.now[1])
    assert "connected" not in {state for state, _ in link.states}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("Multiple exceptions: [Errno 111] ..."), "no address of that name takes connections"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (UNTRUSTED, "its certificate is not trusted (self-signed)"),
        (ConnectionResetError(), "it broke the connection off; check whether ws:// or wss:// is right"),
    ],
)
def test_a_connection_error_becomes_a_readable_reason(error: OSError, reason: str) -> None:
    assert describe_connect_error(error, None) == reason


class RecordingBackoff(Backoff):
    """Records its delays and counts its resets."""

    def __init__(self) -> None:
        super().__init__(0.01, jitter=0)
        self.delays: list[float] = []
        self.resets = 0

    def next_delay(self) -> float:
        self.delays.append(super().next_delay())
        return self.delays[-1]

    def reset(self) -> None:
        super().reset()
        self.resets += 1


async def test_an_implementation_that_closes_at_once_is_tried_at_growing_intervals() -> None:
    backoff = RecordingBackoff()

    async def greet(socket: ServerConnection) -> None:
        await socket.send(json.dumps(native.lifecycle(10001)))
        await socket.recv()

    async with websocket_server(greet) as url, connecting_bot(url, backoff) as link:
        await link.until(lambda: [state for state, _ in link.states].count("connected") >= 4)
    assert backoff.delays[:3] == [0.01, 0.02, 0.04]


async def test_a_stable_connection_resets_the_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_client, "MIN_STABLE_SECONDS", 0.0)
    backoff = RecordingBackoff()
    simulator = Simulator()
    async with simulator.listening() as url, connecting_bot(url, backoff) as link:
        await link.until(lambda: link.now == ("connected", ""))
        await simulator.cut()
        await simulator.until(lambda: simulator.connections == 2)
    assert backoff.resets == 1


async def test_an_implementation_without_heartbeat_is_pinged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors, "PING_INTERVAL_SECONDS", 0.02)
    pinged = asyncio.Event()

    class PingedConnection(ServerConnection):
        def process_event(self, event: Event) -> None:
            if isinstance(event, Frame) and event.opcode is Opcode.PING:
                pinged.set()
            super().process_event(event)

    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with websocket_server(silent, create_connection=PingedConnection) as url, connecting_bot(url):
        async with asyncio.timeout(10):
            await pinged.wait()


async def test_a_missing_account_is_shown_until_an_event_names_it() -> None:
    refused: asyncio.Event = asyncio.Event()

    async def answer_late(socket: ServerConnection) -> None:
        call = json.loads(await socket.recv())
        await socket.send(json.dumps({"status": "failed", "retcode": 1404, "echo": call["echo"]}))
        await refused.wait()
        await socket.send(json.dumps(native.lifecycle(10001)))
        await socket.wait_closed()

    async with websocket_server(answer_late) as url, connecting_bot(url) as link:
        await link.until(lambda: "did not say whose account it is: OneBot refused get_login_info" in link.now[1])
        assert link.now[0] == "connecting"
        assert "see that it is a OneBot 11 implementation and logged in" in link.now[1]
        refused.set()
        await link.until(lambda: link.now == ("connected", ""))


async def test_an_implementation_that_becomes_reachable_is_not_shown_as_unreachable() -> None:
    port = free_port()

    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with connecting_bot(f"ws://127.0.0.1:{port}") as link:
        await link.until(lambda: "can't be reached" in link.now[1])
        async with serve(silent, "127.0.0.1", port):
            await link.until(lambda: link.now == ("connecting", connectors.WAITING_FOR_ACCOUNT))
            assert "can't be reached" not in link.now[1]


@pytest.mark.parametrize("url", ["", "http://example.com", "ws://", "ws://127.0.0.1:99999", "ws://a..b", "ws://[::1"])
async def test_an_invalid_url_stops_the_adapter_with_a_reason(url: str) -> None:
    link = MemoryLink({"mode": "forward", "url": url})
    known = accounts.OneBotAccounts(link, ConnectedAccounts(), "")
    with pytest.raises(AdapterStopped, match="url: "):
        await connectors.ForwardConnector(link, known, _nothing, Backoff()).serve()


async def _nothing(connection: object) -> None:
    return None
