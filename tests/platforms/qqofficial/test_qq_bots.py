"""Tests official QQ bots through the whole Host: five replies, streams in private chats, signed calls, and kills."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest

from parlour.testing.simulator.faults import PlannedFault
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.platforms.qqofficial.driver import ANN, QQDriver
from tests.platforms.telegram.conftest import WRITING, WRITING_PLUGIN
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

GROUP = "C9F778FE6ADF9D1D1DBE395BF744A33A"
WORDS = " ".join(f"word{number}" for number in range(60))
PARTS, REPLIES = 7, 5
FRAME_SECONDS = 0.5


def deliveries(host: Host, bot_id: str, beginning: str) -> list[Json]:
    """Returns the deliveries of a user's message from its trail."""
    items = host.http().get("/events", params={"bot_id": bot_id, "limit": 50}).json()["items"]
    found = [each["event_id"] for each in items if (each["input_summary"] or "").startswith(beginning)]
    answer = host.http().get(f"/events/{found[0] if found else ''}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return [step["data"] | {"text": step["text"]} for step in steps if step["step"] == "delivery"]


async def test_the_sixth_reply_to_a_group_message_is_held_and_sent_at_the_next_one(
    platform_host: Host, echo: str
) -> None:
    driver = QQDriver()
    simulator, long = driver.simulator, "\n\n".join(f"{number} " + "word " * 370 for number in range(PARTS))
    simulator.rules.own_messages = 0
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        await simulator.say(long, ANN, GROUP)
        await simulator.answered(REPLIES, GROUP)

        def held() -> list[Json]:
            return [each for each in deliveries(platform_host, bot_id, "0 word") if each["state"] == "held"]

        await eventually(lambda: len(held()) == PARTS - REPLIES, "the rest is held")
        assert all("five replies within five minutes" in each["text"] for each in held())
        await simulator.say("go on", ANN, GROUP)
        await simulator.answered(PARTS + 1, GROUP)
    assert [text.split()[0] for text in simulator.texts(GROUP)] == [*map(str, range(PARTS)), "go"]
    assert all(each.body.get("msg_id") for each in simulator.sent(GROUP))


async def test_a_reply_after_the_window_is_held_with_a_reason(platform_host: Host, echo: str) -> None:
    driver = QQDriver()
    simulator = driver.simulator
    simulator.rules.own_messages = 0
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        simulator.rules.shift_seconds = 301
        await simulator.say("late", ANN, GROUP)
        await eventually(
            lambda: [each["state"] for each in deliveries(platform_host, bot_id, "late")] == ["held"], "it is held"
        )
        simulator.rules.shift_seconds = 0
        await simulator.say("again", ANN, GROUP)
        await simulator.answered(2, GROUP)
    assert simulator.texts(GROUP) == ["late", "again"]


async def test_an_answer_grows_in_a_private_chat_within_the_rate(platform_host: Host) -> None:
    driver = QQDriver()
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, platform_host.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.texts(ANN) == [WORDS] and simulator.messages[0].done)
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.1}), ANN, GROUP)
        await simulator.answered(1, GROUP)
    [shown] = simulator.sent(ANN)
    assert len(shown.versions) >= 3
    assert shown.numbers == sorted(set(shown.numbers))
    times = shown.times[:-1]  # the end follows the last text at once
    assert all(after - before > FRAME_SECONDS * 0.9 for before, after in pairwise(times))
    assert [each.versions for each in simulator.sent(GROUP)] == [[]]


async def test_qq_calls_the_host_which_checks_stores_and_answers(platform_host: Host, echo: str) -> None:
    driver = QQDriver()
    simulator = driver.simulator
    simulator.is_called = True
    async with hooked_bot(platform_host, driver, echo, mode="webhook") as bot_id:
        simulator.webhook.address = f"{platform_host.address}/hooks/{bot_id}"
        assert await simulator.webhook.check()
        await simulator.say("hello", ANN)
        await simulator.report(*simulator.reported[-1])
        await simulator.say("again", ANN)
        await simulator.until(lambda: "again" in simulator.texts(ANN) and not simulator.webhook.waiting)
    assert simulator.texts(ANN) == ["hello", "again"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, WRITING_PLUGIN):
        host.install(plugin)
    host.start()
    yield host
    host.close()


@pytest.mark.long
async def test_a_stream_is_ended_in_its_place_after_a_kill_at_its_end(own: Host) -> None:
    driver = QQDriver()
    simulator = driver.simulator
    simulator.faults.planned.append(PlannedFault("stream", happens=False, answers=False, skip=1))
    async with hooked_bot(own, driver, own.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": len(WORDS), "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.made.count("stream") == 2)
        assert not simulator.messages[0].done
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: simulator.messages[0].done, 60)
    [shown] = simulator.sent(ANN)
    assert shown.text == WORDS
    assert shown.numbers == sorted(set(shown.numbers))


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(own: Host) -> None:
    driver, texts = QQDriver(), [f"message {number}" for number in range(24)]
    simulator = driver.simulator
    async with hooked_bot(own, driver, own.agent(ECHO, "echo")):
        for number, text in enumerate(texts):
            await simulator.say(text, ANN, GROUP)
            if number % 6 == 5:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
        await simulator.until(lambda: set(texts) <= set(simulator.texts(GROUP)), 90)
    answers = simulator.texts(GROUP)
    assert all(answers.count(text) == 1 for text in texts)
