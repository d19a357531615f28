"""Tests conversations with a bot in rooms of a real Synapse, through adapter, Host, plugin process and back.

Synapse and the Host are killed in the middle of them; no message is lost or shown twice.
"""

import asyncio
import json
import time
from pathlib import Path

import pytest

from parlour.testing.homeserver_proxy import HomeserverProxy
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.support.harness import ECHO, Json

from .person import Person, replaced, require_success
from .world import Bot, World

ACTING = "plugin:test/acting-agent/default"
BUBBLE = "/send/m.room.message/"
INTERRUPTED = "The answer was interrupted by a restart. Please ask again."


def gate(world: World, name: str) -> Path:
    """Returns a file that the puppet waits for."""
    return world.host.shared_file(name)


def shown_versions(person: Person, room: str) -> list[str]:
    """Returns all versions of the bot's single message in the room, in order."""
    events = person.events(room)
    assert len({replaced(each) or each["event_id"] for each in events}) == 1, "there is a second message"
    return [each["content"].get("m.new_content", each["content"])["body"] for each in events]


async def test_a_bot_that_is_invited_answers_in_the_room(world: World, echo: str) -> None:
    async with world.bot(to_agent(echo)) as bot, world.person() as ann:
        room = await ann.room(bot.user_id)
        await ann.say(room, "hello")
        await ann.answered(room, "hello")
        await ann.say(room, "**once** more")
        await ann.answered(room, "hello", "**once** more")
        said = ann.events(room)[-1]["content"]
        said = said.get("m.new_content", said)
    assert (said["msgtype"], said["formatted_body"]) == ("m.notice", "<strong>once</strong> more")


async def test_only_messages_to_the_bot_are_answered_in_a_group(world: World, echo: str) -> None:
    route = {**to_agent(echo)[0], "filters": {"mentions_bot": True}}
    async with world.bot([route]) as bot, world.person("Ann") as ann, world.person("Bob") as bob:
        room = await ann.room(bot.user_id, bob.id)
        require_success(await bob.client.join(room))
        await ann.until(lambda: bob.id in ann.members(room))
        await ann.say(room, "just among us")
        await ann.say(room, f"{bot.user_id} by id")
        await ann.say(room, "to a bot", msgtype="m.notice", **{"m.mentions": {"user_ids": [bot.user_id]}})
        await ann.answered(room, "by id")
        answer = {"m.relates_to": {"m.in_reply_to": {"event_id": ann.events(room)[-1]["event_id"]}}}
        await bob.say(room, "an answer to it", **answer)
        await ann.until(lambda: ann.read(room)[-1:] == ["an answer to it"])
        said = [text for text in ann.read(room) if text != "an answer to it"]
    assert said == ["by id"]


async def test_threads_are_separate_conversations_and_answered_there(world: World, echo: str) -> None:
    async with world.bot(to_agent(echo)) as bot, world.person() as ann:
        room = await ann.room(bot.user_id)
        roots = [await ann.say(room, name) for name in ("one", "two")]
        for number in range(2):
            for root in roots:
                await ann.say(room, f"{number}", **_in_thread(root))
        await ann.until(lambda: len(ann.read(room)) == 6)
        threads = {root: _said_in(ann, room, root) for root in roots}
        conversations = world.host.items("/events", bot_id=bot.bot_id)
    assert threads == {root: ["0", "1"] for root in roots}
    assert len({each["conversation_id"] for each in conversations if each["event_type"] == "message.received"}) == 3


def _in_thread(root: str) -> Json:
    return {"m.relates_to": {"rel_type": "m.thread", "event_id": root, "is_falling_back": True}}


def _said_in(person: Person, room: str, root: str) -> list[str]:
    relations = [(each["content"]["body"], each["content"].get("m.relates_to") or {}) for each in person.events(room)]
    return [body for body, relation in relations if relation.get("event_id") == root]


async def test_an_answer_grows_in_one_message_and_the_bot_is_seen_typing(world: World, puppet: str) -> None:
    opened = gate(world, "grows")
    async with world.bot(to_agent(puppet)) as bot, world.person() as ann:
        room = await ann.room(bot.user_id)
        await ann.say(room, f"gate {opened}")
        await ann.answered(room, "waiting ")
        opened.touch()
        await ann.answered(room, "waiting is over")
        shown = shown_versions(ann, room)
        other = await ann.room(bot.user_id)
        await ann.say(other, "sleep")
        await ann.until(lambda: (other, bot.user_id) in ann.typists)
        await ann.say(other, "/stop")
        await ann.until(lambda: bool(ann.read(other)))
    assert shown == ["waiting ", "waiting is over"]


async def test_an_approval_by_keyword_resumes_its_waiting_run(world: World) -> None:
    def there() -> bool:
        return any(each["id"] == ACTING for each in world.host.http().get("/runners").json()["items"])

    await eventually(there, "the acting agent has started")
    async with world.person("Ann") as ann, world.person("Bob") as bob:
        policy = {"member.*": {"decision": "ask", "who": {"users": [ann.id], "roles": []}}}
        agent_id = world.host.agent(ACTING, "acting", approval_policy=policy)
        async with world.bot(to_agent(agent_id)) as bot:
            room = await ann.room(bot.user_id, bob.id)
            require_success(await bob.client.join(room))
            await ann.until(lambda: bob.id in ann.members(room))
            levels = await ann.client.room_get_state_event(room, "m.room.power_levels")
            raised = {**require_success(levels).content, "users": {bot.user_id: 50}}
            require_success(await ann.client.room_put_state(room, "m.room.power_levels", raised))
            await bob.say(room, json.dumps([["member.kick", {"user_id": bob.id}, None, 30]]))
            await ann.until(lambda: any("approve " in text for text in ann.read(room)), lambda: str(ann.read(room)))
            [approval] = world.host.items("/approvals", status="pending")
            await bob.say(room, f"approve {approval['keyword']}")
            await ann.until(lambda: any("you may not decide this" in text for text in ann.read(room)))
            assert bob.id in ann.members(room)
            await ann.say(room, f"approve {approval['keyword']}")
            await ann.until(lambda: bob.id not in ann.members(room))
            await ann.until(lambda: "member.kick: done" in ann.read(room))


async def test_a_kill_of_synapse_during_a_streamed_answer_loses_and_repeats_nothing(world: World, puppet: str) -> None:
    opened = gate(world, "killed homeserver")
    async with world.bot(to_agent(puppet)) as bot, world.person() as ann:
        room, other = await ann.room(bot.user_id), await ann.room(bot.user_id)
        await ann.say(room, f"gate {opened}")
        await ann.answered(room, "waiting ")
        await asyncio.to_thread(world.synapse.kill)
        opened.touch()
        await bot.wait_for_error("can't be reached")
        await asyncio.to_thread(world.synapse.start)
        await ann.answered(room, "waiting is over")
        await ann.say(other, "say still here")
        await ann.answered(other, "still here")
        assert shown_versions(ann, room)[-1] == "waiting is over"
        assert bot.status["state"] == "connected"


async def test_a_kill_of_the_host_during_streamed_answers_loses_and_repeats_nothing(world: World, puppet: str) -> None:
    """The Host dies in the first room after the homeserver accepted the first part of a complete answer but before it
    could know that, and in the second in the middle of an answer, which has to be requested again.
    """
    opened, never = gate(world, "complete"), gate(world, "incomplete")
    proxy = HomeserverProxy(world.synapse.url)
    async with proxy.listening(), world.bot(to_agent(puppet), proxy.url) as bot, world.person() as ann:
        complete, incomplete, silent = [await ann.room(bot.user_id) for _ in range(3)]
        await ann.say(incomplete, f"gate {never}")
        await ann.answered(incomplete, "waiting ")
        held = proxy.hold("PUT", BUBBLE)
        await ann.say(complete, f"gate {opened}")
        await asyncio.wait_for(held.wait(), 60)
        opened.touch()
        await eventually(gate(world, "complete.passed").exists, "the answer is complete")
        await eventually(lambda: finished(world, bot), "the Host has the whole answer")
        await asyncio.to_thread(world.host.kill)
        await ann.say(silent, "say meanwhile")
        await asyncio.to_thread(world.host.start)
        await ann.answered(silent, "meanwhile")
        await ann.answered(complete, "waiting is over")
        await ann.answered(incomplete, "waiting ", INTERRUPTED)
        await ann.say(incomplete, "say again")
        await ann.answered(incomplete, "waiting ", INTERRUPTED, "again")
        assert shown_versions(ann, complete)[0] == "waiting "


def finished(world: World, bot: Bot) -> bool:
    runs = world.host.items("/runs", bot_id=bot.bot_id)
    return any(each["status"] == "completed" for each in runs)


@pytest.mark.long
async def test_each_version_of_a_streamed_answer_is_a_prefix_of_the_whole(world: World) -> None:
    words = " ".join(f"word{number}" for number in range(15))
    agent_id = world.host.agent(ECHO, "slow echo", config={"delay_ms": 100})
    async with world.bot(to_agent(agent_id)) as bot, world.person() as ann:
        room = await ann.room(bot.user_id)
        await ann.say(room, words)
        await ann.answered(room, words)
        shown = shown_versions(ann, room)
    assert len(shown) > 1
    assert all(words.startswith(text.rstrip()) for text in shown)
    assert [len(text) for text in shown] == sorted(len(text) for text in shown)


@pytest.mark.long
@pytest.mark.quiet
async def test_the_first_words_are_read_within_300_milliseconds(world: World, puppet: str) -> None:
    """Measures from the time when the homeserver has the question, which is before the first token."""
    opened, seconds = gate(world, "first words"), []
    async with world.bot(to_agent(puppet)) as bot, world.person() as ann:
        for _ in range(5):
            room = await ann.room(bot.user_id)
            await ann.say(room, f"gate {opened}")
            began = time.monotonic()
            await ann.answered(room, "waiting ")
            seconds.append(time.monotonic() - began)
        opened.touch()
        await ann.answered(room, "waiting is over")
    assert sorted(seconds)[2] < 0.3, seconds
