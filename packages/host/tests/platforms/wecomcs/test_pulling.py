"""Tests how messages are fetched: pages, the stored position, messages of a stopped Host, refusals and greetings."""

import asyncio
import json
import logging
import random

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import IncomingEvent
from parlour.testing.errcode_simulator import xml_of
from parlour.testing.wecomcs_simulator import WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT, CORP

from .conftest import Bot


def position(bot: Bot) -> str:
    return str(json.loads(bot.link.stored_cursor or "{}")["positions"][ACCOUNT])


async def test_all_pages_are_stored_in_order_with_their_position(bot: Bot) -> None:
    texts = [f"message {number}" for number in range(170)]
    for text in texts:
        bot.simulator.add(bot.simulator.message("wmAnn", "text", content=text))
    assert (await bot.simulator.calls.call(bot.simulator.announce(None))).answers == [(200, "")]
    assert bot.texts == texts
    assert position(bot) == "c171"


async def test_a_started_bot_fetches_what_came_while_it_was_stopped(simulator: WecomCsSimulator, url: str) -> None:
    bot = Bot(simulator, url)
    async with bot.served():
        await simulator.calls.call(simulator.announce(simulator.message("wmAnn", "text", content="before")))
    simulator.add(simulator.message("wmAnn", "text", content="meanwhile"))
    later = Bot(simulator, url)
    later.link.stored_cursor = bot.link.stored_cursor
    async with later.served():
        await later.link.events(1)
    assert (bot.texts, later.texts) == (["before"], ["meanwhile"])


async def test_a_page_that_is_not_stored_is_fetched_again(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    receive, failures = bot.link.receive, [StorageFailed("disk", "the disk is full")]

    async def failing_once(*incoming: IncomingEvent, cursor: str | None = None) -> None:
        if failures:
            raise failures.pop()
        await receive(*incoming, cursor=cursor)

    monkeypatch.setattr(bot.link, "receive", failing_once)
    monkeypatch.setattr("parlour.core.journal.retry.STORAGE_RETRY_SECONDS", 0.01)
    await bot.simulator.calls.call(bot.simulator.announce(bot.simulator.message("wmAnn", "text", content="once")))
    assert bot.texts == ["once"]
    assert bot.simulator.made.count("kf/sync_msg") == 2


async def test_calls_that_wait_for_each_other_fetch_once_more_only(bot: Bot) -> None:
    contents = [
        bot.simulator.announce(bot.simulator.message("wmAnn", "text", content=f"{number}")) for number in range(30)
    ]
    calls = await asyncio.gather(*map(bot.simulator.calls.call, contents))
    assert {call.answers[-1] for call in calls} == {(200, "")}
    assert bot.texts == [f"{number}" for number in range(30)]
    assert bot.simulator.made.count("kf/sync_msg") <= 3


async def test_an_expired_token_of_a_call_is_left_out(bot: Bot) -> None:
    bot.simulator.faults.refuse("kf/sync_msg", 95007, "invalid msg token")
    await bot.simulator.calls.call(bot.simulator.announce(bot.simulator.message("wmAnn", "text", content="late")))
    await bot.link.events(1)
    assert bot.texts == ["late"]


async def test_a_refusal_is_shown_and_the_call_is_repeated(bot: Bot) -> None:
    bot.simulator.faults.refuse("kf/sync_msg", 95000, "invalid open_kfid", times=2)
    call = await bot.simulator.calls.call(bot.simulator.announce(bot.simulator.message("wmAnn", "text", content="x")))
    assert [status for status, _ in call.answers] == [503, 200]
    assert any("there is no such customer service account" in problem for _, problem in bot.link.states)


async def test_a_customer_is_greeted_once(simulator: WecomCsSimulator, url: str) -> None:
    async with Bot(simulator, url, welcome_message="Welcome!").served() as bot:
        await simulator.enter("wmAnn")
        await simulator.until(lambda: simulator.texts() == ["Welcome!"])
        await simulator.say("hello", "wmAnn")
        await bot.link.events(2)
        await simulator.until(lambda: not simulator.calls.waiting)
        assert simulator.texts() == ["Welcome!"]
        shown = json.dumps([each.event.model_dump(mode="json") for each in bot.link.incoming])
    assert "CODE" not in shown


async def test_the_check_of_the_address_and_other_calls(bot: Bot) -> None:
    assert await bot.simulator.calls.verify("echo+/=") == (200, "echo+/=")
    other = xml_of({"ToUserName": CORP, "CreateTime": "1779012345", "MsgType": "event", "Event": "kf_account_auth"})
    for content in (other, "no xml"):
        assert (await bot.simulator.calls.call(content)).answers == [(200, "")]
    types = [each.event.type for each in bot.link.incoming]
    assert types == ["platform.wecomcs.kf_account_auth", "platform.wecomcs.malformed"]


@pytest.mark.parametrize("number", [100, pytest.param(1000, marks=pytest.mark.long)])
async def test_mutated_calls_are_refused_without_a_line_in_the_log(
    bot: Bot, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    generator, calls = random.Random(27), bot.simulator.calls
    announced = bot.simulator.announce(bot.simulator.message("wmAnn", "text", content="forged"))

    def mutated() -> tuple[dict[str, str], str]:
        encrypted = calls.crypto.encrypt(announced)
        query, body = calls.query(encrypted), calls.body(encrypted, "")
        name = generator.choice(("msg_signature", "timestamp", "nonce", "body"))
        if name == "body":
            place = body.index(encrypted) + generator.randrange(len(encrypted))
            body = body[:place] + ("A" if body[place] != "A" else "B") + body[place + 1 :]
        else:
            place = generator.randrange(len(query[name]))
            other = "1" if query[name][place] != "1" else "2"
            query[name] = query[name][:place] + other + query[name][place + 1 :]
        return query, body

    with caplog.at_level(logging.INFO):
        answers = {(await calls.post(*mutated()))[0] for _ in range(number)}
    assert answers == {401}
    assert [record for record in caplog.records if record.name.startswith("parlour")] == []
    assert "kf/sync_msg" not in bot.simulator.made
