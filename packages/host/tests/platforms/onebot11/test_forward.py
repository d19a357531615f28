"""Connecting to an implementation that listens: what it does instead of welcoming, and how that is told."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.onebot11 import accounts, adapter, client_connection
from parlour.platforms.onebot11.connected_accounts import ConnectedAccounts
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native

from .conftest import TOKEN

UNTRUSTED = ssl.SSLCertVerificationError(1, "verify failed")
UNTRUSTED.verify_message = "self-signed"
Talk = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def calling(url: str, backoff: Backoff | None = None, **config: Any) -> AsyncIterator[MemoryLink]:
    """A bot that connects there."""
    link = MemoryLink({"mode": "forward", "url": url, **config})
    work = asyncio.create_task(adapter.OneBotAdapter(link, backoff or Backoff(0.01), ConnectedAccounts()).serve())
    try:
        yield link
        assert not work.done(), work
    finally:
        work.cancel()
        await asyncio.wait([work])


@asynccontextmanager
async def welcoming(talk: Talk, **options: Any) -> AsyncIterator[str]:
    """The address of a WebSocket."""
    async with serve(talk, "127.0.0.1", 0, **options) as server:
        yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


@asynccontextmanager
async def saying(words: bytes) -> AsyncIterator[str]:
    """The address of something that says this to whoever comes, and goes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words)
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_an_implementation_that_is_not_there_is_tried_again() -> None:
    port = free_port()
    async with calling(f"ws://127.0.0.1:{port}") as link:
        await link.until(lambda: "can't be reached" in link.now[1])
        async with Simulator().listening(port):
            await link.until(lambda: link.now == ("connected", ""))
        await link.until(lambda: link.now[0] == "connecting")


async def test_a_token_that_the_implementation_refuses_is_told() -> None:
    async with Simulator(token=TOKEN).listening() as url, calling(url, access_token="another") as link:
        await link.until(lambda: "refused the access token" in link.now[1])


async def test_a_token_that_is_refused_after_the_handshake_is_told_too() -> None:
    async def turn_away(socket: ServerConnection) -> None:
        await socket.send(json.dumps({"status": "failed", "retcode": 1403, "wording": "token"}))

    async with welcoming(turn_away) as url, calling(url, access_token="another") as link:
        await link.until(lambda: "refused the access token" in link.now[1])


@pytest.mark.parametrize(
    ("status", "advice"),
    [(404, "check the url's port and path"), (200, "check the url's port and path"), (500, "look at what it logs")],
)
async def test_what_an_implementation_answers_instead_of_a_websocket_is_told(status: int, advice: str) -> None:
    def refuse(socket: ServerConnection, request: Request) -> Response:
        return socket.respond(HTTPStatus(status), "no\n")

    async with welcoming(_nothing, process_request=refuse) as url, calling(url) as link:
        await link.until(lambda: f"HTTP status {status}; {advice}; trying again" in link.now[1])


@pytest.mark.parametrize("words", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 101"])
async def test_what_does_not_speak_websocket_is_told_each_time(words: bytes) -> None:
    async with saying(words) as url, calling(url, Backoff(0.01, 0.01)) as link:
        told = "can't be reached: what listens there does not speak WebSocket; trying again"
        await link.until(lambda: sum(told in error for _, error in link.states) >= 20)


async def test_a_redirection_to_elsewhere_is_told_and_tried_again() -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with saying(answer) as url, calling(url) as link:
        told = "redirects to what is no address of a WebSocket; check the url; trying again"
        await link.until(lambda: sum(told in error for _, error in link.states) >= 2)


async def test_an_encrypted_address_of_what_is_not_is_told() -> None:
    async with Simulator().listening() as url, calling(url.replace("ws://", "wss://")) as link:
        await link.until(lambda: "ws://" in link.now[1] and "wss://" in link.now[1])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("Multiple exceptions: [Errno 111] ..."), "no address of that name takes connections"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (UNTRUSTED, "its certificate is not trusted (self-signed)"),
        (ConnectionResetError(), "it broke the connection off; check whether ws:// or wss:// is right"),
    ],
)
def test_why_it_can_not_be_reached_is_told_in_words(error: OSError, reason: str) -> None:
    assert client_connection._reason(error) == reason


class RecordingBackoff(Backoff):
    """Notes its delays, and counts how often it starts over."""

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


async def test_who_closes_as_soon_as_there_is_a_connection_is_tried_at_growing_intervals() -> None:
    backoff = RecordingBackoff()

    async def greet(socket: ServerConnection) -> None:
        await socket.send(json.dumps(native.lifecycle(10001)))
        await socket.recv()

    async with welcoming(greet) as url, calling(url, backoff) as link:
        await link.until(lambda: [state for state, _ in link.states].count("connected") >= 4)
    assert backoff.delays[:3] == [0.01, 0.02, 0.04]


async def test_a_connection_that_held_is_come_back_to_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connection, "MIN_STABLE_SECONDS", 0.0)
    backoff = RecordingBackoff()
    simulator = Simulator()
    async with simulator.listening() as url, calling(url, backoff) as link:
        await link.until(lambda: link.now == ("connected", ""))
        await simulator.cut()
        await simulator.until(lambda: simulator.connections == 2)
    assert backoff.resets == 1


async def test_who_does_not_say_whose_account_it_is_is_told_until_an_event_says_it() -> None:
    refused: asyncio.Event = asyncio.Event()

    async def dumb(socket: ServerConnection) -> None:
        call = json.loads(await socket.recv())
        await socket.send(json.dumps({"status": "failed", "retcode": 1404, "echo": call["echo"]}))
        await refused.wait()
        await socket.send(json.dumps(native.lifecycle(10001)))
        await socket.wait_closed()

    async with welcoming(dumb) as url, calling(url) as link:
        await link.until(lambda: "did not say whose account it is: OneBot refused get_login_info" in link.now[1])
        assert link.now[0] == "connecting"
        assert "see that it is a OneBot 11 implementation and logged in" in link.now[1]
        refused.set()
        await link.until(lambda: link.now == ("connected", ""))


async def test_who_is_reached_at_last_is_not_said_to_be_out_of_reach() -> None:
    port = free_port()

    async def silent(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with calling(f"ws://127.0.0.1:{port}") as link:
        await link.until(lambda: "can't be reached" in link.now[1])
        async with serve(silent, "127.0.0.1", port):
            await link.until(lambda: link.now == ("connecting", client_connection.WAITING_FOR_ACCOUNT))


@pytest.mark.parametrize("url", ["", "http://example.com", "ws://", "ws://127.0.0.1:99999", "ws://a..b", "ws://[::1"])
async def test_an_address_that_is_none_ends_it_with_a_sentence(url: str) -> None:
    link = MemoryLink({"mode": "forward", "url": url})
    known = accounts.OneBotAccounts(link, ConnectedAccounts(), "")
    with pytest.raises(AdapterStopped, match="url: "):
        await client_connection.ForwardConnector(link, known, _nothing, Backoff()).serve()


async def _nothing(connection: object) -> None:
    return None
