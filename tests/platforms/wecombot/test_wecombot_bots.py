"""Tests AI bots of WeCom through the whole Host: answers that grow, kills in the middle of one, and approvals."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest

from parlour.testing.simulator.faults import PlannedFault
from parlour.testing.wecombot_simulator.calls import SECRETS
from tests.platforms.conftest import FIXTURES
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.platforms.telegram.conftest import ACTING, WRITING, WRITING_PLUGIN
from tests.platforms.wecombot.driver import ANN, BOB, WecomBotDriver
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

WORDS = " ".join(f"word{number}" for number in range(60))
ASK = {"elsewhere/message.send": {"decision": "ask", "who": {"users": ["boss"], "requester": True}}}
FRAME_SECONDS = 0.5
CALLED = {"mode": "webhook", "token": SECRETS.token, "encoding_aes_key": SECRETS.encoding_aes_key}


async def test_an_answer_grows_within_the_rate_of_wecom(platform_host: Host) -> None:
    driver = WecomBotDriver()
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, platform_host.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.texts(ANN) == [WORDS] and simulator.messages[0].finished)
    [shown] = simulator.sent(ANN)
    assert len(shown.versions) >= 4
    assert all(WORDS.startswith(each) for each in shown.versions)
    times = shown.times[:-1]  # the end follows the last text at once
    assert all(after - before > FRAME_SECONDS * 0.9 for before, after in pairwise(times))


async def test_wecom_calls_the_host_and_asks_for_the_answer(platform_host: Host) -> None:
    driver = WecomBotDriver()
    simulator = driver.simulator
    simulator.is_called = True
    async with hooked_bot(platform_host, driver, platform_host.agent(WRITING, "writing"), **CALLED):
        assert (await simulator.calls.verify("echo"))[1] == "echo"
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.texts(ANN) == [WORDS] and simulator.messages[0].finished)
    [shown] = simulator.sent(ANN)
    assert len(set(shown.versions)) >= 4
    assert all(WORDS.startswith(each) for each in shown.versions)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py", WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield host
    host.close()


@pytest.mark.long
async def test_an_answer_is_completed_in_its_place_after_a_kill_at_its_end(own: Host) -> None:
    driver = WecomBotDriver()
    simulator = driver.simulator
    simulator.faults.planned.append(PlannedFault("aibot_respond_msg", happens=False, answers=False, skip=1))
    async with hooked_bot(own, driver, own.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": len(WORDS), "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.made.count("aibot_respond_msg") == 2)
        assert not simulator.messages[0].finished
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: simulator.messages[0].finished, 60)
    [shown] = simulator.texts(ANN)
    assert shown.startswith(WORDS)


@pytest.mark.long
async def test_wecom_asks_another_process_for_the_end_of_an_answer(own: Host) -> None:
    driver = WecomBotDriver()
    simulator = driver.simulator
    simulator.is_called = True
    async with hooked_bot(own, driver, own.agent(WRITING, "writing"), **CALLED) as bot_id:
        await simulator.say(json.dumps({"text": WORDS, "piece": len(WORDS), "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.texts(ANN) == [WORDS])
        simulator.asks.clear()
        runs = {"bot_id": bot_id, "limit": 1}
        await eventually(
            lambda: own.http().get("/runs", params=runs).json()["items"][0]["status"] == "completed",
            "the run has ended",
        )
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        driver.called_at(f"{own.address}/hooks/{bot_id}")
        simulator.asks.set()
        await simulator.until(lambda: simulator.messages[0].finished, 60)
    [shown] = simulator.texts(ANN)
    assert shown.startswith(WORDS)


async def test_a_pressed_button_decides_for_an_authorized_user(own: Host) -> None:
    driver = WecomBotDriver()
    simulator = driver.simulator
    simulator.chats.add(BOB)
    async with hooked_bot(own, driver, own.agent(ACTING, "acting", approval_policy=ASK)):
        request = [["message.send", {"chat_type": "private", "chat_id": BOB}, {"text": "to Bob"}, 0]]
        await simulator.say(json.dumps(request), "boss")
        await simulator.until(lambda: any(each.kind == "template_card" for each in simulator.sent()))
        card = next(each for each in simulator.sent() if each.kind == "template_card")
        await simulator.press(card, "Approve", "boss")
        await simulator.until(lambda: "to Bob" in simulator.texts(BOB))
        await simulator.until(lambda: bool(card.pressed))


@pytest.mark.long
async def test_messages_around_kills_are_answered(own: Host) -> None:
    driver, texts = WecomBotDriver(), [f"message {number}" for number in range(24)]
    simulator = driver.simulator
    async with hooked_bot(own, driver, own.agent(ECHO, "echo")):
        for number, text in enumerate(texts):
            await simulator.say(text, ANN)
            if number % 6 == 5:
                await simulator.until(lambda: bool(simulator.sent(ANN)))
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
        await simulator.until(lambda: texts[-1] in simulator.texts(ANN), 90)
    shown = [text for text in simulator.texts(ANN) if text in texts]
    assert len(shown) == len(set(shown)), "an answer was shown twice without a mark"
