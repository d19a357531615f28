"""Tests WeCom customer service through the whole Host: more than five replies, and kills."""

import asyncio
from collections.abc import Iterator

import pytest

from parlour.testing.wecomcs_simulator import WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT, WINDOW_REPLIES
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.platforms.wecomcs.driver import ANN, WecomCsDriver
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

CHAT = f"{ANN}|{ACCOUNT}"
KILLS, MESSAGES = 4, 24
PARTS = 7


def strict() -> tuple[WecomCsDriver, WecomCsSimulator]:
    driver = WecomCsDriver()
    driver.simulator.window_replies = WINDOW_REPLIES
    return driver, driver.simulator


def deliveries(host: Host, bot_id: str, beginning: str) -> list[Json]:
    """Returns the deliveries of a customer's message from its trail."""
    items = host.http().get("/events", params={"bot_id": bot_id, "limit": 50}).json()["items"]
    event_id = next((each["event_id"] for each in items if (each["input_summary"] or "").startswith(beginning)), "")
    answer = host.http().get(f"/events/{event_id}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return [step["data"] | {"text": step["text"]} for step in steps if step["step"] == "delivery"]


async def test_what_exceeds_five_replies_is_held_with_a_reason_and_sent_at_the_next_message(
    platform_host: Host, echo: str
) -> None:
    driver, simulator = strict()
    long = "\n\n".join(f"{number} " + "word " * 380 for number in range(PARTS))
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        await simulator.say(long, ANN)
        await simulator.answered(WINDOW_REPLIES, CHAT)

        def states() -> list[str]:
            return [each["state"] for each in deliveries(platform_host, bot_id, "0 word")]

        await eventually(lambda: states().count("held") == PARTS - WINDOW_REPLIES, "the rest is held")
        held = [each["text"] for each in deliveries(platform_host, bot_id, "0 word") if each["state"] == "held"]
        assert all("five replies within 48 hours" in each for each in held)
        assert len(simulator.sent(CHAT)) == WINDOW_REPLIES
        await simulator.say("go on", ANN)
        await simulator.answered(PARTS + 1, CHAT)
    texts = simulator.texts(CHAT)
    assert [text.split()[0] for text in texts] == [*map(str, range(PARTS)), "go"]


async def test_the_addresses_for_the_console_are_shown_and_checked(platform_host: Host, echo: str) -> None:
    driver, _ = strict()
    async with hooked_bot(platform_host, driver, echo) as bot_id:
        addresses = platform_host.http().get(f"/bots/{bot_id}/addresses").json()
        checked = platform_host.http().post(f"/bots/{bot_id}/addresses/check").json()
    assert addresses == {"takes_calls": True, "callback": None, "outbound_ips": []}
    assert checked["outcome"] == "no_address"


async def write_until_shown(simulator: WecomCsSimulator, texts: list[str]) -> None:
    """Lets the customer write on until all replies are shown: five at each message."""
    for number in range(len(texts)):
        enough = len(simulator.sent(CHAT)) + WINDOW_REPLIES
        await simulator.say(f"go on {number}", ANN)
        await simulator.until(
            lambda: len(simulator.sent(CHAT)) >= enough or set(texts) <= set(simulator.texts(CHAT))  # noqa: B023
        )
        if set(texts) <= set(simulator.texts(CHAT)):
            return
    raise AssertionError("some replies were never shown")


async def test_a_burst_of_messages_loses_no_reply(platform_host: Host, echo: str) -> None:
    driver, simulator = strict()
    texts = [f"burst {number}" for number in range(12)]
    async with hooked_bot(platform_host, driver, echo):
        contents = [simulator.announce(simulator.message(ANN, "text", content=text)) for text in texts]
        await asyncio.gather(*map(simulator.calls.call, contents))
        await simulator.answered(WINDOW_REPLIES, CHAT)
        await write_until_shown(simulator, texts)
    shown = [text for text in simulator.texts(CHAT) if text in texts]
    assert shown == texts


@pytest.mark.long
async def test_messages_around_kills_are_answered_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    driver = WecomCsDriver()
    simulator, texts = driver.simulator, [f"message {number}" for number in range(MESSAGES)]
    for host in started(tmp_path_factory):
        async with hooked_bot(host, driver, host.agent(ECHO, "echo")) as bot_id:
            for number, text in enumerate(texts):
                await simulator.say(text, ANN)
                if number % (MESSAGES // KILLS) == MESSAGES // KILLS - 1:
                    await asyncio.to_thread(host.kill)
                    await asyncio.to_thread(host.start)
                    driver.called_at(f"{host.address}/hooks/{bot_id}")
            await write_until_shown(simulator, texts)
    shown = [text for text in simulator.texts(CHAT) if text in texts]
    assert shown == texts


def started(factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Yields a Host that may be killed."""
    host = Host(factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()
