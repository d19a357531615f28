"""A chat starts a new conversation on request or after a long silence; the previous one stays readable."""

import asyncio
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.store.tables import CONVERSATIONS, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import PLUGIN, World, make_agent, message

KEY = message().conversation_key


async def start_new(world: World) -> str:
    return await world.core.conversations.start_new(KEY, world.ids, world.clock)


async def send_message(world: World, text: str, **fields: Any) -> str:
    accepted = await world.say(text, **fields)
    await world.rest()
    return accepted.conversation_id


def user_texts(world: World, conversation_id: str) -> list[str]:
    rows = world.rows(TRANSCRIPT, conversation_id=conversation_id, role="user")
    return [row["content"] for row in rows]


async def test_new_conversation_keeps_the_previous_one_readable() -> None:
    world = await World.open(echo=True)
    old = await send_message(world, "before")
    new = await start_new(world)

    assert await send_message(world, "after") == new != old
    assert (user_texts(world, old), user_texts(world, new)) == (["before"], ["after"])
    assert [row["generation"] for row in world.rows(CONVERSATIONS)] == [0, 1]


async def test_new_conversation_stays_current_after_a_restart() -> None:
    world = await World.open(echo=True)
    await send_message(world, "before")
    new = await start_new(world)

    assert await send_message(await world.restart(), "after") == new


async def test_conversation_state_stays_with_the_previous_conversation() -> None:
    world = await World.open()
    await world.say("remember")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="k", value="v")
    run.answer("yes")
    await world.rest()
    await start_new(world)

    await world.say("what?")
    assert (await world.plugins.next_run()).context["state"]["conversation"] == {}


async def test_run_of_the_previous_conversation_ends_there() -> None:
    world = await World.open()
    old = (await world.say("before")).conversation_id
    first = await world.plugins.next_run()
    new = await start_new(world)
    await world.say("after")
    second = await world.plugins.next_run()
    second.answer("new answer")
    first.answer("old answer")
    await world.rest()

    answers = {row["conversation_id"]: row["content"] for row in world.rows(TRANSCRIPT, role="assistant")}
    assert answers == {old: "old answer", new: "new answer"}


async def test_concurrent_starts_create_two_generations() -> None:
    world = await World.open(echo=True)
    await send_message(world, "before")
    made = await asyncio.gather(start_new(world), start_new(world))

    assert len(set(made)) == 2
    assert await send_message(world, "after") in made
    assert [row["generation"] for row in world.rows(CONVERSATIONS)] == [0, 1, 2]


async def test_silence_beyond_the_ttl_starts_a_new_conversation() -> None:
    world = await World.open(make_agent(conversation_ttl=3600), echo=True)
    first = await send_message(world, "one")
    await asyncio.sleep(3500)
    assert await send_message(world, "two") == first
    await asyncio.sleep(3700)
    assert await send_message(world, "three") != first


async def test_silence_without_a_ttl_keeps_the_conversation() -> None:
    world = await World.open(echo=True)
    first = await send_message(world, "one")
    await asyncio.sleep(10**7)
    assert await send_message(world, "two") == first


async def test_redelivery_after_a_long_silence_starts_nothing() -> None:
    world = await World.open(make_agent(conversation_ttl=60), echo=True)
    first = await send_message(world, "one", event_id="same")
    await asyncio.sleep(100)

    again = await world.say("one", event_id="same")

    assert (again.duplicate, again.conversation_id) == (True, first)
    assert len(world.rows(CONVERSATIONS)) == 1


async def test_plugin_with_permission_starts_a_new_conversation() -> None:
    granted = PluginPermissions.model_validate({"platform_api": ["message.manage"]})
    world = await World.open(echo=True, plugin_grants=lambda plugin_id: granted)
    old = await send_message(world, "before")
    request = {"call_id": "1", "conversation_id": old}
    answer = await world.core.gate.call(PLUGIN, "start_conversation", request)

    assert await send_message(world, "after") == answer["conversation_id"] != old
    with pytest.raises(CallRejected, match="no conversation"):
        await world.core.gate.call(PLUGIN, "start_conversation", {**request, "conversation_id": "none"})
