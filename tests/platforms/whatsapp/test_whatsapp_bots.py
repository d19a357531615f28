"""Tests WhatsApp bots through the whole Host: the window for answers, approvals, failures, load, and kills."""

import asyncio
import json
import time
from collections.abc import Iterator

import pytest

from parlour.testing.whatsapp_simulator import WhatsAppSimulator
from parlour.testing.whatsapp_simulator.world import OWN_NUMBER
from tests.platforms.conftest import FIXTURES
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.platforms.telegram.conftest import ACTING
from tests.platforms.whatsapp.driver import WhatsAppDriver
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json


def deliveries(host: Host, message: Json) -> list[Json]:
    """Returns the deliveries of a message from its trail."""
    answer = host.http().get(f"/events/{message['id']}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return [step for step in steps if step["step"] == "delivery"]


def called_at(simulator: WhatsAppSimulator, host: Host, bot_id: str) -> None:
    simulator.request_url = f"{host.address}/hooks/{bot_id}"


async def test_an_answer_after_the_window_waits_for_the_next_message_and_the_trail_says_so(platform_host: Host) -> None:
    driver, echo = WhatsAppDriver(), platform_host.agent(ECHO, "echo")
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, echo):
        ann = simulator.world.add_user("Ann")
        late = simulator.message(ann, type="text", text={"body": "written yesterday"})
        await simulator.post({**late, "timestamp": str(round(time.time()) - 25 * 3600)})
        await eventually(
            lambda: [s["data"]["state"] for s in deliveries(platform_host, late)] == ["held"], "it is held"
        )
        assert "24 hours" in deliveries(platform_host, late)[0]["text"]
        assert simulator.texts(ann) == []
        await simulator.say("today", ann)
        await simulator.until(lambda: len(simulator.texts(ann)) == 2)
        assert sorted(simulator.texts(ann)) == ["today", "written yesterday"]
        await eventually(
            lambda: [s["data"]["state"] for s in deliveries(platform_host, late)] == ["sent"], "it is sent"
        )


async def test_an_answer_whose_call_was_cut_is_found_by_its_report_and_not_repeated(platform_host: Host) -> None:
    driver, echo = WhatsAppDriver(), platform_host.agent(ECHO, "echo")
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, echo):
        ann = simulator.world.add_user("Ann")
        simulator.reports_sent = True
        simulator.faults.cut("messages", happens=True)
        message = await simulator.say("shown but not known", ann)
        await eventually(
            lambda: [s["data"]["state"] for s in deliveries(platform_host, message)] == ["sent"], "settled"
        )
        await simulator.say("next", ann)
        await simulator.until(lambda: "next" in simulator.texts(ann))
        assert simulator.texts(ann) == ["shown but not known", "next"]


async def test_calls_under_load_are_acknowledged_in_time_and_answered_once(platform_host: Host) -> None:
    driver, echo = WhatsAppDriver(), platform_host.agent(ECHO, "echo")
    simulator = driver.simulator
    async with hooked_bot(platform_host, driver, echo):
        users = [simulator.world.add_user(f"user {number}") for number in range(60)]
        await asyncio.gather(*(simulator.say(f"hello {user}", user) for user in users))
        await simulator.until(lambda: len(simulator.sent()) >= len(users), 60)
        slowest = max(seconds for _, seconds in simulator.responses)
        assert {status for status, _ in simulator.responses} == {200}
        assert slowest < 5
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


@pytest.mark.long
async def test_a_pressed_button_approves_a_reaction_after_a_kill(own: Host) -> None:
    driver = WhatsAppDriver()
    simulator = driver.simulator
    ann, boss = simulator.world.add_user("Ann"), simulator.world.add_user("Boss")
    group = simulator.world.add_group(ann, boss)
    policy = {"message.react": {"decision": "ask", "who": {"users": [boss], "roles": []}}}
    async with hooked_bot(own, driver, own.agent(ACTING, "acting", approval_policy=policy)) as bot_id:
        request = json.dumps([["message.react", {}, {"reaction": "👍"}, 0]])
        asked = await simulator.say(f"@{OWN_NUMBER} {request}", ann, group)
        await simulator.until(lambda: any(each.kind == "interactive" for each in simulator.sent(group)))
        question = next(each for each in simulator.sent(group) if each.kind == "interactive")
        await simulator.press(question, "Approve", ann, group)
        await simulator.until(lambda: any("you may not decide" in text for text in simulator.texts(group)))
        await asyncio.to_thread(own.kill)
        pressing = asyncio.create_task(simulator.press(question, "Approve", boss, group))
        await asyncio.to_thread(own.start)
        called_at(simulator, own, bot_id)
        await pressing
        await simulator.until(lambda: simulator.world.reactions == [(asked["id"], "👍")])


@pytest.mark.long
async def test_messages_around_twenty_kills_are_redelivered_and_answered(own: Host) -> None:
    driver, texts = WhatsAppDriver(), [f"message {number}" for number in range(60)]
    simulator = driver.simulator
    async with hooked_bot(own, driver, own.agent(ECHO, "echo")) as bot_id:
        ann = simulator.world.add_user("Ann")
        simulator.reports_sent = True
        for number, text in enumerate(texts):
            await simulator.say(text, ann)
            if number % 3 == 1:
                await asyncio.to_thread(own.kill)
                await asyncio.to_thread(own.start)
                called_at(simulator, own, bot_id)
        await simulator.until(lambda: not simulator.waiting, 120)
        await simulator.until(lambda: any(texts[-1] in each for each in simulator.texts(ann)), 120)
        shown = simulator.texts(ann)
    counts = [sum(each.startswith(text) and each[len(text) :][:1] in ("", "\n") for each in shown) for text in texts]
    assert min(counts) >= 1
    assert sum(counts) - len(texts) <= 20
    assert [each for each in set(shown) if shown.count(each) > 1] == []
