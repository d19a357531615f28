"""A bot with several accounts: a call goes by the account that met what it names."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.platforms.onebot11 import account_routing, accounts
from parlour.platforms.onebot11.account_routing import AccountRouting
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import Plain

from .conftest import Bot, Reverse

FIRST, SECOND = 10001, 10002
GROUP, FRIEND, MEMBER = "30003", "20002", "20003"
HELLO = [Plain(text="hello")]


@pytest.fixture
async def first(bot: Bot, joined: Reverse) -> Simulator:
    return await joined(bot, self_id=FIRST)  # type: ignore[no-any-return]


@pytest.fixture
async def second(bot: Bot, first: Simulator, joined: Reverse) -> Simulator:
    """Met a friend, a member of a group, a request and an invitation."""
    second: Simulator = await joined(bot, self_id=SECOND)
    second.world.number = iter(range(500, 600)).__next__  # type: ignore[method-assign]
    await second.say("hello", int(FRIEND))
    await second.say("hello", int(MEMBER), int(GROUP))
    await second.report(native.request(SECOND, "friend", "please", user_id=8))
    await second.report(native.request(SECOND, "group", "come", sub_type="invite", group_id=9, user_id=8))
    await bot.link.events(4)
    return second


Call = Callable[[PlatformApi], Awaitable[Any]]
CALLS: dict[str, Call] = {
    "set_friend_add_request": lambda api: api.answer_friend_request("please", True),
    "set_group_add_request": lambda api: api.answer_group_invite("come", True),
    "get_msg": lambda api: api.get_message("private", FRIEND, "500"),
    "delete_msg": lambda api: api.delete_message("group", GROUP, "501"),
    "set_group_kick": lambda api: api.kick_member(GROUP, MEMBER),
    "set_group_ban": lambda api: api.mute_member(GROUP, MEMBER),
    "set_group_name": lambda api: api.set_group_name(GROUP, "ours"),
    "get_group_info": lambda api: api.get_group_info(GROUP),
    "get_group_member_list": lambda api: api.get_group_member_list(GROUP),
    "get_stranger_info": lambda api: api.get_user_info(MEMBER),
    "send_group_msg": lambda api: api.send_message("group", GROUP, HELLO),
    "send_private_msg": lambda api: api.send_message("private", FRIEND, HELLO),
    "set_group_card": lambda api: api.call_platform_api("set_group_card", {"group_id": GROUP, "user_id": MEMBER}),
}


@pytest.mark.parametrize("action", CALLS)
async def test_a_call_goes_by_the_account_that_met_what_it_names(
    action: str, bot: Bot, first: Simulator, second: Simulator
) -> None:
    with suppress(PlatformRefused):  # what matters is who was asked
        await CALLS[action](bot.adapter.api())
    assert action in [each["action"] for each in second.requests]
    assert first.requests == []


async def test_what_nobody_met_goes_by_the_first(bot: Bot, first: Simulator, second: Simulator) -> None:
    await bot.adapter.api().send_message("group", "404", HELLO)
    await bot.adapter.api().get_group_list()
    assert [each["action"] for each in first.requests] == ["send_group_msg", "get_group_list"]


async def test_an_account_that_is_named_is_taken_whoever_met_it(bot: Bot, first: Simulator, second: Simulator) -> None:
    await bot.adapter.api(str(FIRST)).send_message("group", GROUP, HELLO)
    assert [each.text for each in first.sent()] == ["hello"]


async def test_who_met_a_group_last_is_taken(bot: Bot, first: Simulator, second: Simulator) -> None:
    await first.say("hello", int(MEMBER), int(GROUP))
    await bot.link.events(5)
    await bot.adapter.api().send_message("group", GROUP, HELLO)
    assert [each.text for each in first.sent()] == ["hello"]


async def test_a_friend_who_also_speaks_in_a_group_is_written_to_by_the_friend(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    await first.say("hello", int(FRIEND), int(GROUP))
    await bot.link.events(5)
    await bot.adapter.api().send_message("private", FRIEND, HELLO)
    assert [each.text for each in second.sent()] == ["hello"]


async def test_what_an_account_sent_is_taken_back_by_it(bot: Bot, first: Simulator, second: Simulator) -> None:
    sent = await bot.adapter.api(str(SECOND)).send_message("group", "404", HELLO)
    assert sent.message_id is not None
    await bot.adapter.api().delete_message("group", "404", sent.message_id)
    assert "delete_msg" in [each["action"] for each in second.requests]
    assert first.requests == []


async def test_who_quotes_a_message_with_the_number_of_one_that_another_account_sent_does_not_mean_the_bot(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    sent = await bot.adapter.api(str(SECOND)).send_message("group", GROUP, HELLO)
    quote = [native.segment("reply", id=sent.message_id), native.text("I agree")]
    await first.say(quote, int(MEMBER), int(GROUP))
    await second.say(quote, int(MEMBER), int(GROUP))
    incoming = await bot.link.events(6)
    assert {each.account: each.addresses_bot for each in incoming[4:]} == {str(FIRST): False, str(SECOND): True}


async def test_who_is_a_friend_of_one_account_is_not_answered_through_a_group_of_another(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    through = {"user_id": 7, "group_id": 5, "nickname": "Ann"}
    await first.say("psst", user_id=7, sub_type="group", sender=through)
    await second.say("hello", user_id=7)
    await bot.link.events(6)
    for account in (FIRST, SECOND):
        await bot.adapter.api(str(account)).send_message("private", "7", HELLO)
    assert first.requests[-1]["params"]["group_id"] == 5
    assert "group_id" not in second.requests[-1]["params"]


async def test_an_account_that_was_just_cut_is_waited_for(
    bot: Bot, first: Simulator, reverse: Reverse, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Simulator(self_id=SECOND)
    async with gone.connecting(bot.url):
        await gone.say("hello", int(MEMBER), int(GROUP))
        await gone.report(native.request(SECOND, "friend", "please", user_id=8))
        await bot.link.events(2)
    await bot.link.until(lambda: "account 10002 went away" in bot.link.now[1])
    with pytest.raises(PlatformOffline, match="account 10002 is not connected"):
        await bot.adapter.api().send_message("group", GROUP, HELLO)


async def test_an_account_that_is_gone_for_long_is_not_waited_for_where_another_might_do(
    bot: Bot, first: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "DISCONNECTED_SHOWN_SECONDS", 0.0)
    gone = Simulator(self_id=SECOND)
    async with gone.connecting(bot.url):
        await gone.say("hello", int(MEMBER), int(GROUP))
        await gone.report(native.request(SECOND, "friend", "please", user_id=8))
        await bot.link.events(2)
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    await bot.adapter.api().send_message("group", GROUP, HELLO)
    assert [each.text for each in first.sent()] == ["hello"]
    with pytest.raises(PlatformOffline, match="account 10002 is not connected"):
        await bot.adapter.api().answer_friend_request("please", True)


def test_only_so_many_are_remembered_and_the_latest_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_routing, "MAX_CACHED_KEYS", 2)
    known = AccountRouting()
    for group in ("1", "2", "1", "3"):
        known.record("a", account_routing.chat("group", group), account_routing.request(group))
    assert [known.account_for(account_routing.chat("group", group)) for group in "123"] == ["a", "", "a"]
    assert [known.account_for(account_routing.request(group)) for group in "123"] == ["a", "", "a"]
