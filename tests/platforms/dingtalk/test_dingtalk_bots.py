"""Tests DingTalk robots through the whole Host: cards that grow, kills, repetitions, and people outside the company."""

import asyncio
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest

from parlour.testing.simulator.faults import PlannedFault
from tests.platforms.dingtalk.driver import ANN, DingTalkDriver
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.telegram.conftest import WRITING, WRITING_PLUGIN
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

WORDS = " ".join(f"word{number}" for number in range(60))
GUEST = "$:LWCP_v1:$guest"
FRAME_SECONDS = 1 / 1.5


async def test_an_answer_grows_in_one_card_within_the_rate(platform_host: Host) -> None:
    driver = DingTalkDriver()
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, platform_host.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": 60, "pause": 0.2}), ANN)
        await simulator.until(lambda: any(each.status == "3" for each in simulator.sent(ANN)))
    [card] = simulator.sent(ANN)
    assert card.text == WORDS
    assert len(card.versions) >= 3
    assert all(WORDS.startswith(each) for each in card.versions)
    times = card.times[:-1]  # the end follows the last text at once
    assert all(after - before > FRAME_SECONDS * 0.9 for before, after in pairwise(times))


async def test_without_a_template_an_answer_is_sent_when_it_is_complete(platform_host: Host) -> None:
    driver = DingTalkDriver()
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, platform_host.agent(WRITING, "writing"), card_template_id=""):
        await simulator.say(json.dumps({"text": WORDS, "piece": 200, "pause": 0.1}), ANN)
        await simulator.answered(1, ANN)
    assert [(each.kind, each.text) for each in simulator.sent(ANN)] == [("sampleMarkdown", WORDS)]


async def test_a_person_outside_the_company_gets_an_answer(platform_host: Host, echo: str) -> None:
    driver = DingTalkDriver()
    async with hooked_bot(platform_host, driver, echo):
        await driver.simulator.say("hello", GUEST)
        [sent] = await driver.simulator.answered(1, GUEST)
    assert (sent.kind, sent.text) == ("session", "hello")


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
async def test_a_card_is_completed_after_a_kill_at_its_end(own: Host) -> None:
    driver = DingTalkDriver()
    simulator = driver.simulator
    silent = PlannedFault("v1.0/card/streaming", happens=False, answers=False, skip=1)
    simulator.faults.planned.append(silent)  # type: ignore[arg-type]
    async with hooked_bot(own, driver, own.agent(WRITING, "writing")):
        await simulator.say(json.dumps({"text": WORDS, "piece": len(WORDS), "pause": 0.2}), ANN)
        await simulator.until(lambda: simulator.made.count("v1.0/card/streaming") == 2)
        await asyncio.to_thread(own.kill)
        await asyncio.to_thread(own.start)
        await simulator.until(lambda: any(each.status == "3" for each in simulator.sent(ANN)), 60)
    [card] = simulator.sent(ANN)
    assert (card.text, card.finalized) == (WORDS, True)
    assert all(WORDS.startswith(each) for each in card.versions)


@pytest.mark.long
async def test_messages_around_kills_are_repeated_and_answered(own: Host) -> None:
    driver, texts = DingTalkDriver(), [f"message {number}" for number in range(24)]
    simulator = driver.simulator
    simulator.stream.retry_seconds = 1.0
    async with hooked_bot(own, driver, own.agent(ECHO, "echo"), card_template_id=""):
        for number, text in enumerate(texts):
            await simulator.say(text, ANN)
            if number % 6 == 5:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
        await simulator.until(lambda: not simulator.stream.waiting, 60)
        await simulator.until(lambda: texts[-1] in simulator.texts(ANN), 60)
    answers = simulator.texts(ANN)
    assert all(answers.count(text) == 1 for text in texts)
    assert len(answers) - len(texts) <= 4
