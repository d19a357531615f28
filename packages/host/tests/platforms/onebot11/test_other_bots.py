"""Who is a bot among those who write: whom the implementation marks, and the accounts of this same Host."""

from typing import Any

import pytest

from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms.onebot11 import connected_accounts
from parlour.platforms.onebot11.connected_accounts import ConnectedAccounts
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native

from .conftest import Bot, Reverse

PERSON, FIRST, SECOND = 7, 10001, 10002


def nobody() -> None:
    """Hears that others come and go."""


def by_bot(incoming: IncomingEvent) -> bool:
    return bool(to_envelope(incoming, "bot", "onebot11").actor.data.get("is_bot"))


@pytest.mark.parametrize(
    "told",
    [
        {"sender": {"user_id": PERSON, "is_robot": True}},
        {"sender": {"user_id": PERSON, "is_bot": True}},
        {"user": {"user_id": PERSON, "is_bot": True}},
    ],
)
async def test_whom_the_implementation_marks_is_a_bot(told: dict[str, Any], bot: Bot, simulator: Simulator) -> None:
    await simulator.say("beep", PERSON, 5, **told)
    [incoming] = await bot.link.events(1)
    assert by_bot(incoming)


@pytest.mark.parametrize("told", [{}, {"sender": {"is_robot": False, "is_bot": "no"}}, {"user": ["is_bot"]}])
async def test_everybody_else_is_a_person(told: dict[str, Any], bot: Bot, simulator: Simulator) -> None:
    await simulator.say("hello", PERSON, 5, **told)
    [incoming] = await bot.link.events(1)
    assert not by_bot(incoming)


async def test_another_account_of_the_same_bot_is_a_bot(bot: Bot, joined: Reverse) -> None:
    first = await joined(bot, self_id=FIRST)
    await joined(bot, self_id=SECOND)
    await first.say("hello, me", SECOND, 5)
    [incoming] = await bot.link.events(1)
    assert by_bot(incoming)


async def test_an_account_of_another_bot_is_a_bot(
    bot: Bot, simulator: Simulator, reverse: Reverse, joined: Reverse
) -> None:
    await joined(await reverse(), self_id=SECOND)
    await simulator.say("hello, you", SECOND)
    [incoming] = await bot.link.events(1)
    assert by_bot(incoming)


async def test_an_account_that_two_bots_have_is_told_of_until_one_gives_it_up(
    bot: Bot, joined: Reverse, connected: ConnectedAccounts
) -> None:
    told = f"account {FIRST} is connected to another bot of this Host too"
    other = Bot({"mode": "reverse", "host": "127.0.0.1", "port": free_port()}, connected)
    await joined(bot, self_id=FIRST)
    async with other.served():
        await joined(other, self_id=FIRST)
        for link in (bot.link, other.link):
            await link.until(lambda link=link: told in link.states[-1][1])  # type: ignore[misc]
    await bot.link.until(lambda: bot.link.states[-1] == ("connected", ""))


async def test_what_a_bot_takes_back_is_taken_back_by_a_bot(bot: Bot, joined: Reverse) -> None:
    first = await joined(bot, self_id=FIRST)
    await joined(bot, self_id=SECOND)
    people = {"user_id": SECOND, "operator_id": SECOND, "group_id": 5}
    await first.report(native.notice(FIRST, "group_recall", message_id=3, **people))
    await first.report(native.notice(FIRST, "group_increase", sub_type="approve", **people))
    recalled, arrived = await bot.link.events(2)
    assert by_bot(recalled)
    assert by_bot(arrived)
    assert recalled.event.native["user_id"] == SECOND


def test_an_account_that_went_away_is_a_bot_until_it_could_have_come_back() -> None:
    now = 1000.0
    known = ConnectedAccounts(lambda: now)
    known.add("1", nobody)
    known.add("1", nobody)
    known.remove("1", nobody)
    now += connected_accounts.RECONNECT_GRACE_SECONDS
    assert "1" in known, "its other connection is still there"
    known.remove("1", nobody)
    assert "1" in known
    now += connected_accounts.RECONNECT_GRACE_SECONDS
    assert "1" not in known
    assert "2" not in known
