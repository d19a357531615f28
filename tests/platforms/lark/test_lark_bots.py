"""Tests Feishu bots through the whole Host: streamed cards, kills in mid-stream, approvals by buttons, and calls."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.testing.lark_simulator import LarkSimulator, SentLarkMessage
from parlour.testing.lark_simulator.checks import buttons_of
from parlour.testing.lark_simulator.simulator import APP_ID, APP_SECRET, ENCRYPT_KEY
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING, WRITING, WRITING_PLUGIN
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

WORDS = " ".join(f"word{number}" for number in range(60))
ASK = {"member.*": {"decision": "ask"}}
CHAT, ANN, BOSS, EVE = "oc_talk", "ou_ann", "ou_boss", "ou_eve"


def company() -> LarkSimulator:
    simulator = LarkSimulator()
    for user_id, name in ((ANN, "Ann"), (BOSS, "Boss"), (EVE, "Eve")):
        simulator.world.add_user(name, user_id)
    simulator.world.add_chat("talk", BOSS, ANN, EVE, chat_id=CHAT)
    simulator.world.direct_chat(ANN)
    simulator.sends_per_second = 1000.0
    simulator.connection.retry_seconds = 2.0
    return simulator


@asynccontextmanager
async def lark_bot(host: Host, simulator: LarkSimulator, agent_id: str, **config: Any) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        secrets = {"app_id": APP_ID, "app_secret": APP_SECRET, "domain": "feishu", "mode": "long_connection"}
        body = {"name": "lark", "adapter": "lark", "adapter_config": {**secrets, "api_base_url": url, **config}}
        made = host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


async def test_an_answer_grows_in_one_card(platform_host: Host) -> None:
    simulator = company()
    async with lark_bot(platform_host, simulator, platform_host.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.2}), ANN, CHAT, at_bot=True)
        await simulator.until(lambda: simulator.texts(CHAT) == [WORDS])
        [card] = simulator.world.cards.values()
        await simulator.until(lambda: not card.is_streaming)
    [shown] = simulator.sent(CHAT)
    assert len(shown.versions) >= 4
    assert all(WORDS.startswith(each) for each in shown.versions)
    assert card.numbers == sorted(set(card.numbers))
    gaps = [after - before for before, after in zip(card.times, card.times[1:], strict=False)]
    assert sum(gap < 0.09 for gap in gaps) <= 2  # the end of the card follows its last text at once


async def test_feishu_calls_the_host_which_checks_stores_and_answers(platform_host: Host) -> None:
    simulator = company()
    echo = platform_host.agent(ECHO, "echo")
    secrets = {"mode": "webhook", "encrypt_key": ENCRYPT_KEY}
    async with lark_bot(platform_host, simulator, echo, **secrets) as bot_id:
        simulator.request_url = f"{platform_host.address}/hooks/{bot_id}"
        assert await simulator.call_bot({"type": "url_verification", "challenge": "abc", "token": "t"}) == 200
        assert simulator.responses[-1] == (200, {"challenge": "abc"})
        message = simulator.world.write(simulator.world.direct_chat(ANN), ANN, "text", {"text": "hello"})
        for _ in range(2):  # Feishu repeats what it believes was not received, with another event id
            report = simulator.event("im.message.receive_v1", simulator.received(message))
            assert await simulator.call_bot(report) == 200
        await simulator.answered(1, ANN)
        assert await simulator.call_bot(report, key="wrong") == 401
        await simulator.say("again", ANN, simulator.world.direct_chat(ANN))
        await simulator.until(lambda: "again" in simulator.texts(ANN)[-1])
    assert len(simulator.texts(ANN)) == 2


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py", WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield host
    host.close()


async def question_of(simulator: LarkSimulator) -> SentLarkMessage:
    await simulator.until(lambda: any(buttons_of(each.card) for each in simulator.sent()))
    return next(each for each in simulator.sent() if buttons_of(each.card))


@pytest.mark.long
async def test_a_pressed_button_decides_for_an_authorized_user_after_a_kill(own: Host) -> None:
    simulator = company()
    async with lark_bot(own, simulator, own.agent(ACTING, "acting", approval_policy=ASK)):
        await simulator.say(json.dumps([["member.kick", {"user_id": EVE}, None, 0]]), ANN, CHAT, at_bot=True)
        question = await question_of(simulator)
        await simulator.press(question, "Approve", ANN)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await simulator.until(lambda: not simulator.connection.waiting)
        await asyncio.to_thread(own.kill)
        await simulator.press(question, "Approve", BOSS)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: EVE not in simulator.world.members[CHAT])
        await simulator.until(lambda: not buttons_of(question.card))
        await simulator.until(lambda: not simulator.connection.waiting)
    assert "pproved" in question.text


@pytest.mark.long
async def test_a_repeat_hours_later_is_recognized_by_another_process(own: Host) -> None:
    """Feishu repeats a message for six hours, each time with another event id."""
    simulator = company()
    secrets = {"mode": "webhook", "encrypt_key": ENCRYPT_KEY}
    async with lark_bot(own, simulator, own.agent(ECHO, "echo"), **secrets) as bot_id:
        simulator.request_url = f"{own.address}/hooks/{bot_id}"
        message = simulator.world.write(simulator.world.direct_chat(ANN), ANN, "text", {"text": "hello"})
        assert await simulator.call_bot(simulator.event("im.message.receive_v1", simulator.received(message))) == 200
        await simulator.answered(1, ANN)
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        simulator.request_url = f"{own.address}/hooks/{bot_id}"
        await eventually(lambda: own.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        assert await simulator.call_bot(simulator.event("im.message.receive_v1", simulator.received(message))) == 200
        await simulator.say("again", ANN, simulator.world.direct_chat(ANN))
        await simulator.until(lambda: "again" in simulator.texts(ANN)[-1])
    assert len(simulator.texts(ANN)) == 2


async def test_a_card_is_completed_after_a_kill_at_its_end(own: Host) -> None:
    simulator = company()
    simulator.faults.stay_silent("card_settings", happens=False)
    async with lark_bot(own, simulator, own.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": 90, "pause": 0.2}), ANN, CHAT, at_bot=True)
        await simulator.until(lambda: "card_settings" in simulator.made)
        [card] = simulator.world.cards.values()
        assert card.is_streaming
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: not card.is_streaming)
        await simulator.until(lambda: not simulator.connection.waiting)
    assert simulator.texts(CHAT) == [WORDS]
    assert card.numbers == sorted(set(card.numbers))
