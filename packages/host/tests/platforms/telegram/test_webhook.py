"""Telegram calls the adapter: an update is acknowledged only when it is durable, and refused without the secret."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall
from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.platforms.telegram.adapter import TelegramAdapter
from parlour.platforms.telegram.connection import SECRET_HEADER
from parlour.testing.memory_link import MemoryLink
from parlour.testing.telegram_simulator import Simulator

from .conftest import Bot

ANN = 1


@asynccontextmanager
async def webhook_port() -> AsyncIterator[tuple[str, list[TelegramAdapter]]]:
    """Serves the webhook port of a Host; it hands calls to the adapter in the list."""
    adapters: list[TelegramAdapter] = []

    async def called(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = await adapters[0].hook(HookCall(await request.read(), headers))
        return web.Response(text=answer.text, status=answer.status)

    app = web.Application()
    app.router.add_post("/hooks/{bot_id}", called)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", adapters
    await runner.cleanup()


@pytest.fixture
async def called(simulator: Simulator, url: str) -> AsyncIterator[Bot]:
    async with webhook_port() as (address, adapters):
        bot = Bot(simulator, url, mode="webhook", webhook_url=address)
        assert isinstance(bot.adapter, TelegramAdapter)
        adapters.append(bot.adapter)
        async with bot.served():
            yield bot


async def test_an_update_is_sent_again_until_it_is_durable(called: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    received, failures = MemoryLink.receive, [StorageFailed("disk_full", "the disk is full")] * 2

    async def fail_twice(link: MemoryLink, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        if failures:
            raise failures.pop()
        await received(link, *incoming, cursor=cursor)

    monkeypatch.setattr(MemoryLink, "receive", fail_twice)
    await called.simulator.say("hello", ANN)
    await called.simulator.say("more", ANN)
    incoming = await called.link.events(2)
    assert [each.event.message_chain[1].text for each in incoming] == ["hello", "more"]  # type: ignore[attr-defined]
    assert called.simulator.updates.deliveries >= 4


async def test_a_wrong_secret_is_refused_and_an_invalid_update_is_acknowledged(called: Bot) -> None:
    assert isinstance(called.adapter, TelegramAdapter)
    secret = called.simulator.updates.webhook["secret"]
    for headers in ({}, {SECRET_HEADER: "wrong"}, {SECRET_HEADER: called.simulator.token}):
        assert (await called.adapter.hook(HookCall(b'{"update_id": 1}', headers))).status == 401
    assert (await called.adapter.hook(HookCall(b"no update", {SECRET_HEADER: secret}))).status == 200
    assert called.link.incoming == []


async def test_an_album_is_acknowledged_part_by_part_and_comes_in_as_one_message(called: Bot) -> None:
    simulator = called.simulator
    files = [{"photo": [{"file_id": simulator.world.add_file(b"x"), "file_unique_id": "u"}]} for _ in range(3)]
    await simulator.album(*files, user=ANN)
    [incoming] = await called.link.events(1)
    assert [type(each).__name__ for each in incoming.event.message_chain] == ["Source"] + ["Image"] * 3  # type: ignore[attr-defined]


async def test_a_polling_bot_is_not_called_and_a_webhook_needs_an_address(bot: Bot, url: str) -> None:
    assert isinstance(bot.adapter, TelegramAdapter)
    assert (await bot.adapter.hook(HookCall(b"{}"))).status == 404
    with pytest.raises(AdapterStopped, match="webhook_url: the public address"):
        Bot(bot.simulator, url, mode="webhook")
