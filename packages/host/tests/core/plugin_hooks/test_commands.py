"""Plugin commands in a chat: answered there, outside of lanes, and never executed twice."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.journal import PreparedCallback, Receipt, Select, Unit
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


async def open_world(**plugins: list[dict[str, Any]]) -> tuple[PlatformWorld, list[CommandStream]]:
    components = ComponentRegistry()
    for name, discovered in (plugins or {"fun": [PING]}).items():
        components.replace_plugin(f"acme/{name}", "1", discovered)
    world = await PlatformWorld.open(components=components)
    return world, collect_commands(world)


def collect_commands(world: PlatformWorld) -> list[CommandStream]:
    """Collects the commands that plugins are called with."""
    commands: list[CommandStream] = []

    async def stream(plugin_id: str, action: str, data: dict[str, Any]) -> CommandStream:
        assert action == "run_command"
        commands.append(CommandStream({"plugin_id": plugin_id, **data}))
        return commands[-1]

    world.plugins.stream = stream  # type: ignore[method-assign]
    return commands


async def type_text(world: PlatformWorld, text: str, **options: Any) -> None:
    await world.platform.say(text, **options)
    await settle()


async def test_answers_are_shown_as_they_arrive_and_no_run_starts() -> None:
    world, commands = await open_world()
    await type_text(world, "/ping one  two")
    [command] = commands
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


async def test_alias_runs_the_command_and_names_take_precedence() -> None:
    world, commands = await open_world(fun=[PING], other=[{"kind": "Command", "name": "p", "spec": {}}])
    await type_text(world, "/p")
    await type_text(world, "/ping")
    assert [(each.data["plugin_id"], each.data["command"]) for each in commands] == [
        ("acme/other", "p"),
        ("acme/fun", "ping"),
    ]


@pytest.mark.parametrize("text", ["/pingpong", "ping", "/", "see /ping", "/PING"])
async def test_similar_text_is_a_message(text: str) -> None:
    world, commands = await open_world()
    await type_text(world, text)
    assert len(world.plugins.runs) == 1
    assert commands == []


async def test_command_runs_during_an_active_run() -> None:
    world, commands = await open_world()
    await type_text(world, "hello")
    await type_text(world, "/ping")
    commands[0].send({"text": "pong"})
    await settle()
    assert world.platform.texts() == ["pong"]
    assert len(world.plugins.runs) == 1


async def test_slow_command_does_not_block_later_messages() -> None:
    world, _ = await open_world()
    await asyncio.wait_for(world.platform.say("/ping"), 1)
    await asyncio.wait_for(world.platform.say("hello"), 1)
    await settle()
    assert len(world.plugins.runs) == 1


async def test_failed_or_slow_command_is_reported() -> None:
    world, commands = await open_world()
    await type_text(world, "/ping")
    commands[0].crash()
    await settle()
    await type_text(world, "/ping", chat_id="2")
    await asyncio.sleep(200)
    assert world.platform.texts("1") == ["/ping failed. Try it again in a moment."]
    assert world.platform.texts("2") == ["/ping failed. Try it again in a moment."]


async def test_unavailable_plugin_is_reported() -> None:
    world, _ = await open_world()

    async def away(plugin_id: str, action: str, data: dict[str, Any]) -> CommandStream:
        raise PluginUnavailable("it is not running")

    world.plugins.stream = away  # type: ignore[method-assign]
    await type_text(world, "/ping")
    assert world.platform.texts() == ["/ping failed. Try it again in a moment."]


async def test_answer_that_mentions_everyone_is_refused() -> None:
    world, commands = await open_world()
    await type_text(world, "/ping")
    commands[0].send({"chain": [{"type": "AtAll"}]})
    await settle()
    assert world.platform.texts() == ["/ping failed. Try it again in a moment."]


async def test_redelivered_command_is_executed_once() -> None:
    world, commands = await open_world()
    for _ in range(3):
        await type_text(world, "/ping", event_id="e1")
    assert len(commands) == 1


async def test_interrupted_command_is_reported_and_not_repeated() -> None:
    world, commands = await open_world()
    await type_text(world, "/ping", event_id="e1")
    world = await world.restart()
    again = collect_commands(world)
    await type_text(world, "/ping", event_id="e1")
    await world.rest()
    assert (len(commands), again) == (1, [])
    [text] = world.platform.texts()
    assert text.startswith("Whether /ping was carried out is not known")


async def test_dropped_chat_has_no_commands() -> None:
    world, commands = await open_world()
    await world.core.routes.replace(BOT, [Route("*", "drop")])
    await type_text(world, "/ping")
    assert commands == []
    assert world.platform.texts() == []


@pytest.mark.parametrize("unit", ["command.answer", "control.settle"])
async def test_command_is_answered_despite_a_failed_commit(unit: str) -> None:
    world, commands = await open_world()
    await type_text(world, "/ping")
    world.journal.broken[unit] = 1
    commands[0].send({"text": "pong"})
    commands[0].end()
    await until(lambda: world.journal.database.read(Select(INBOX)) == [])
    await world.rest()
    expected = {"command.answer": "/ping was carried out is not known", "control.settle": "pong"}
    assert expected[unit] in world.platform.texts()[-1]


async def test_committed_answer_is_shown_though_the_command_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world, commands = await open_world()
    commit = world.journal.commit

    async def late(unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        receipt = await commit(unit, on_prepared)
        if unit.name == "command.answer":
            await asyncio.sleep(COMMAND_TIMEOUT_SECONDS)
        return receipt

    monkeypatch.setattr(world.journal, "commit", late)
    await type_text(world, "/ping")
    commands[0].send({"text": "pong"})
    await until(lambda: world.journal.database.read(Select(INBOX)) == [])
    await world.rest()
    assert world.platform.texts() == ["pong", "/ping failed. Try it again in a moment."]
