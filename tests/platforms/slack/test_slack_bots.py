"""Tests Slack bots through the whole Host: streamed answers in threads, approvals by buttons, calls, and restarts."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.testing.slack_simulator import SentSlackMessage, SlackSimulator
from parlour.testing.slack_simulator.simulator import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from parlour.testing.slack_simulator.world import BOT_USER
from tests.platforms.conftest import FIXTURES
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.telegram.conftest import ACTING, WRITING
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

WORDS = " ".join(f"word{number}" for number in range(60))
ASK = {"member.*": {"decision": "ask"}}
CHANNEL, ANN, BOSS, EVE = "CTALK", "UANN", "UBOSS", "UEVE"


def workspace() -> SlackSimulator:
    simulator = SlackSimulator()
    for user_id in (ANN, EVE):
        simulator.world.add_user(user_id.title(), user_id)
    simulator.world.add_user("Boss", BOSS, is_owner=True)
    simulator.world.add_channel("talk", ANN, BOSS, EVE, channel_id=CHANNEL)
    simulator.limits["chat.postMessage"] = (100.0, 1.0)
    return simulator


@asynccontextmanager
async def slack_bot(host: Host, simulator: SlackSimulator, agent_id: str, **config: Any) -> AsyncIterator[str]:
    async with simulator.listening() as url:
        secrets = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "mode": "socket", "api_base_url": url, **config}
        body = {"name": "slack", "adapter": "slack", "adapter_config": secrets}
        made = host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        bot_id = made.json()["bot_id"]
        assert host.http().put(f"/bots/{bot_id}/routes", json=to_agent(agent_id)).status_code == 200
        await eventually(lambda: host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected", "online")
        try:
            yield bot_id
        finally:
            host.http().delete(f"/bots/{bot_id}")


async def ask(simulator: SlackSimulator, text: str, **fields: Any) -> Json:
    return await simulator.say(f"<@{BOT_USER}> {text}", ANN, CHANNEL, **fields)


async def test_an_answer_in_a_thread_grows_by_edits_of_one_message(platform_host: Host) -> None:
    simulator = workspace()
    async with slack_bot(platform_host, simulator, platform_host.agent(WRITING, "writing")):
        parent = simulator.world.write(CHANNEL, ANN, "a thread")["ts"]
        await ask(simulator, json.dumps({"text": WORDS, "piece": 60, "pause": 0.4}), thread_ts=parent)
        await simulator.until(lambda: simulator.texts(CHANNEL) == [WORDS])
    [shown] = simulator.sent(CHANNEL)
    assert shown.payload["thread_ts"] == parent
    assert len(shown.versions) >= 3
    assert all(WORDS.startswith(each) for each in shown.versions)


async def test_slack_calls_the_host_which_checks_stores_and_answers(platform_host: Host) -> None:
    simulator = workspace()
    echo = platform_host.agent(ECHO, "echo")
    secrets = {"mode": "webhook", "signing_secret": SIGNING_SECRET}
    async with slack_bot(platform_host, simulator, echo, **secrets) as bot_id:
        simulator.request_url = f"{platform_host.address}/hooks/{bot_id}"
        challenge = {"type": "url_verification", "challenge": "abc"}
        assert await simulator.call_bot("events_api", challenge) == 200
        assert simulator.responses[-1] == (200, "abc")
        message = simulator.world.write(CHANNEL, ANN, f"<@{BOT_USER}> hello")
        for _ in range(2):  # Slack repeats what it believes was not received
            assert await simulator.call_bot("events_api", simulator.event(message)) == 200
        await simulator.answered(1, CHANNEL)
        assert await simulator.call_bot("events_api", simulator.event(message), secret="wrong") == 401
        await simulator.say(f"<@{BOT_USER}> again", ANN, CHANNEL)
        await simulator.until(lambda: "again" in simulator.texts(CHANNEL)[-1])
    assert len(simulator.texts(CHANNEL)) == 2


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py"):
        host.install(plugin)
    host.start()
    yield host
    host.close()


async def question_of(simulator: SlackSimulator) -> SentSlackMessage:
    await simulator.until(lambda: any(each.payload.get("blocks") for each in simulator.sent()))
    return next(each for each in simulator.sent() if each.payload.get("blocks"))


@pytest.mark.long
async def test_a_pressed_button_decides_for_an_authorized_user_after_a_kill(own: Host) -> None:
    simulator = workspace()
    async with slack_bot(own, simulator, own.agent(ACTING, "acting", approval_policy=ASK)):
        await ask(simulator, json.dumps([["member.kick", {"user_id": EVE}, None, 0]]))
        question = await question_of(simulator)
        await simulator.press(question.payload, "Approve", ANN)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts()))
        await simulator.until(lambda: not simulator.socket_mode.waiting)
        await asyncio.to_thread(own.kill)
        await simulator.press(question.payload, "Approve", BOSS)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: EVE not in simulator.world.members[CHANNEL])
        await simulator.until(lambda: question.payload["blocks"] == [])
        await simulator.until(lambda: not simulator.socket_mode.waiting)
    assert "pproved" in question.text


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(own: Host) -> None:
    simulator, texts = workspace(), [f"message {number}" for number in range(40)]
    direct = simulator.world.direct_channel(ANN)
    async with slack_bot(own, simulator, own.agent(ECHO, "echo")):
        for number, text in enumerate(texts):
            await simulator.say(text, ANN, direct)
            if number % 15 == 7:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
        await simulator.until(lambda: set(texts) <= set(simulator.texts(direct)), 60)
    answers = simulator.texts(direct)
    assert all(answers.count(text) == 1 for text in texts)
    assert len(answers) - len(texts) <= 3
