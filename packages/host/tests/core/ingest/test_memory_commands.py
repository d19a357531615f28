"""Tests `/memory`, and that a person decides what agents remember, on the rules without a database."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.memory.service import MemoryPlace, MemoryRefused, MemoryService, place_of
from parlour.core.model.event import ConversationKey, Participant
from parlour.core.model.ids import AgentId, BotId, PluginId
from parlour.core.model.memory import MemoryPolicy
from parlour.core.model.providers import CallContext
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import MEMORIES, OUTBOX

from ..support import World, make_agent, message

CONSENTED = MemoryPolicy("person")
FREE = MemoryPolicy("person", consent=False)
CONTEXT = CallContext(PluginId("test/plugin"))


def place(chat: str, person: str = "42", policy: MemoryPolicy = FREE, bot: str = "bot") -> MemoryPlace:
    key = ConversationKey("default", "onebot11", BotId(bot), chat, "", AgentId(""), "")
    found = place_of(AgentId("agent"), policy, key, Participant("user", person, "Sam"))
    assert found is not None
    return found


async def texts(memory: MemoryService, where: MemoryPlace) -> list[str]:
    return [each.text for each in await memory.usable(where)]


async def replies(world: World) -> list[str]:
    await world.rest()
    return list(world.surface.texts)


async def test_what_was_said_in_private_is_not_used_in_a_group() -> None:
    world = await World.open()
    memory = MemoryService(world.journal, world.clock)
    await memory.remember(place("private:42"), FREE, "Is ill.", CONTEXT)
    await memory.remember(place("group:7"), FREE, "Brings cake.", CONTEXT)
    await memory.remember(place("group:8"), FREE, "Hates cake.", CONTEXT)
    assert await texts(memory, place("group:7")) == ["Brings cake."]
    assert sorted(await texts(memory, place("private:42"))) == ["Brings cake.", "Hates cake.", "Is ill."]
    assert await texts(memory, place("group:7", person="43")) == []
    assert await texts(memory, place("private:42", bot="other")) == []


async def test_a_group_has_one_memory_if_the_policy_says_so() -> None:
    world = await World.open()
    memory, policy = MemoryService(world.journal, world.clock), MemoryPolicy("chat", consent=False)
    await memory.remember(place("group:7", "1", policy), policy, "Meets on Mondays.", CONTEXT)
    assert await texts(memory, place("group:7", "2", policy)) == ["Meets on Mondays."]
    assert await texts(memory, place("group:8", "1", policy)) == []


async def test_consent_comes_first_and_a_refusal_deletes_everything() -> None:
    world = await World.open()
    memory, here = MemoryService(world.journal, world.clock), place("private:42", policy=CONSENTED)
    with pytest.raises(MemoryRefused, match="/memory on"):
        await memory.remember(here, CONSENTED, "Likes tea.", CONTEXT)
    await memory.allow(here.owner)
    await memory.remember(here, CONSENTED, "Likes tea.", CONTEXT)
    assert await texts(memory, here) == ["Likes tea."]
    await memory.refuse(here.owner)
    assert await texts(memory, here) == []
    with pytest.raises(MemoryRefused, match="/memory off"):
        await memory.remember(here, FREE, "Likes tea.", CONTEXT)


async def test_expired_memories_are_not_used_and_then_deleted() -> None:
    world = await World.open()
    memory, here = MemoryService(world.journal, world.clock), place("private:42")
    await memory.remember(here, MemoryPolicy("person", False, 10, 1), "Has a cold.", CONTEXT)
    await memory.remember(here, MemoryPolicy("person", False, 10, 0), "Is tall.", CONTEXT)
    await asyncio.sleep(2 * 86_400)
    assert await texts(memory, here) == ["Is tall."]
    await Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods()).run_once()
    assert [row["text"] for row in world.rows(MEMORIES)] == ["Is tall."]


@pytest.mark.parametrize("text", ["", " ", "x" * 1001])
async def test_a_memory_is_one_sentence(text: str) -> None:
    world = await World.open()
    with pytest.raises(MemoryRefused):
        await MemoryService(world.journal, world.clock).remember(place("private:42"), FREE, text, CONTEXT)
    assert world.rows(MEMORIES) == []


async def test_a_schedule_has_no_memory() -> None:
    key = ConversationKey("default", "system", BotId("bot"), "schedule:1", "", AgentId(""), "")
    assert place_of(AgentId("agent"), FREE, key, Participant("system", "scheduler")) is None


async def test_the_command_shows_allows_and_refuses() -> None:
    world = await World.open(make_agent(memory_policy={"scope": "person"}), echo=True)
    for text in ("/memory", "/memory on", "/memory", "/memory off", "/memory"):
        await world.say(text, surface="platform")
    shown = await replies(world)
    assert "Memory is off:" in shown[0]
    assert "may remember things now" in shown[1]
    assert "Memory is on:" in shown[2]
    assert "is deleted" in shown[3]
    assert "Memory is off, as you asked:" in shown[4]
    assert len(world.rows(OUTBOX)) == 5
    assert not world.plugins.runs


async def test_the_command_is_a_message_for_an_agent_without_memory() -> None:
    world = await World.open(echo=True)
    await world.say("/memory", surface="platform")
    await world.rest()
    assert len(world.plugins.runs) == 1


@pytest.mark.parametrize(("role", "reply"), [("member", "Only an owner or admin"), ("admin", "may remember things")])
async def test_the_memory_of_a_group_is_switched_by_its_admins(role: str, reply: str) -> None:
    world = await World.open(make_agent(memory_policy={"scope": "chat"}), echo=True)
    event = message("/memory on", surface="platform", chat="group:7")
    await world.core.gateway.ingest(replace(event, actor=Participant("user", "1", "Ann", {"role": role})))
    assert reply in (await replies(world))[0]
