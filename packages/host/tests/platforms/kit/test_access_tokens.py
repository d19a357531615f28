"""An access token is fetched before it expires, once at a time, and again if the platform rejects it."""

import asyncio

import pytest

from parlour.core.platforms.port import PlatformOffline
from parlour.platforms._kit.access_tokens import RETRY_SECONDS, AccessTokens, FetchedToken, TokenExpired


class TokenSource:
    """Gives out numbered tokens of 7200 seconds when the gate is open."""

    def __init__(self) -> None:
        self.now = 0.0
        self.fetched = 0
        self.offline = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.tokens = AccessTokens(self.fetch, lambda: self.now)

    async def fetch(self) -> FetchedToken:
        self.fetched += 1
        number = self.fetched
        await self.gate.wait()
        if self.offline:
            raise PlatformOffline("the platform is offline")
        return FetchedToken(f"token-{number}", 7200)


@pytest.fixture
async def source() -> TokenSource:
    return TokenSource()


async def test_callers_at_the_same_time_share_one_fetch(source: TokenSource) -> None:
    source.gate.clear()
    waiting = [asyncio.create_task(source.tokens.get()) for _ in range(10)]
    await asyncio.sleep(0)
    source.gate.set()
    assert await asyncio.gather(*waiting) == ["token-1"] * 10
    assert source.fetched == 1


async def test_a_cancelled_caller_does_not_stop_the_fetch_for_others(source: TokenSource) -> None:
    source.gate.clear()
    first, second = (asyncio.create_task(source.tokens.get()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    source.gate.set()
    assert await second == "token-1"


async def test_a_token_is_replaced_ahead_while_the_old_one_is_used(source: TokenSource) -> None:
    await source.tokens.get()
    source.now = 6899
    assert await source.tokens.get() == "token-1"
    assert source.fetched == 1
    source.now = 6901
    source.gate.clear()
    assert await source.tokens.get() == "token-1"
    source.gate.set()
    source.now = 7300
    assert await source.tokens.get() == "token-2"
    assert source.fetched == 2


async def test_an_expired_token_is_never_returned(source: TokenSource) -> None:
    await source.tokens.get()
    source.now = 7201
    source.offline = True
    with pytest.raises(PlatformOffline):
        await source.tokens.get()


async def test_a_failed_early_fetch_is_repeated_at_intervals(source: TokenSource) -> None:
    await source.tokens.get()
    source.now, source.offline = 6901, True
    for _ in range(5):
        assert await source.tokens.get() == "token-1"
        await asyncio.sleep(0)
    assert source.fetched == 2
    source.now += RETRY_SECONDS
    assert await source.tokens.get() == "token-1"
    await asyncio.sleep(0)
    assert source.fetched == 3


async def test_a_call_with_an_expired_token_is_repeated_once(source: TokenSource) -> None:
    used: list[str] = []

    async def call(token: str) -> str:
        used.append(token)
        if token == "token-1":
            raise TokenExpired("expired")
        return "done"

    assert await source.tokens.use(call) == "done"
    assert used == ["token-1", "token-2"]


async def test_a_second_rejection_reaches_the_caller(source: TokenSource) -> None:
    async def call(token: str) -> str:
        raise TokenExpired("expired")

    with pytest.raises(TokenExpired):
        await source.tokens.use(call)
    assert source.fetched == 2


async def test_many_rejected_calls_fetch_one_new_token(source: TokenSource) -> None:
    await source.tokens.get()

    async def call(token: str) -> str:
        await asyncio.sleep(0)
        if token == "token-1":
            raise TokenExpired("expired")
        return token

    assert await asyncio.gather(*(source.tokens.use(call) for _ in range(10))) == ["token-2"] * 10
    assert source.fetched == 2


def test_a_token_is_not_shown() -> None:
    assert "geheim" not in repr(FetchedToken("geheim", 1))
