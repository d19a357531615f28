"""Tests WeCom applications through the whole Host: the check of the address, approvals by cards, and kills."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from tests.platforms.conftest import FIXTURES
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.telegram.conftest import ACTING
from tests.platforms.wecom.driver import WecomDriver
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

ASK = {"elsewhere/message.send": {"decision": "ask", "who": {"users": ["boss"], "requester": True}}}
KILLS, MESSAGES = 4, 24


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts a Host that may be killed."""
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    for plugin in (ECHO_PLUGIN, FIXTURES / "acting_agent.py"):
        host.install(plugin)
    host.start()
    yield host
    host.close()


async def test_wecom_checks_the_address_and_a_forged_call_is_refused(platform_host: Host, echo: str) -> None:
    driver = WecomDriver()
    calls = driver.simulator.calls
    async with hooked_bot(platform_host, driver, echo):
        assert await calls.verify("1616140317555161061+/") == (200, "1616140317555161061+/")
        encrypted = calls.crypto.encrypt("<xml></xml>")
        wrong = {**calls.query(encrypted), "nonce": "another"}
        assert (await calls.post(wrong, calls.body(encrypted, "")))[0] == 401
        await driver.simulator.say("你好 👋", "ann")
        await driver.simulator.answered(1)
    assert driver.simulator.texts() == ["你好 👋"]


@pytest.mark.long
async def test_a_pressed_button_decides_for_an_authorized_user_after_a_kill(own: Host) -> None:
    driver = WecomDriver()
    simulator = driver.simulator
    simulator.add_member("boss", "Boss")
    agent = own.agent(ACTING, "acting", approval_policy=ASK)
    async with hooked_bot(own, driver, agent) as bot_id:
        request = [["message.send", {"chat_type": "private", "chat_id": "bob|1000002"}, {"text": "to Bob"}, 0]]
        await simulator.say(json.dumps(request), "boss")
        await simulator.until(lambda: any(each.kind == "template_card" for each in simulator.sent()))
        card = next(each for each in simulator.sent() if each.kind == "template_card")
        await asyncio.to_thread(own.kill)
        await simulator.press(card, "Approve")
        await asyncio.to_thread(own.start)
        driver.called_at(f"{own.address}/hooks/{bot_id}")
        await simulator.until(lambda: "to Bob" in simulator.texts("bob|1000002"))
        await simulator.until(lambda: bool(card.pressed))


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(own: Host) -> None:
    driver, texts = WecomDriver(), [f"message {number}" for number in range(MESSAGES)]
    simulator = driver.simulator
    async with hooked_bot(own, driver, own.agent(ECHO, "echo")) as bot_id:
        for number, text in enumerate(texts):
            await simulator.say(text, "ann")
            if number % (MESSAGES // KILLS) == MESSAGES // KILLS - 1:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
                driver.called_at(f"{own.address}/hooks/{bot_id}")
        await simulator.until(lambda: texts[-1] in simulator.texts() and not simulator.calls.waiting, 120)
    answers = simulator.texts()
    assert all(answers.count(text) == 1 for text in texts)
    assert len(answers) - len(texts) <= KILLS
