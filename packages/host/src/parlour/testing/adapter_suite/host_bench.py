"""Connects a platform with a bot of a real Host, whose plugins run in their own processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from .driver import Json, PlatformDriver, SuiteChat
from .probe import PROBE_PLUGIN, Probe, eventually

SLOW_WORD_MILLISECONDS = 100


class SuiteHost(Protocol):
    """A running Host with the probe plugin. All platforms of a test process share it."""

    @property
    def address(self) -> str: ...

    def http(self) -> httpx.Client:
        """Returns a client of the HTTP interface with an administrator's key."""
        ...

    def shared_file(self, name: str, plugin_id: str) -> Path:
        """Returns a path in the data folder of a plugin."""
        ...

    def log(self) -> str: ...


class HostBench:
    """Holds the bot of one platform for all its rows."""

    def __init__(self, host: SuiteHost, driver: PlatformDriver, bot_id: str, agent_id: str, control: SuiteChat) -> None:
        self.host = host
        self.driver = driver
        self.bot_id = bot_id
        self.probe = Probe(host.shared_file("", PROBE_PLUGIN), bot_id, lambda text: driver.say(control, text))
        self._agent_id = agent_id
        self._handler: tuple[str, Json] = ("", {})
        self._remembered: dict[str, Any] = {}

    @classmethod
    @asynccontextmanager
    async def running(cls, host: SuiteHost, driver: PlatformDriver, agent_id: str) -> AsyncIterator["HostBench"]:
        """Starts the platform, creates its bot and waits until both are connected. `agent_id` is an agent that repeats
        each message.
        """
        async with driver.running():
            body = {"name": driver.manifest.name, "adapter": driver.manifest.name, "adapter_config": driver.config}
            made = host.http().post("/bots", json=body)
            assert made.status_code == 201, made.text
            bot_id = made.json()["bot_id"]
            driver.called_at(f"{host.address}/hooks/{bot_id}")
            bench = cls(host, driver, bot_id, agent_id, await driver.chat())
            await eventually(lambda: bench.status["state"] == "connected", "the bot is connected")
            try:
                yield bench
            finally:
                host.http().delete(f"/bots/{bench.bot_id}")

    @property
    def status(self) -> Json:
        return dict(self.host.http().get(f"/bots/{self.bot_id}").json()["status"])

    def route_to_agent(self) -> None:
        self._route("agent", {"agent_id": self._agent_id})

    def route_to_slow_agent(self) -> None:
        """Routes to an agent that takes its time for each word."""
        agent = self.host.http().get(f"/agents/{self._agent_id}").json()
        body = {"name": "slow", "runner_id": agent["runner_id"], "runner_config": {"delay_ms": SLOW_WORD_MILLISECONDS}}
        made = self.host.http().post("/agents", json=body)
        assert made.status_code == 201, made.text
        self._route("agent", {"agent_id": made.json()["agent_id"]})

    def route_to_plugins(self) -> None:
        self._route("plugin", {"plugins": []})

    def _route(self, handler_type: str, config: Json) -> None:
        handler = (handler_type, config)
        if self._handler != handler:
            route = {"event_type": "*", "handler_type": handler_type, "handler_config": config}
            answer = self.host.http().put(f"/bots/{self.bot_id}/routes", json=[route])
            assert answer.status_code == 200, answer.text
            self._handler = handler

    async def remember(self, name: str, work: Any) -> Any:
        """Returns the result of work that several rows share and that is done once, also if it fails."""
        if name not in self._remembered:
            try:
                self._remembered[name] = await work()
            except BaseException as error:
                self._remembered[name] = error
                raise
        if isinstance(self._remembered[name], BaseException):
            raise AssertionError(f"{name} failed in an earlier row") from self._remembered[name]
        return self._remembered[name]

    async def event_id(self, text: str) -> str:
        """Waits until a user's message with this text is stored and returns the id of its event."""

        def look() -> str:
            items = self.host.http().get("/events", params={"bot_id": self.bot_id, "limit": 50}).json()["items"]
            return next((str(each["event_id"]) for each in items if each["input_summary"] == text), "")

        return await eventually(look, f"the message {text!r} is stored")

    async def deliveries(self, event_id: str, *states: str) -> list[Json]:
        """Waits until all deliveries of an event have one of these states and returns them from its trail."""

        def look() -> list[Json]:
            answer = self.host.http().get(f"/events/{event_id}/why")
            trail = answer.json()["steps"] if answer.status_code == 200 else []
            steps = [step for step in trail if step["step"] == "delivery"]
            return steps if steps and all(step["data"]["state"] in states for step in steps) else []

        return await eventually(look, f"the reply is {' or '.join(states)}")
