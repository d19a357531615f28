"""Tests webhook calls of Telegram: only genuine calls are accepted, and each counts once."""

import httpx

from parlour.testing.telegram_simulator import Simulator
from tests.platforms.onebot11.qq import to_agent
from tests.support.harness import Json

from .tg import Telegram

ANN = 1


async def test_updates_come_by_webhook_with_the_secret_only_and_each_counts_once(tg: Telegram, echo: str) -> None:
    simulator = Simulator()
    routes = to_agent(echo)
    async with tg.bot(routes, simulator, mode="webhook", webhook_url=tg.host.address, secret_token="s-1") as bot:
        message = await simulator.say("hello", ANN)
        await simulator.answered(1, ANN)
        update = simulator.updates.reported[-1]
        hook = f"{tg.host.address}/hooks/{bot.bot_id}"
        assert simulator.updates.webhook == {"url": hook, "secret": "s-1"}
        for headers, status in (({}, 401), ({"X-Telegram-Bot-Api-Secret-Token": "wrong"}, 401)):
            forged = {"update_id": 9, "message": {**message, "text": "forged"}}
            assert await status_of(hook, forged, headers) == status
        assert await status_of(f"{hook}x", update, {}) == 404
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{hook}?challenge=1")).status_code == 401
        await simulator.updates.repeat(update)
        await simulator.say("again", ANN)
        await simulator.until(lambda: simulator.texts(ANN)[-1] == "again")
    assert simulator.texts(ANN) == ["hello", "again"]


async def status_of(address: str, update: Json, headers: dict[str, str]) -> int:
    async with httpx.AsyncClient() as client:
        return (await client.post(address, json=update, headers=headers)).status_code
