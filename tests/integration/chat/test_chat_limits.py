"""Tests the limits of chat sockets: their number per key and person, and the buffer of one that does not read."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.integration.access.test_accounts import Person, logged_in, users_create
from tests.support.chat import Chat
from tests.support.harness import ECHO, ECHO_PLUGIN, Host

SOCKETS = 40
MESSAGES, CHARACTERS = 40, 250_000
CLOSE_REASON = "no frame was read for"
DOES_NOT_READ: dict[str, Any] = {"max_queue": 1, "ping_interval": None, "max_size": None}
MAX_GROWTH_BYTES = 70 * 1024 * 1024
"""One message for each socket takes 40 MB, four take 90 MB, whole pages take 400 MB."""


@dataclass(frozen=True)
class LongSession:
    agent: str
    key: str


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    limits = {"PARLOUR__HTTP__CHAT_SOCKETS": SOCKETS, "PARLOUR__HTTP__CHAT_SEND_SECONDS": 3}
    host = Host(tmp_path_factory.mktemp("small"), **limits)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()


@asynccontextmanager
async def open_sockets(host: Host, agent: str, number: int, key: str) -> AsyncIterator[list[Chat]]:
    async with AsyncExitStack() as stack:
        pending = [stack.enter_async_context(Chat(host, agent, f"{each}", key)) for each in range(number)]
        yield [await each for each in pending]


@pytest.fixture(scope="module")
def long_session(small: Host) -> LongSession:
    """Creates a session with many long messages, more than the buffers of a connection take."""
    long_session = LongSession(small.agent(ECHO), small.key("chat", "long"))

    async def talk() -> None:
        async with Chat(small, long_session.agent, "long", long_session.key, max_size=None) as chat:
            for number in range(MESSAGES):
                await chat.answer(f"{number} {'x' * CHARACTERS}")

    asyncio.run(talk())
    return long_session


async def test_one_socket_too_many_is_refused_with_a_code_and_a_reason(small: Host) -> None:
    agent, key = small.agent(ECHO), small.key("chat", "busy")
    async with open_sockets(small, agent, SOCKETS, key) as chats:
        async with Chat(small, agent, "one-more", key) as refused:
            [error] = refused.frames
            assert (error["type"], error["code"]) == ("error", "rate_limited")
            assert f"this API key has {SOCKETS} chat sockets open" in error["message"]
            with pytest.raises(ConnectionClosed) as closed:
                await refused.frame()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4429
        async with Chat(small, agent, "of-another-key", small.key("chat", "calm")) as other:
            assert await other.answer("hello") == "hello"
        assert await chats[0].answer("still here") == "still here"
        await chats[1].socket.close()

        async def free() -> bool:
            async with Chat(small, agent, "in-its-place", key) as again:
                return again.frames[0]["type"] == "connected"

        async with asyncio.timeout(30):
            while not await free():
                pass


async def test_one_socket_too_many_of_a_person_is_refused_in_each_of_their_browsers(small: Host) -> None:
    agent = small.agent(ECHO)
    assert users_create(small, "ada@example.org").returncode == 0
    first, second = (logged_in(small, "ada@example.org") for _ in range(2))
    async with AsyncExitStack() as stack:
        for each in range(SOCKETS):
            opened = await stack.enter_async_context(Chat(small, agent, f"{each}", headers=session(small, first)))
            assert opened.frames[0]["type"] == "connected"
        async with Chat(small, agent, "one-more", headers=session(small, second)) as refused:
            [error] = refused.frames
            assert (error["type"], error["code"]) == ("error", "rate_limited")
            assert f"this user has {SOCKETS} chat sockets open" in error["message"]
            with pytest.raises(ConnectionClosed) as closed:
                await refused.frame()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4429


def session(host: Host, person: Person) -> dict[str, str]:
    """Returns the headers with which the page opens a socket in a person's browser."""
    cookies = "; ".join(f"{name}={value}" for name, value in person.http.cookies.items())
    return {"Cookie": cookies, "Origin": host.address}


async def test_resumed_sockets_that_do_not_read_use_little_memory_and_are_closed(
    small: Host, long_session: LongSession
) -> None:
    before = small.process.memory_info().rss
    cut = small.log().count(CLOSE_REASON)
    async with AsyncExitStack() as stack:
        for _ in range(SOCKETS - 1):
            silent = Chat(small, long_session.agent, "long", long_session.key, after=0, said=True, **DOES_NOT_READ)
            stack.callback((await stack.enter_async_context(silent)).cut)
        grown = []
        async with Chat(small, long_session.agent, "other", long_session.key) as other, asyncio.timeout(60):
            while small.log().count(CLOSE_REASON) < cut + SOCKETS - 1:
                assert await other.answer("not held up") == "not held up"
                grown.append(small.process.memory_info().rss - before)
        async with asyncio.timeout(60):
            while await sockets(small, long_session.agent):
                await asyncio.sleep(0.05)
    assert max(grown) < MAX_GROWTH_BYTES, f"{max(grown) / 2**20:.0f} MiB"


async def test_a_closed_socket_that_reads_again_gets_the_reason_and_can_resume(
    small: Host, long_session: LongSession
) -> None:
    cut = small.log().count(CLOSE_REASON)
    async with Chat(small, long_session.agent, "long", long_session.key, after=0, **DOES_NOT_READ) as slow:
        async with asyncio.timeout(60):
            while small.log().count(CLOSE_REASON) == cut:
                await asyncio.sleep(0.05)
        with pytest.raises(ConnectionClosed) as closed:
            await slow.until("a frame that never comes", seconds=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013
        assert "connect again with after" in closed.value.rcvd.reason
    async with Chat(small, long_session.agent, "long", long_session.key, after=slow.last_seq, max_size=None) as again:
        while len(slow.of("message")) + len(again.of("message")) < MESSAGES:
            await again.frame()
    shown = [each["message"]["content"].split()[0] for each in [*slow.of("message"), *again.of("message")]]
    assert shown == [str(each) for each in range(MESSAGES)]


async def sockets(host: Host, agent: str) -> int:
    async with host.async_http() as http:
        return len((await http.get(f"/agents/{agent}/chat/connections")).json()["items"])
