"""`/name` of a plugin's command in a chat: its answers go there, it never enters a lane, and is never done twice."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.journal import Receipt, Select, Unit
from parlour.core.model.ports import PluginUnavailable
from parlour.core.plugin_hooks.commands import COMMAND_TIMEOUT_SECONDS
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.store.tables import INBOX
from parlour_sdk.protocol.chain import Image

from ..delivery.platform_support import BOT, PlatformWorld
from ..support import PuppetRun, settle, until

PING = {"kind": "Command", "name": "ping", "spec": {"aliases": ["p"]}}


class CommandStream(PuppetRun):
    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__({"context": {"run_id": ""}})
        self.data = data


async def opened(**plugins: list[dict[str, Any]]) -> tuple[PlatformWorld, list[CommandStream]]:
    components = ComponentRegistry()
    for name, told in (plugins or {"fun": [PING]}).items():
        components.replace_plugin(f"acme/{name}", "1", told)
    world = await PlatformWorld.open(components=components)
    return world, listen(world)


def listen(world: PlatformWorld) -> list[CommandStream]:
    """The commands that plugins are asked to run."""
    asked: list[CommandStream] = []

    async def stream(plugin_id: str, action: str, data: dict[str, Any]) -> CommandStream:
        assert action == "run_command"
        asked.append(CommandStream({"plugin_id": plugin_id, **data}))
        return asked[-1]

    world.plugins.stream = stream  # type: ignore[method-assign]
    return asked


async def typed(world: PlatformWorld, text: str, **options: Any) -> None:
    await world.platform.say(text, **options)
    await settle()


async def test_each_answer_is_shown_as_it_comes_and_no_run_begins() -> None:
    world, asked = await opened()
    await typed(world, "/ping one  two")
    [command] = asked
    assert (command.data["command"], command.data["text"]) == ("ping", "one  two")
    assert command.data["arguments"] == ["one", "two"]
    assert command.data["actor"]["actor_id"] == "ann"
    command.send({"text": "pong"})
    await settle()
    assert world.platform.texts() == ["pong"]
    command.send({"chain": [{"type": "Plain", "text": "look"}, {"type": "Image", "url": "https://example.org/a.png"}]})
    command.end()
    await world.platform.until(lambda: len(world.platform.shown) == 2)
    await world.rest()
    assert world.platform.texts() == ["pong", "look"]
    assert isinstance(world.platform.shown[1].chain[1], Image)
    assert world.plugins.runs == []
    assert world.journal.database.read(Select(INBOX)) == []


async def test_an_alias_means_the_command_and_a_name_goes_first() -> None:
    world, asked = await opened(fun=[PING], other=[{"kind": "Command", "name": "p", "spec": {}}])
    await typed(world, "/p")
    await typed(world, "/ping")
    assert [(each.data["plugin_id"], each.data["command"]) for each in asked] == [
        ("acme/other", "p"),
        ("acme/fun", "ping"),
    ]


@pytest.mark.parametrize("text", ["/pingpong", "ping", "/", "see /ping", "/PING"])
async def test_what_is_no_command_is_a_message(text: str) -> None:
    world, asked = await opened()
    await typed(world, text)
    assert len(world.plugins.runs) == 1
    assert asked == []


async def test_a_command_acts_while_a_run_goes_on() -> None:
    world, asked = await opened()
    await typed(world, "hello")
    await typed(world, "/ping")
    asked[0].send({"text": "pong"})
    await settle()
    assert world.platform.texts() == ["pong"]
    assert len(world.plugins.runs) == 1


async def test_who_tells_a_slow_command_does_not_wait_for_it() -> None:
    world, _ = await opened()
    await asyncio.wait_for(world.platform.say("/ping"), 1)
    await asyncio.wait_for(world.platform.say("hello"), 1)
    await settle()
    assert len(world.plugins.runs) == 1


async def test_a_command_that_fails_or_takes_too_long_is_told() -> None:
    world, asked = await opened()
    await typed(world, "/ping")
    asked[0].crash()
    await settle()
    await typed(world, "/ping", chat_id="2")
    await asyncio.sleep(200)
    assert world.platform.texts("1") == ["/ping failed. Try it again in a moment."]
    assert world.platform.texts("2") == ["/ping failed. Try it again in a moment."]


async def test_a_plugin_that_is_away_is_told() -> None:
    world, _ = await opened()

    async def away(plugin_id: str, action: str, data: dict[str, Any]) -> CommandStream:
        raise PluginUnavailable("it is not running")

    world.plugins.stream = away  # type: ignore[method-assign]
    await typed(world, "/ping")
    assert world.platform.texts() == ["/ping failed. Try it again in a moment."]


async def test_an_answer_that_calls_everybody_is_not_shown() -> None:
    world, asked = await opened()
    await typed(world, "/ping")
    asked[0].send({"chain": [{"type": "AtAll"}]})
    await settle()
    assert world.platform.texts() == ["/ping failed. Try it again in a moment."]


async def test_a_redelivered_command_is_done_once() -> None:
    world, asked = await opened()
    for _ in range(3):
        await typed(world, "/ping", event_id="e1")
    assert len(asked) == 1


async def test_a_command_that_a_restart_cut_off_is_told_and_not_repeated() -> None:
    world, asked = await opened()
    await typed(world, "/ping", event_id="e1")
    world = await world.restart()
    again = listen(world)
    await typed(world, "/ping", event_id="e1")
    await world.rest()
    assert (len(asked), again) == (1, [])
    [text] = world.platform.texts()
    assert text.startswith("Whether /ping was carried out is not known")


async def test_a_chat_that_is_dropped_has_no_commands() -> None:
    world, asked = await opened()
    await world.core.routes.replace(BOT, [Route("*", "drop")])
    await typed(world, "/ping")
    assert asked == []
    assert world.platform.texts() == []


@pytest.mark.parametrize("unit", ["command.answer", "control.settle"])
async def test_a_database_that_fails_for_a_moment_leaves_no_command_without_a_word(unit: str) -> None:
    world, asked = await opened()
    await typed(world, "/ping")
    world.journal.broken[unit] = 1
    asked[0].send({"text": "pong"})
    asked[0].end()
    await until(lambda: world.journal.database.read(Select(INBOX)) == [])
    await world.rest()
    told = {"command.answer": "/ping was carried out is not known", "control.settle": "pong"}
    assert told[unit] in world.platform.texts()[-1]


async def test_an_answer_that_is_durable_as_the_commands_time_ends_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    world, asked = await opened()
    commit = world.journal.commit

    async def late(unit: Unit) -> Receipt:
        receipt = await commit(unit)
        if unit.name == "command.answer":
            await asyncio.sleep(COMMAND_TIMEOUT_SECONDS)
        return receipt

    monkeypatch.setattr(world.journal, "commit", late)
    await typed(world, "/ping")
    asked[0].send({"text": "pong"})
    await until(lambda: world.journal.database.read(Select(INBOX)) == [])
    await world.rest()
    assert world.platform.texts() == ["pong", "/ping failed. Try it again in a moment."]
