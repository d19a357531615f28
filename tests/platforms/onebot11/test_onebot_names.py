"""Tests names of users and groups: requested once, kept over a restart and in a backup, deleted
with the conversation.
"""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from parlour.testing.onebot_simulator import Simulator, native
from tests.support.commands import parlour
from tests.support.harness import Json
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost

from .acting import ACTING_PLUGIN, EVE, GROUP, agent
from .qq import QQ, eventually, to_agent, to_plugins

NEWCOMER, HOST_MEMBER = 7, 8
DOGS = 55
WELCOME = {"group.member_joined": "{{event.member.user.nickname}} came to {{group}}."}
_numbers = count()
"""Numbers that distinguish notices of the same second."""
NAME_REQUESTS = ("get_stranger_info", "get_group_info")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QQ]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("host with names"))
    host.install(LOCAL_PLUGIN)
    host.install(ACTING_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


def scripted_models(qq: QQ) -> ScriptedModelsHost:
    assert isinstance(qq.host, ScriptedModelsHost)
    return qq.host


def greeter(qq: QQ) -> str:
    return scripted_models(qq).local(event_types=["group.member_joined"], event_templates=WELCOME)


async def report_join(simulator: Simulator, user_id: int = NEWCOMER) -> None:
    fields = {"group_id": GROUP, "user_id": user_id, "operator_id": 0, "number": next(_numbers)}
    await simulator.report(native.notice(simulator.self_id, "group_increase", sub_type="approve", **fields))


async def prompts(qq: QQ, number: int) -> list[str]:
    def look() -> list[str]:
        last_prompt = [prompt[-1][1] for prompt in scripted_models(qq).prompts()]
        return last_prompt if len(last_prompt) >= number else []

    return await eventually(look, f"the model was asked {number} times")


def requested_names(simulator: Simulator) -> list[tuple[str, Any]]:
    calls = [each for each in simulator.requests if each["action"] in NAME_REQUESTS]
    return [(each["action"], each["params"].get("user_id", each["params"].get("group_id"))) for each in calls]


def rows(data: Path, bot_id: str) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        query = "SELECT kind, entity_id, name FROM names WHERE bot_id = ? ORDER BY kind"
        return list(database.execute(query, (bot_id,)))


async def test_names_of_a_new_member_and_a_group_are_requested_once(named: QQ, tmp_path: Path) -> None:
    scripted_models(named).write("hi", "hi again", "hi after the restart")
    bot = named.bot(to_agent(greeter(named)))
    expected = f"user {NEWCOMER} came to Cats."
    simulator = Simulator()
    simulator.world.add_group(GROUP, "Cats")
    async with bot.connected(simulator):
        await report_join(simulator)
        await simulator.answered(1)  # a second event would steer an active run
        await report_join(simulator)
        await simulator.answered(2)
        await asyncio.to_thread(named.host.restart)
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        await report_join(simulator)
        assert await prompts(named, 3) == [expected] * 3
        assert sorted(requested_names(simulator)) == [("get_group_info", GROUP), ("get_stranger_info", NEWCOMER)]
    stored = [("group", str(GROUP), "Cats"), ("user", str(NEWCOMER), f"user {NEWCOMER}")]
    assert rows(named.host.data, bot.bot_id) == stored
    made = await asyncio.to_thread(parlour, "backup", tmp_path / "one.backup", "--data", named.host.data)
    assert made.returncode == 0, made.stderr
    brought = await asyncio.to_thread(parlour, "restore", tmp_path / "one.backup", "--data", tmp_path / "data")
    assert brought.returncode == 0, brought.stderr
    assert rows(tmp_path / "data", bot.bot_id) == stored
    bot.delete()
    assert rows(named.host.data, bot.bot_id) == []


async def test_a_message_is_accepted_while_the_platform_does_not_answer_name_requests(named: QQ) -> None:
    scripted_models(named).write("hello")
    bot = named.bot(to_agent(scripted_models(named).local()))
    async with bot.connected() as simulator:
        simulator.faults.stay_silent("get_group_info")
        said = await simulator.say([native.segment("at", qq=str(simulator.self_id)), native.text("hi")], 1, GROUP)
        await simulator.until(lambda: bool(requested_names(simulator)))
        trail = await eventually(lambda: events_of_message(named, said), "the message is recorded")
        assert trail
        [answer] = await simulator.answered(1)
    bot.delete()
    assert answer.text == "hello"


def events_of_message(qq: QQ, said: Json) -> list[Json]:
    return [each for each in qq.host.items("/events") if str(said["message_id"]) in each["event_id"]]


async def test_the_author_of_a_quote_has_a_name_although_the_platform_sent_only_the_id(named: QQ) -> None:
    scripted_models(named).write("because")
    bot = named.bot(to_agent(scripted_models(named).local()))
    async with bot.connected() as simulator:
        simulator.world.messages[55] = {"message_id": 55, "user_id": HOST_MEMBER, "message": [native.text("it rains")]}
        await simulator.say([native.segment("reply", id="55"), native.text("why?")])
        [prompt] = await prompts(named, 1)
        await simulator.answered(1)
    bot.delete()
    assert prompt == f"> user {HOST_MEMBER} wrote:\n> it rains\n\nwhy?"


async def test_names_are_deleted_with_their_conversation(named: QQ) -> None:
    scripted_models(named).write("hi")
    bot = named.bot(to_agent(greeter(named)))
    async with bot.connected() as simulator:
        await report_join(simulator)
        await simulator.answered(1)
        [event] = named.host.items("/events", bot_id=bot.bot_id)
        assert {kind for kind, *_ in rows(named.host.data, bot.bot_id)} == {"group", "user"}
        deleted = await asyncio.to_thread(named.host.http().delete, f"/conversations/{event['conversation_id']}")
        assert deleted.status_code == 204, deleted.text
        assert {kind for kind, *_ in rows(named.host.data, bot.bot_id)} == {"user"}
    bot.delete()


async def approval_question(named: QQ, action: str, wanted: Json, event_type: str, request: Json) -> tuple[str, Json]:
    """Returns the text in which a group is asked to approve an agent's answer to a request, and its listed occasion."""
    bot = named.bot()
    place = {"bot_id": bot.bot_id, "chat_type": "group", "chat_id": str(GROUP)}
    call = json.dumps([[action.partition(".set_")[0], None, wanted, 0]])
    policy = {action: {"decision": "ask", "show_in": place}}
    agent_id = await agent(named, policy, event_types=[event_type], config={"otherwise": call})
    routed = await asyncio.to_thread(named.host.http().put, f"/bots/{bot.bot_id}/routes", json=to_agent(agent_id))
    assert routed.status_code == 200, routed.text
    simulator = Simulator()
    simulator.world.add_group(DOGS, "Dogs")
    async with bot.connected(simulator):
        simulator.world.requests["flag-1"] = {}
        await simulator.report(native.request(simulator.self_id, flag="flag-1", user_id=EVE, **request))
        [question] = [each.text for each in await simulator.answered(1, f"group:{GROUP}")]
        listed = await asyncio.to_thread(named.host.http().get, "/approvals?status=pending")
    bot.delete()
    return question, listed.json()["items"][0]["occasion"]


async def test_an_approval_shows_the_requester_and_the_comment(named: QQ) -> None:
    request = {"request_type": "friend", "comment": "I am\nEve from “school”"}
    event_type = "friend.request_received"
    question, occasion = await approval_question(named, "friend_request.answer", {"approve": True}, event_type, request)
    assert (occasion["actor_name"], occasion["comment"]) == (f"user {EVE}", 'I am Eve from "school"')
    assert f'Friend request from user {EVE} ({EVE}): “I am Eve from "school"”' in question


async def test_an_approval_of_a_join_request_names_the_group(named: QQ) -> None:
    params = {"flag": "flag-1", "sub_type": "add", "approve": True}
    wanted = {"action": "set_group_add_request", "params": params}
    request = {"request_type": "group", "sub_type": "add", "group_id": DOGS, "comment": "please"}
    action, event_type = "platform.call.set_group_add_request", "platform.onebot11.group_join_request"
    question, _ = await approval_question(named, action, wanted, event_type, request)
    assert f"Request of user {EVE} ({EVE}) to join the group Dogs ({DOGS}): “please”" in question


async def test_a_listener_receives_names(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    async with bot.connected() as simulator:
        await report_join(simulator)
        received = await eventually(
            lambda: [each for each in qq.probed("events") if each["bot_id"] == bot.bot_id], "the probe heard it"
        )
    bot.delete()
    assert received[0]["member"]["user"]["nickname"] == f"user {NEWCOMER}"
    assert received[0]["group"]["name"] == f"group {GROUP}"
