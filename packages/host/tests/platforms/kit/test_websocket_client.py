"""The WebSocket client reconnects, beats, resumes and stops as the platform's close codes say."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.websocket_client import PlatformSocket, PlatformWebSocketClient, SocketAddress
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.proxy_server import running_proxy

SECRET = "s3cr3t-token"
POLICY = ClosePolicy(stop={4004: "token: the platform does not know it"}, restart=frozenset({4009}))
Served = tuple["RecordingSession", MemoryLink, "asyncio.Task[None]"]
Peer = Callable[[ServerConnection], Awaitable[None]]


class RecordingSession:
    """Greets with `identify` or `resume`, records frames, and beats if the platform says `beat`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session_id = ""
        self.frames: list[str] = []
        self.received_frame = asyncio.Event()

    async def address(self) -> SocketAddress:
        return SocketAddress(self.url, {"Authorization": SECRET})

    async def opened(self, socket: PlatformSocket) -> None:
        await socket.send(json.dumps(["resume", self.session_id] if self.session_id else ["identify"]))

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        if frame == "fail":
            raise ValueError("this frame can't be handled")
        self.frames.append(str(frame))
        if frame == "ready":
            self.session_id = "session-1"
        elif frame == "ack":
            socket.acknowledge()
        elif frame == "beat":
            socket.start_heartbeat(0.02, lambda: "heartbeat")
        elif frame == b"replace":
            await socket.send(b"replacing")
            await socket.reconnect()
        elif frame == "watch":
            socket.watch_silence(0.05)
        self.received_frame.set()

    def forget(self) -> None:
        self.session_id = ""


@asynccontextmanager
async def serving(peer: Peer, **config: str) -> AsyncIterator[Served]:
    async with serve(peer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        session, link = RecordingSession(f"ws://127.0.0.1:{port}/{SECRET}"), MemoryLink()
        proxies = ProxySettings.from_fields(config.get("proxy", "direct"))
        client = PlatformWebSocketClient("Chat", link, session, proxies, POLICY, Backoff(0.001, 0.01))
        task = asyncio.create_task(client.serve())
        try:
            yield session, link, task
        finally:
            task.cancel()
            await asyncio.wait([task])


def problems(link: MemoryLink) -> list[str]:
    return [error.partition(";")[0] for state, error in link.states if error]


async def test_a_session_is_resumed_after_a_cut_and_begun_again_if_the_platform_ended_it() -> None:
    greetings: asyncio.Queue[list[str]] = asyncio.Queue()
    codes = iter([4000, 4009])

    async def peer(connection: ServerConnection) -> None:
        greetings.put_nowait(json.loads(await connection.recv()))
        await connection.send("fail")
        await connection.send("ready")
        if (code := next(codes, 0)) != 0:
            await connection.close(code)
        await connection.wait_closed()

    async with serving(peer) as (_, link, _task), asyncio.timeout(10):
        assert [await greetings.get() for _ in range(3)] == [["identify"], ["resume", "session-1"], ["identify"]]
        assert problems(link) == ["Chat closed the connection (4000)", "Chat closed the connection (4009)"]


async def test_a_close_code_without_remedy_stops_the_bot_with_its_message() -> None:
    async def peer(connection: ServerConnection) -> None:
        await connection.close(4004)

    async with serving(peer) as (_, _link, task), asyncio.timeout(10):
        with pytest.raises(AdapterStopped, match="token: the platform does not know it"):
            await task


async def test_a_heartbeat_without_answer_ends_the_connection() -> None:
    async def peer(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send("beat")
        for _ in range(3):
            assert await connection.recv() == "heartbeat"
            await connection.send("ack")
        await connection.wait_closed()

    async with serving(peer) as (session, link, _task), asyncio.timeout(10):
        await link.until(lambda: bool(problems(link)))
        assert problems(link)[0] == "Chat did not answer a heartbeat"
        assert session.frames[:4] == ["beat", "ack", "ack", "ack"]


async def test_a_connection_that_the_platform_wants_replaced_is_no_problem_unless_it_repeats_that() -> None:
    greetings: asyncio.Queue[list[str]] = asyncio.Queue()

    async def peer(connection: ServerConnection) -> None:
        greetings.put_nowait(json.loads(await connection.recv()))
        await connection.send("ready")
        await connection.send(b"replace")
        assert await connection.recv() == b"replacing"
        await connection.wait_closed()

    async with serving(peer) as (_, link, _task), asyncio.timeout(10):
        assert [await greetings.get() for _ in range(2)] == [["identify"], ["resume", "session-1"]]
        assert problems(link) == []
        await greetings.get()
        assert problems(link) == ["Chat asked for a new connection"]


async def test_silence_ends_the_connection() -> None:
    async def peer(connection: ServerConnection) -> None:
        await connection.send("watch")
        await connection.wait_closed()

    async with serving(peer) as (_, link, _task), asyncio.timeout(10):
        await link.until(lambda: bool(problems(link)))
        assert "sent nothing" in problems(link)[0]


async def test_an_unreachable_platform_is_tried_again_and_the_token_is_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    session, link = RecordingSession(f"ws://127.0.0.1:{free_port()}/{SECRET}"), MemoryLink()
    client = PlatformWebSocketClient("Chat", link, session, ProxySettings(), POLICY, Backoff(0.001, 0.01))
    task = asyncio.create_task(client.serve())
    await link.until(lambda: len(problems(link)) >= 3, seconds=10)
    task.cancel()
    await asyncio.wait([task])
    assert problems(link)[0].startswith("Chat can't be reached: ")
    assert SECRET not in caplog.text + str(link.states)


async def test_a_second_serve_waits_so_that_there_is_one_connection() -> None:
    connected = 0

    async def peer(connection: ServerConnection) -> None:
        nonlocal connected
        connected += 1
        await connection.send("ready")
        await connection.wait_closed()

    async with serve(peer, "127.0.0.1", 0) as server, asyncio.timeout(10):
        port = next(iter(server.sockets)).getsockname()[1]
        session, link = RecordingSession(f"ws://127.0.0.1:{port}"), MemoryLink()
        client = PlatformWebSocketClient("Chat", link, session, ProxySettings(), POLICY, Backoff(0.001, 0.01))
        first, second = (asyncio.create_task(client.serve()) for _ in range(2))
        await session.received_frame.wait()
        assert connected == 1
        session.received_frame.clear()
        first.cancel()
        await session.received_frame.wait()
        assert connected == 2
        second.cancel()
        await asyncio.wait([first, second])


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
async def test_it_connects_through_a_real_proxy(scheme: str) -> None:
    async def peer(connection: ServerConnection) -> None:
        await connection.send("ready")
        await connection.wait_closed()

    with running_proxy() as proxy:
        async with serving(peer, proxy=f"{scheme}://127.0.0.1:{proxy.port}") as (session, _link, _task):
            async with asyncio.timeout(10):
                await session.received_frame.wait()
        assert proxy.next_target().startswith("connect 127.0.0.1:" if scheme == "http" else "socks 127.0.0.1:")


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_refusing_proxy_is_named_without_its_password(scheme: str) -> None:
    async def peer(connection: ServerConnection) -> None:
        await connection.wait_closed()

    with running_proxy(credentials="ann:right") as proxy:
        async with serving(peer, proxy=f"{scheme}://ann:wrong-password@127.0.0.1:{proxy.port}") as (_, link, _task):
            await link.until(lambda: bool(problems(link)), seconds=10)
            assert f"the proxy {scheme}://127.0.0.1:{proxy.port} refused" in problems(link)[0]
            assert "wrong-password" not in str(link.states)
