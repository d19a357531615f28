"""A sender counts as a bot if the implementation marks it as one, or if it is an account of the same Host."""

from typing import Any

import pytest

from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms.onebot11 import state
from parlour.platforms.onebot11.state import ConnectedAccounts
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native

from .conftest import Bot, Reverse

PERSON, FIRST, SECOND = 7, 10001, 10002


def ignore_change() -> None:
    """Ignores changes of the connected accounts."""


def by_bot(incoming: IncomingEvent) -> bool:
    return bool(to_envelope(incoming, "bot", "onebot11").actor.data.get("is_bot"))


@pytest.mark.parametrize(
    "extra",
    [
        {"sender": {"user_id": PERSON, "is_robot": True}},
        {"sender": {"user_id": PERSON, "is_bot": True}},
        {"user": {"user_id": PERSON, "is_bot": True}},
    ],
)
async def test_a_sender_that_the_implementation_marks_is_a_bot(
    extra: dict[str, Any], bot: Bot, simulator: Simulator
) -> None:
    await simulator.say("beep", PERSON, 5, **extra)
    [incoming] = await bot.link.events(1)
    assert by_bot(incoming)


@pytest.mark.parametrize("extra", [{}, {"sender": {"is_robot": False, "is_bot": "no"}}, {"user": ["is_bot"]}])
async def test_a_sender_without_a_mark_is_a_person(extra: dict[str, Any], bot: Bot, simulator: Simulator) -> None:
    await simulator.say("hello", PERSON, 5, **extra)
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


async def test_an_account_connected_to_two_bots_is_shown_until_one_disconnects(
    bot: Bot, joined: Reverse, connected: ConnectedAccounts
) -> None:
    expected = f"account {FIRST} is connected to another bot of this Host too"
    other = Bot({"mode": "reverse", "host": "127.0.0.1", "port": free_port()}, connected)
    await joined(bot, self_id=FIRST)
    async with other.served():
        await joined(other, self_id=FIRST)
        for link in (bot.link, other.link):
            await link.until(lambda link=link: expected in link.states[-1][1])  # type: ignore[misc]
    await bot.link.until(lambda: bot.link.states[-1] == ("connected", ""))
    assert expected in [error for _, error in bot.link.states if error][-1]


async def test_the_actor_of_a_bots_recall_is_a_bot(bot: Bot, joined: Reverse) -> None:
    first = await joined(bot, self_id=FIRST)
    await joined(bot, self_id=SECOND)
    people = {"user_id": SECOND, "operator_id": SECOND, "group_id": 5}
    await first.report(native.notice(FIRST, "group_recall", message_id=3, **people))
    await first.report(native.notice(FIRST, "group_increase", sub_type="approve", **people))
    recalled, arrived = await bot.link.events(2)
    assert by_bot(recalled)
    assert by_bot(arrived)
    assert recalled.event.native["user_id"] == SECOND


def test_a_disconnected_account_counts_as_a_bot_for_the_reconnect_grace() -> None:
    now = 1000.0
    known = ConnectedAccounts(lambda: now)
    known.add("1", ignore_change)
    known.add("1", ignore_change)
    known.remove("1", ignore_change)
    now += state.RECONNECT_GRACE_SECONDS
    assert "1" in known, "its other connection is still there"
    known.remove("1", ignore_change)
    assert "1" in known
    now += state.RECONNECT_GRACE_SECONDS
    assert "1" not in known
    assert "2" not in known
