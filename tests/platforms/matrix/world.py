"""Provides bots on Matrix in a real Host, with a real Synapse."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour.testing.synapse_server import SynapseServer
from tests.platforms.onebot11.qq import eventually
from tests.support.harness import Host, Json

from .person import Person

PROBE = "parlour/probe"
numbers = itertools.count(1)
"""Numbers for unique names."""


class World:
    def __init__(self, host: Host, synapse: SynapseServer) -> None:
        self.host = host
        self.synapse = synapse

    @asynccontextmanager
    async def person(self, name: str = "Ann") -> AsyncIterator[Person]:
        account = self.synapse.register(f"{name.lower()}{next(numbers)}", name)
        async with Person(self.synapse.url, account).online() as person:
            yield person

    @asynccontextmanager
    async def bot(self, routes: list[Json], homeserver: str = "", **config: Any) -> AsyncIterator["Bot"]:
        """Creates a bot and waits until it is connected."""
        bot = self.make(routes, homeserver, **config)
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        yield bot
        bot.delete()

    def make(self, routes: list[Json], homeserver: str = "", **config: Any) -> "Bot":
        account = self.synapse.register(f"bot{next(numbers)}", "The Bot")
        known = {"user": account.user_id, "access_token": account.access_token}
        settings = {"homeserver": homeserver or self.synapse.url, **known, **config}
        body = {"name": "matrix", "adapter": "matrix", "adapter_config": settings}
        made = self.host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot = Bot(self.host, made.json()["bot_id"], account.user_id)
        set_to = self.host.http().put(f"/bots/{bot.bot_id}/routes", json=routes)
        assert set_to.status_code == 200, set_to.text
        return bot

    async def wait_for_deliveries(self, event_id: str, *states: str) -> list[Json]:
        """Waits until the replies to a message have one of these states and returns their deliveries."""

        def look() -> list[Json]:
            answer = self.host.http().get(f"/events/{event_id}/why")
            trail = answer.json()["steps"] if answer.status_code == 200 else []
            steps = [step for step in trail if step["step"] == "delivery"]
            return steps if steps and all(step["data"]["state"] in states for step in steps) else []

        return await eventually(look, f"the reply is {' or '.join(states)}")

    def probed(self, name: str) -> list[Json]:
        """Returns the events or answers that the probe recorded."""
        file = self.host.shared_file(f"{name}.jsonl", PROBE)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    async def probe_calls(self, person: Person, room_id: str, calls: list[Json]) -> list[Json]:
        """Returns the outcomes of the calls, which the probe makes because the person requested them."""
        before = len(self.probed("answers"))
        await person.say(room_id, json.dumps(calls))

        def answered() -> list[Json]:
            answers = self.probed("answers")[before:]
            return answers if len(answers) >= len(calls) else []

        return await eventually(answered, "the probe made its calls")


class Bot:
    def __init__(self, host: Host, bot_id: str, user_id: str) -> None:
        self._host = host
        self.bot_id = bot_id
        self.user_id = user_id

    @property
    def status(self) -> Json:
        return dict(self._host.http().get(f"/bots/{self.bot_id}").json()["status"])

    async def wait_for_error(self, words: str) -> Json:
        """Waits until the bot's last error contains this text and returns the status."""
        return await eventually(lambda: self._with(words), f"the state says {words!r}")

    def _with(self, words: str) -> Json:
        status = self.status
        return status if words in (status["last_error"] or "") else {}

    def delete(self) -> None:
        self._host.http().delete(f"/bots/{self.bot_id}")
