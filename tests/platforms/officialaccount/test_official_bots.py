"""Tests official accounts through the whole Host: replies within calls, late and long ones, and kills."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour.testing.officialaccount_simulator.simulator import WINDOW_REPLIES
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.officialaccount.driver import ANN, OfficialAccountDriver
from tests.platforms.onebot11.qq import eventually
from tests.platforms.telegram.conftest import WRITING
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

KILLS, MESSAGES = 3, 12
LOADING = "one moment"
PASSIVE = {"mode": "passive", "loading_message": LOADING}


def deliveries(host: Host, bot_id: str, beginning: str) -> list[Json]:
    """Returns the deliveries of a follower's message from its trail."""
    items = host.http().get("/events", params={"bot_id": bot_id, "limit": 50}).json()["items"]
    event_id = next((each["event_id"] for each in items if (each["input_summary"] or "").startswith(beginning)), "")
    answer = host.http().get(f"/events/{event_id}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return [step["data"] | {"text": step["text"]} for step in steps if step["step"] == "delivery"]


async def test_a_long_answer_is_shown_in_parts_one_with_each_message(platform_host: Host, echo: str) -> None:
    driver = OfficialAccountDriver()
    simulator = driver.simulator
    long = "\n\n".join(f"{number} " + "word " * 380 for number in range(3))
    async with hooked_bot(platform_host, driver, echo, **PASSIVE) as bot_id:
        await simulator.ask(simulator.message(ANN, "text", Content=long))
        assert [text.split()[0] for text in simulator.texts(ANN)] == ["0"]

        def held(beginning: str) -> list[str]:
            steps = deliveries(platform_host, bot_id, beginning)
            return [step["text"] for step in steps if step["state"] == "held"]

        await eventually(lambda: len(held("0 word")) == 2, "the rest is held")
        assert all("one reply within five seconds" in each for each in held("0 word"))
        await simulator.ask(simulator.message(ANN, "text", Content="go on"))
        await eventually(lambda: len(held("0 word")) == len(held("go on")) == 1, "its own answer follows")
        await simulator.ask(simulator.message(ANN, "text", Content="more"))
        assert [text.split()[0] for text in simulator.texts(ANN)] == ["0", "1", "2"]
        assert all(each.is_passive for each in simulator.sent())


async def test_a_late_answer_is_announced_and_shown_with_the_next_message(platform_host: Host) -> None:
    driver = OfficialAccountDriver()
    simulator = driver.simulator
    agent = platform_host.agent(WRITING, "slow")
    async with hooked_bot(platform_host, driver, agent, **PASSIVE) as bot_id:
        slow: Any = {"text": "the late answer", "piece": 5, "pause": 3.0}
        await simulator.ask(simulator.message(ANN, "text", Content=json.dumps(slow)))
        assert simulator.texts(ANN) == [LOADING]
        await eventually(
            lambda: [each["state"] for each in deliveries(platform_host, bot_id, '{"text"')] == ["held"], "held"
        )
        await simulator.ask(simulator.message(ANN, "text", Content=json.dumps({"text": "next", "piece": 9})))
        assert simulator.texts(ANN) == [LOADING, "the late answer"]


async def test_a_reply_after_fifteen_seconds_fails_with_its_reason(platform_host: Host, echo: str) -> None:
    driver = OfficialAccountDriver()
    simulator = driver.simulator
    long = "\n\n".join(f"{number} " + "word " * 380 for number in range(2))
    async with hooked_bot(platform_host, driver, echo, mode="drop") as bot_id:
        await simulator.ask(simulator.message(ANN, "text", Content=long))
        await eventually(
            lambda: [each["state"] for each in deliveries(platform_host, bot_id, "0 word")] == ["sent", "failed"],
            "the second part is refused",
        )
        assert "does not keep late ones" in deliveries(platform_host, bot_id, "0 word")[1]["text"]


async def test_more_than_five_customer_service_messages_are_held(platform_host: Host, echo: str) -> None:
    driver = OfficialAccountDriver()
    simulator = driver.simulator
    simulator.window_replies = WINDOW_REPLIES
    long = "\n\n".join(f"{number} " + "word " * 380 for number in range(7))
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        await simulator.say(long, ANN)
        await eventually(
            lambda: [each["state"] for each in deliveries(platform_host, bot_id, "0 word")].count("held") == 2, "held"
        )
        assert len(simulator.sent(ANN)) == WINDOW_REPLIES
        await simulator.say("go on", ANN)
        await simulator.answered(8, ANN)
    assert [text.split()[0] for text in simulator.texts(ANN)] == [*map(str, range(7)), "go"]


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    driver = OfficialAccountDriver()
    simulator, texts = driver.simulator, [f"message {number}" for number in range(MESSAGES)]
    for host in started(tmp_path_factory):
        async with hooked_bot(host, driver, host.agent(ECHO, "echo"), **PASSIVE) as bot_id:
            for number, text in enumerate(texts):
                await simulator.say(text, ANN)
                if number % (MESSAGES // KILLS) == MESSAGES // KILLS - 1:
                    await asyncio.to_thread(host.kill)
                    await asyncio.to_thread(host.start)
                    driver.called_at(f"{host.address}/hooks/{bot_id}")
            await write_until_shown(simulator, texts)
    shown = [text for text in simulator.texts(ANN) if text in texts]
    assert sorted(shown) == sorted(texts)


async def write_until_shown(simulator: OfficialAccountSimulator, texts: list[str]) -> None:
    """Lets the follower write on until all replies are shown."""
    for number in range(len(texts)):
        await simulator.until(lambda: not simulator.calls.waiting)
        if set(texts) <= set(simulator.texts(ANN)):
            return
        await simulator.say(f"go on {number}", ANN)
    await simulator.until(lambda: set(texts) <= set(simulator.texts(ANN)))


def started(factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Yields a Host that may be killed."""
    host = Host(factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()
