"""Tests a faulty OneBot implementation: notices to users, repeated sends, and unaffected bots."""

import asyncio
import re
import time

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.testing.onebot_simulator import Simulator, native

from .qq import QQ, Bot, event_id, eventually, to_agent

ANN, BOB = 11, 12


@pytest.fixture
def bot(qq: QQ, echo: str) -> Bot:
    return qq.bot(to_agent(echo))


async def texts(simulator: Simulator, number: int, user: int = ANN) -> list[str]:
    return [each.text for each in await simulator.answered(number, f"private:{user}")]


async def test_a_refused_message_is_reported_and_later_ones_are_sent_in_order(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.faults.refuse("send_private_msg", 1400, "the content was refused")
        refused = await simulator.say("refused", ANN)
        for text in ("second", "third"):
            await simulator.say(text, ANN)
        shown = await texts(simulator, 3)
        step, notice = await qq.wait_for_deliveries(refused, "failed", "sent")
    assert [text for text in shown if text != notice_text("delivery.refused")] == ["second", "third"]
    assert notice["data"]["state"] == "sent"
    assert "the content was refused (retcode 1400)" in step["text"]
    assert step["data"]["attempts"] == 1


async def test_a_general_failure_is_retried_and_later_messages_wait(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        for retcode in (1200, 100):
            simulator.faults.refuse("send_private_msg", retcode, "it failed")
        first = await simulator.say("first", ANN)
        await simulator.say("second", ANN)
        assert await texts(simulator, 2) == ["first", "second"]
        [step] = await qq.wait_for_deliveries(first, "sent")
    assert step["data"]["attempts"] == 2
    tries = [each["params"]["message"][0]["data"]["text"] for each in simulator.requests]
    assert tries == ["first", "first", "first", "second"]


async def test_an_unknown_group_is_reported(qq: QQ, bot: Bot) -> None:
    simulator = Simulator(strict=True)
    async with bot.connected(simulator):
        message = await simulator.say([{"type": "at", "data": {"qq": "10001"}}, _text(" hello")], ANN, group_id=404)
        step, notice = await qq.wait_for_deliveries(message, "failed")
        assert "what was sent to group 404 was not taken: " in bot.status["last_error"]
    assert "the group 404 does not exist" in step["text"]
    assert "the group 404 does not exist" in notice["text"]


async def test_an_unacknowledged_reply_is_found_in_the_history(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.faults.cut("send_private_msg")
        first = await simulator.say("first", ANN)
        [step] = await qq.wait_for_deliveries(first, "sent")
        await eventually(lambda: not bot.status["last_error"], "nothing is wrong any more")
        await simulator.say("second", ANN)
        assert await texts(simulator, 2) == ["first", "second"]
    assert step["data"]["platform_message_id"] == str(simulator.sent()[0].message_id)


async def test_an_unacknowledged_reply_without_a_history_is_sent_again_once_and_marked(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.world.has_history = False
        simulator.faults.cut("send_private_msg")
        first = await simulator.say("first", ANN)
        await simulator.answered(1, f"private:{ANN}")
        await simulator.say("second", ANN)
        assert await texts(simulator, 3) == ["first", f"first{DEFAULT_REPEAT_NOTE}", "second"]
        [step] = await qq.wait_for_deliveries(first, "sent")
    assert "It may have been shown twice" in step["text"]


async def test_an_unacknowledged_reply_is_looked_up_by_its_own_account_although_another_is_connected(
    qq: QQ, bot: Bot
) -> None:
    async with bot.connected() as simulator, bot.connected(self_id=10002) as other:
        await other.until(lambda: other.connected)
        simulator.faults.cut("send_private_msg")
        first = await simulator.say("first", ANN)
        await qq.wait_for_deliveries(first, "sent")
        await simulator.say("second", ANN)
        assert await texts(simulator, 2) == ["first", "second"]
    assert other.sent() == []


async def test_a_reply_in_flight_while_its_bot_is_disabled_and_enabled_is_shown_once(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.world.has_history = False
        simulator.faults.delay_seconds = 0.3
        first = await simulator.say("first", ANN)
        await eventually(lambda: simulator.requests, "the reply is with the platform")
        for enabled in (False, True):
            await asyncio.to_thread(bot.switch, enabled)
        await qq.wait_for_deliveries(first, "sent")
        await simulator.say("second", ANN)
        assert await texts(simulator, 2) == ["first", "second"]


async def test_a_lost_reply_is_not_confused_with_an_equal_one_of_the_previous_conversation(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        await simulator.say("same", ANN)
        await texts(simulator, 1)
        await simulator.say("/new", ANN)
        await texts(simulator, 2)
        simulator.faults.cut("send_private_msg", happens=False)
        await simulator.say("same", ANN)
        first, _, second = await texts(simulator, 3)
    assert [first, second.removesuffix(DEFAULT_REPEAT_NOTE)] == ["same", "same"]


async def test_a_message_without_a_usable_agent_is_answered_with_a_readable_notice(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        long = await simulator.say("too long" * 400_000, ANN)
        assert await texts(simulator, 1) == [notice_text("payload_too_large")]
        trail = qq.host.http().get(f"/events/{event_id(long)}/why").json()["steps"]
        await simulator.say("short", ANN)
        assert (await texts(simulator, 2))[1] == "short"
    assert any("at most 2097152 are allowed" in step["text"] for step in trail)


async def test_unacknowledged_sends_are_in_the_bots_state_until_a_send_succeeds(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.world.has_history = False
        for _ in range(4):  # the answer and the notice about it, each twice
            simulator.faults.refuse("send_private_msg", 1200, "Timeout: NTEvent")
        first = await simulator.say("first", ANN)
        [reply, _] = await qq.wait_for_deliveries(first, "failed")
        await bot.wait_for_error(
            f"what was sent to private {ANN} may not have arrived: OneBot refused send_private_msg: Timeout"
        )
        await simulator.say("second", ANN)
        assert await texts(simulator, 1) == ["second"]
        await eventually(lambda: not bot.status["last_error"], "nothing is wrong any more")
    assert "the platform never answered; it may have been sent" in reply["text"]


async def test_messages_received_before_a_disconnect_are_answered_after_it(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        simulator.faults.delay_seconds = 0.05
        for number in range(5):
            await simulator.say(f"{number}", ANN)
        await eventually(lambda: received_messages(qq, bot) == 5, "all are accepted")
        await simulator.cut()
        await simulator.until(lambda: simulator.connections == 2)
        await simulator.say("after", ANN)
        await simulator.until(lambda: any(each.text == "after" for each in simulator.sent()))
        shown = [each.text.removesuffix(DEFAULT_REPEAT_NOTE) for each in simulator.sent(f"private:{ANN}")]
    assert list(dict.fromkeys(shown)) == ["0", "1", "2", "3", "4", "after"]


def received_messages(qq: QQ, bot: Bot) -> int:
    """Returns the number of received messages, without the Host's own events."""
    events = qq.host.items("/events", bot_id=bot.bot_id)
    return sum(1 for event in events if event["event_type"] == "message.received")


async def test_an_error_is_in_the_bots_state_and_other_bots_are_not_affected(qq: QQ, echo: str) -> None:
    good, guarded = qq.bot(to_agent(echo)), qq.bot(to_agent(echo), access_token="right")
    port = int(good.url.rpartition(":")[2].partition("/")[0])
    late = qq.bot(to_agent(echo), port=port)
    async with good.connected() as simulator:
        assert f"port {port} on 127.0.0.1 is in use" in await late.wait_for_error("in use")
        assert late.status["state"] == "failed"
        async with Simulator(token="wrong").connecting(guarded.url):
            await guarded.wait_for_error("access token is missing or wrong")
        async with Simulator().connecting(good.url):
            await good.wait_for_error("a second OneBot implementation")
        await simulator.say("hello", ANN)
        assert await texts(simulator, 1) == ["hello"]
    for bot in (good, guarded, late):
        bot.delete()


async def test_a_refused_token_is_in_the_bots_state_and_retried_at_growing_intervals(qq: QQ, echo: str) -> None:
    async with Simulator(token="right").listening() as url:
        astray = qq.bot(to_agent(echo), mode="forward", url=url, access_token="wrong")
        error = await astray.wait_for_error("refused the access token")
    astray.delete()
    assert "trying again in" in error


async def test_a_connection_that_closes_at_once_is_in_the_bots_state_and_retried_at_growing_intervals(
    qq: QQ, echo: str
) -> None:
    async with await asyncio.start_server(lambda _, writer: writer.transport.abort(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        astray = qq.bot(to_agent(echo), mode="forward", url=f"ws://127.0.0.1:{port}")
        at_length = re.compile(r"the OneBot implementation can't be reached: .*; trying again in ([4-9]|\d\d) s")
        waits = await eventually(lambda: at_length.search(astray.status["last_error"] or ""), "it waits for longer")
    assert int(waits[1]) >= 4
    astray.delete()


async def test_a_wrong_clock_is_in_the_bots_state_and_messages_are_still_answered(qq: QQ, bot: Bot) -> None:
    an_hour_ago = int(time.time()) - 3600
    async with bot.connected() as simulator:
        await simulator.report({**native.heartbeat(simulator.self_id, 60), "time": an_hour_ago})
        await bot.wait_for_error("clock is 60 minutes behind the Host's; set one of them right")
        await simulator.say("what time is it?", ANN, time=an_hour_ago)
        assert await texts(simulator, 1) == ["what time is it?"]
        assert bot.status["state"] == "connected"


async def test_a_message_that_arrives_too_late_is_not_answered_and_reported(qq: QQ, bot: Bot) -> None:
    async with bot.connected() as simulator:
        await simulator.report(native.heartbeat(simulator.self_id, 60))
        late = await simulator.say("hello from two hours ago", ANN, time=int(time.time()) - 7200)
        await bot.wait_for_error("a message says that it was written 120 minutes before it came")
        await simulator.say("hello from the future", ANN, time=int(time.time()) + 7200)
        assert await texts(simulator, 1) == ["hello from the future"]
        await bot.wait_for_error("a message says that it was written 120 minutes from now")
        trail = qq.host.http().get(f"/events/{event_id(late)}/why").json()["steps"]
    assert any("older than the agent's stale_after" in step["text"] for step in trail)


def _text(words: str) -> dict[str, object]:
    return {"type": "text", "data": {"text": words}}
