"""A chat begins anew when it is told to or was silent for long; what was before stays, and ends where it began."""

import asyncio
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.store.tables import CONVERSATIONS, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import PLUGIN, World, make_agent, message

KEY = message().conversation_key


async def renewed(world: World) -> str:
    return await world.core.conversations.start_new(KEY, world.ids, world.clock)


async def said(world: World, text: str, **fields: Any) -> str:
    accepted = await world.say(text, **fields)
    await world.rest()
    return accepted.conversation_id


def spoken(world: World, conversation_id: str) -> list[str]:
    rows = world.rows(TRANSCRIPT, conversation_id=conversation_id, role="user")
    return [row["content"] for row in rows]


async def test_a_chat_that_begins_anew_leaves_what_was_said_readable() -> None:
    world = await World.open(echo=True)
    old = await said(world, "before")
    new = await renewed(world)

    assert await said(world, "after") == new != old
    assert (spoken(world, old), spoken(world, new)) == (["before"], ["after"])
    assert [row["generation"] for row in world.rows(CONVERSATIONS)] == [0, 1]


async def test_the_new_conversation_is_the_chats_own_after_a_restart_too() -> None:
    world = await World.open(echo=True)
    await said(world, "before")
    new = await renewed(world)

    assert await said(await world.restart(), "after") == new


async def test_state_of_the_conversation_stays_with_the_old_one() -> None:
    world = await World.open()
    await world.say("remember")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="k", value="v")
    run.answer("yes")
    await world.rest()
    await renewed(world)

    await world.say("what?")
    assert (await world.plugins.next_run()).context["state"]["conversation"] == {}


async def test_a_run_of_the_old_conversation_ends_there_while_the_new_one_is_served() -> None:
    world = await World.open()
    old = (await world.say("before")).conversation_id
    first = await world.plugins.next_run()
    new = await renewed(world)
    await world.say("after")
    second = await world.plugins.next_run()
    second.answer("new answer")
    first.answer("old answer")
    await world.rest()

    answers = {row["conversation_id"]: row["content"] for row in world.rows(TRANSCRIPT, role="assistant")}
    assert answers == {old: "old answer", new: "new answer"}


async def test_two_who_begin_anew_at_once_make_two_generations() -> None:
    world = await World.open(echo=True)
    await said(world, "before")
    made = await asyncio.gather(renewed(world), renewed(world))

    assert len(set(made)) == 2
    assert await said(world, "after") in made
    assert [row["generation"] for row in world.rows(CONVERSATIONS)] == [0, 1, 2]


async def test_silence_of_the_agents_time_begins_anew() -> None:
    world = await World.open(make_agent(conversation_ttl=3600), echo=True)
    first = await said(world, "one")
    await asyncio.sleep(3500)
    assert await said(world, "two") == first
    await asyncio.sleep(3700)
    assert await said(world, "three") != first


async def test_silence_means_nothing_to_an_agent_without_such_a_time() -> None:
    world = await World.open(echo=True)
    first = await said(world, "one")
    await asyncio.sleep(10**7)
    assert await said(world, "two") == first


async def test_a_redelivery_after_long_silence_begins_nothing() -> None:
    world = await World.open(make_agent(conversation_ttl=60), echo=True)
    first = await said(world, "one", event_id="same")
    await asyncio.sleep(100)

    again = await world.say("one", event_id="same")

    assert (again.duplicate, again.conversation_id) == (True, first)
    assert len(world.rows(CONVERSATIONS)) == 1


async def test_a_plugin_that_may_manage_messages_begins_a_chat_anew() -> None:
    granted = PluginPermissions.model_validate({"platform_api": ["message.manage"]})
    world = await World.open(echo=True, plugin_grants=lambda plugin_id: granted)
    old = await said(world, "before")
    request = {"call_id": "1", "conversation_id": old}
    answer = await world.core.gate.call(PLUGIN, "start_conversation", request)

    assert await said(world, "after") == answer["conversation_id"] != old
    with pytest.raises(CallRejected, match="no conversation"):
        await world.core.gate.call(PLUGIN, "start_conversation", {**request, "conversation_id": "none"})
