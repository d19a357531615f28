"""Provides bots on OneBot in a real Host, with simulators in the test."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator
from tests.support.harness import Host, Json

PROBE = "parlour/probe"
TOKEN = "in-the-address"
"""The token of bots for which a test names no other one; it is part of their address."""
Value = TypeVar("Value")


class QQ:
    """Represents a Host and its OneBot bots."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def bot(self, routes: list[Json] | None = None, name: str = "qq", **config: Any) -> "Bot":
        default = {"mode": "reverse", "host": "127.0.0.1", "port": free_port(), "access_token": TOKEN}
        config = {**default, **config}
        body = {"name": name, "adapter": "onebot11", "adapter_config": config}
        made = self.host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot = Bot(self.host, made.json()["bot_id"], config)
        set_to = self.host.http().put(f"/bots/{bot.bot_id}/routes", json=routes or [])
        assert set_to.status_code == 200, set_to.text
        return bot

    def deliveries(self, native: Json) -> list[Json]:
        """Returns the deliveries of the replies to a message, from its trail."""
        answer = self.host.http().get(f"/events/{event_id(native)}/why")
        if answer.status_code == 404:
            return []  # the message has not been received yet
        assert answer.status_code == 200, answer.text
        return [step for step in answer.json()["steps"] if step["step"] == "delivery"]

    async def wait_for_deliveries(self, native: Json, *states: str) -> list[Json]:
        """Waits until the replies have one of these states and returns their deliveries."""

        def look() -> list[Json]:
            steps = self.deliveries(native)
            return steps if steps and all(step["data"]["state"] in states for step in steps) else []

        return await eventually(look, f"the reply is {' or '.join(states)}")

    def probed(self, name: str) -> list[Json]:
        """Returns the events or answers that the probe recorded."""
        file = self.host.shared_file(f"{name}.jsonl", PROBE)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]


class Bot:
    def __init__(self, host: Host, bot_id: str, config: Json) -> None:
        self._host = host
        self.bot_id = bot_id
        named = f"?access_token={TOKEN}" if config.get("access_token") == TOKEN else ""
        self.url = f"ws://127.0.0.1:{config['port']}/onebot/v11/ws{named}"

    @property
    def hooks_url(self) -> str:
        """Returns the address at which implementations connect to the Host's own port."""
        return f"{self._host.address.replace('http', 'ws', 1)}/hooks/{self.bot_id}/onebot/v11/ws"

    @property
    def status(self) -> Json:
        return dict(self._host.http().get(f"/bots/{self.bot_id}").json()["status"])

    async def wait_for_error(self, text: str) -> str:
        """Waits until the bot's last error contains this text and returns it."""
        return await eventually(lambda: _containing(self.status["last_error"] or "", text), f"the state says {text!r}")

    @asynccontextmanager
    async def connected(self, simulator: Simulator | None = None, **options: Any) -> AsyncIterator[Simulator]:
        simulator = simulator or Simulator(**options)
        async with simulator.connecting(self.url):
            await eventually(lambda: self.status["state"] == "connected", "the bot is connected")
            yield simulator

    def switch(self, enabled: bool) -> None:
        current = self._host.http().get(f"/bots/{self.bot_id}").json()
        body = {name: current[name] for name in ("name", "adapter", "adapter_config")}
        changed = self._host.http().put(f"/bots/{self.bot_id}", json={**body, "enabled": enabled})
        assert changed.status_code == 200, changed.text

    def delete(self) -> None:
        self._host.http().delete(f"/bots/{self.bot_id}")


async def eventually(look: Callable[[], Value], what: str, seconds: float = 30) -> Value:
    """Returns the value of `look` as soon as it is true. The simulators keep running while it waits."""
    until = time.monotonic() + seconds
    while not (seen := await asyncio.to_thread(look)):
        assert time.monotonic() < until, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(0.02)
    return seen


def event_id(native: Json) -> str:
    """Returns the event id of a message that a simulator reported."""
    group = native.get("group_id")
    chat = f"group:{group}" if group else f"private:{native['user_id']}"
    return f"{native['self_id']}:{chat}:{native['message_id']}:{native['time'] * 1000}"


def to_agent(agent_id: str) -> list[Json]:
    return [{"event_type": "*", "handler_type": "agent", "handler_config": {"agent_id": agent_id}}]


def to_plugins() -> list[Json]:
    return [{"event_type": "*", "handler_type": "plugin", "handler_config": {"plugins": []}}]


def _containing(text: str, part: str) -> str:
    return text if part in text else ""
