"""Tests LINE bots through the whole Host: free and uncertain replies, pushes, approvals, load, and kills."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.testing.line_simulator import LineSimulator
from parlour.testing.line_simulator.simulator import ACCESS_TOKEN, CHANNEL_SECRET
from parlour.testing.line_simulator.world import BOT_USER
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

MENTION = {"mentionees": [{"index": 0, "length": 8, "type": "user", "userId": BOT_USER, "isSelf": True}]}


@asynccontextmanager
async def line_bot(host: Host, simulator: LineSimulator, agent_id: str, **config: Any) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        secrets = {"channel_access_token": ACCESS_TOKEN, "channel_secret": CHANNEL_SECRET, "api_base_url": url}
        body = {"name": "line", "adapter": "line", "adapter_config": {**secrets, **config}}
        made = host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        called_at(simulator, host, bot_id)
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


def called_at(simulator: LineSimulator, host: Host, bot_id: str) -> None:
    simulator.request_url = f"{host.address}/hooks/{bot_id}"


def delivery(host: Host, event: Json) -> list[Json]:
    """Returns the deliveries of an event from its trail."""
    answer = host.http().get(f"/events/{event['webhookEventId']}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return [step["data"] for step in steps if step["step"] == "delivery"]


async def test_an_uncertain_reply_is_never_pushed_and_the_trail_says_so(platform_host: Host) -> None:
    simulator, echo = LineSimulator(), platform_host.agent(ECHO, "echo")
    ann = simulator.world.add_user("Ann")
    async with line_bot(platform_host, simulator, echo):
        simulator.faults.cut("reply", happens=True)
        event = await simulator.say("shown but not known", ann, ann)
        await eventually(lambda: any(each["state"] == "failed" for each in delivery(platform_host, event)), "settled")
        await simulator.say("next", ann, ann)
        await simulator.until(lambda: "next" in simulator.texts())
    assert simulator.texts() == ["shown but not known", "next"]
    assert simulator.used == 0


async def test_a_lost_reply_is_sent_again_under_the_same_token(platform_host: Host) -> None:
    simulator, echo = LineSimulator(), platform_host.agent(ECHO, "echo")
    ann = simulator.world.add_user("Ann")
    async with line_bot(platform_host, simulator, echo):
        simulator.faults.cut("reply", happens=False)
        event = await simulator.say("lost at first", ann, ann)
        await simulator.answered(1)
        await eventually(lambda: [each["state"] for each in delivery(platform_host, event)] == ["sent"], "settled")
    assert [(each.text, each.is_reply) for each in simulator.sent()] == [("lost at first", True)]


async def test_an_expired_reply_token_leads_to_a_push(platform_host: Host) -> None:
    simulator, echo = LineSimulator(), platform_host.agent(ECHO, "echo")
    simulator.reply_token_seconds = -1
    ann = simulator.world.add_user("Ann")
    async with line_bot(platform_host, simulator, echo):
        await simulator.say("late", ann, ann)
        [sent] = await simulator.answered(1)
    assert (sent.text, sent.is_reply, simulator.used) == ("late", False, 1)


async def test_a_redelivered_event_is_answered_once_and_a_forged_one_never(platform_host: Host) -> None:
    simulator, echo = LineSimulator(), platform_host.agent(ECHO, "echo")
    ann = simulator.world.add_user("Ann")
    async with line_bot(platform_host, simulator, echo):
        event = await simulator.say("once", ann, ann)
        again = {**event, "deliveryContext": {"isRedelivery": True}}
        calls = [simulator.call_bot({"destination": BOT_USER, "events": [again]}) for _ in range(20)]
        assert set(await asyncio.gather(*calls)) == {200}
        forged = simulator.message(ann, ann, type="text", text="forged")
        assert await simulator.call_bot({"destination": BOT_USER, "events": [forged]}, secret="guessed") == 401
        await simulator.say("last", ann, ann)
        await simulator.until(lambda: "last" in simulator.texts())
    assert simulator.texts() == ["once", "last"]


async def test_calls_under_load_are_acknowledged_within_the_limit_of_line(platform_host: Host) -> None:
    simulator, echo = LineSimulator(), platform_host.agent(ECHO, "echo")
    users = [simulator.world.add_user(f"user {number}") for number in range(100)]
    async with line_bot(platform_host, simulator, echo):
        await asyncio.gather(*(simulator.say(f"hello {user}", user, user) for user in users))
        await simulator.answered(len(users))
    slowest = max(seconds for _, seconds in simulator.responses)
    assert {status for status, _ in simulator.responses} == {200}
    assert slowest < 2
    assert {(each.chat, each.text) for each in simulator.sent()} == {(user, f"hello {user}") for user in users}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py"):
        host.install(plugin)
    host.start()
    yield host
    host.close()


async def test_a_pressed_button_approves_leaving_a_group_after_a_kill(own: Host) -> None:
    simulator = LineSimulator()
    ann, boss = simulator.world.add_user("Ann"), simulator.world.add_user("Boss")
    group = simulator.world.add_group("talk", ann, boss)
    policy = {"group.*": {"decision": "ask", "who": {"users": [boss], "roles": []}}}
    async with line_bot(own, simulator, own.agent(ACTING, "acting", approval_policy=policy)) as bot_id:
        request = json.dumps([["group.leave", {}, None, 0]])
        await simulator.say(f"@Parlour {request}", ann, group, mention=MENTION)
        await simulator.until(lambda: any(each.payload["type"] == "flex" for each in simulator.sent()))
        question = next(each for each in simulator.sent() if each.payload["type"] == "flex")
        await simulator.press(question, "Approve", ann)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await asyncio.to_thread(own.kill)
        pressing = asyncio.create_task(simulator.press(question, "Approve", boss))
        await asyncio.to_thread(own.start)
        called_at(simulator, own, bot_id)
        await pressing
        await simulator.until(lambda: group not in simulator.world.chats)


@pytest.mark.long
async def test_events_around_kills_are_redelivered_and_answered_once(own: Host) -> None:
    simulator, texts = LineSimulator(), [f"message {number}" for number in range(40)]
    ann = simulator.world.add_user("Ann")
    async with line_bot(own, simulator, own.agent(ECHO, "echo")) as bot_id:
        for number, text in enumerate(texts):
            await simulator.say(text, ann, ann)
            if number % 15 == 7:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
                called_at(simulator, own, bot_id)
        await simulator.until(lambda: not simulator.waiting, 60)
        await simulator.until(lambda: texts[-1] in simulator.texts(), 60)
    counts = [simulator.texts().count(text) for text in texts]
    assert all(count <= 1 for count in counts)
    assert counts.count(0) <= 2, "a reply that was being sent at a kill may be unknown"
