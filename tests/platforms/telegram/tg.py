"""Provides bots on Telegram in a real Host, with the simulated Telegram in the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour.testing.telegram_simulator import Simulator
from tests.platforms.onebot11.qq import QQ, eventually
from tests.support.harness import Host, Json


class Bot:
    def __init__(self, host: Host, bot_id: str, simulator: Simulator) -> None:
        self._host = host
        self.bot_id = bot_id
        self.simulator = simulator

    @property
    def status(self) -> Json:
        return dict(self._host.http().get(f"/bots/{self.bot_id}").json()["status"])

    async def is_connected(self) -> None:
        await eventually(lambda: self.status["state"] == "connected", "the bot is connected")

    async def wait_for_error(self, words: str) -> str:
        """Waits until the bot's last error contains this text and returns it."""

        def look() -> str:
            error = str(self.status["last_error"] or "")
            return error if words in error else ""

        return await eventually(look, f"the state says {words!r}")

    def delete(self) -> None:
        self._host.http().delete(f"/bots/{self.bot_id}")


class Telegram:
    """Represents a Host and its Telegram bots."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.probed = QQ(host).probed

    @asynccontextmanager
    async def bot(self, routes: list[Json], simulator: Simulator | None = None, **config: Any) -> AsyncIterator[Bot]:
        """Creates a connected bot that is deleted after the context."""
        simulator = simulator or Simulator()
        async with simulator.listening() as url:
            bot = self.made(routes, simulator, url, **config)
            await bot.is_connected()
            try:
                yield bot
            finally:
                bot.delete()

    def made(self, routes: list[Json], simulator: Simulator, url: str, **config: Any) -> Bot:
        adapter_config = {"token": simulator.token, "api_base_url": url, **config}
        made = self.host.http().post(
            "/bots", json={"name": "tg", "adapter": "telegram", "adapter_config": adapter_config}
        )
        assert made.status_code == 201, made.text
        bot = Bot(self.host, made.json()["bot_id"], simulator)
        set_to = self.host.http().put(f"/bots/{bot.bot_id}/routes", json=routes)
        assert set_to.status_code == 200, set_to.text
        return bot

    def deliveries(self, bot: Bot, message: Json) -> list[Json]:
        """Returns the deliveries of the replies to a message, from its trail."""
        answer = self.host.http().get(f"/events/{event_id(bot.simulator, message)}/why")
        if answer.status_code == 404:
            return []  # the message has not been received yet
        assert answer.status_code == 200, answer.text
        return [step for step in answer.json()["steps"] if step["step"] == "delivery"]

    async def wait_for_deliveries(self, bot: Bot, message: Json, *states: str) -> list[Json]:
        """Waits until the replies have one of these states and returns their deliveries."""

        def look() -> list[Json]:
            steps = self.deliveries(bot, message)
            return steps if steps and all(step["data"]["state"] in states for step in steps) else []

        return await eventually(look, f"the reply is {' or '.join(states)}")


def event_id(simulator: Simulator, message: Json) -> str:
    """Returns the event id of a message that a user sent."""
    update = next(each for each in simulator.updates.reported if each.get("message") is message)
    return f"{update['update_id']}:{message['date'] * 1000}"
