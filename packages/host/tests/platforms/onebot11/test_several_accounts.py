"""A call of a bot with several accounts uses the account that has seen its target."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.platforms.onebot11 import accounts, state
from parlour.platforms.onebot11.state import AccountRouting
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
    """A second account that has seen a friend, a member of a group, a request and an invitation."""
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
async def test_a_call_uses_the_account_that_has_seen_its_target(
    action: str, bot: Bot, first: Simulator, second: Simulator
) -> None:
    with suppress(PlatformRefused):  # the test is about the account that was called
        await CALLS[action](bot.adapter.api())
    assert action in [each["action"] for each in second.requests]
    assert first.requests == []


async def test_a_call_to_an_unknown_target_uses_the_first_account(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    await bot.adapter.api().send_message("group", "404", HELLO)
    await bot.adapter.api().get_group_list()
    assert [each["action"] for each in first.requests] == ["send_group_msg", "get_group_list"]


async def test_a_named_account_is_used_even_if_another_has_seen_the_target(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    await bot.adapter.api(str(FIRST)).send_message("group", GROUP, HELLO)
    assert [each.text for each in first.sent()] == ["hello"]


async def test_the_account_that_saw_a_group_last_is_used(bot: Bot, first: Simulator, second: Simulator) -> None:
    await first.say("hello", int(MEMBER), int(GROUP))
    await bot.link.events(5)
    await bot.adapter.api().send_message("group", GROUP, HELLO)
    assert [each.text for each in first.sent()] == ["hello"]


async def test_a_private_message_uses_the_account_whose_friend_the_user_is(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    await first.say("hello", int(FRIEND), int(GROUP))
    await bot.link.events(5)
    await bot.adapter.api().send_message("private", FRIEND, HELLO)
    assert [each.text for each in second.sent()] == ["hello"]


async def test_a_message_is_deleted_by_the_account_that_sent_it(bot: Bot, first: Simulator, second: Simulator) -> None:
    sent = await bot.adapter.api(str(SECOND)).send_message("group", "404", HELLO)
    assert sent.message_id is not None
    await bot.adapter.api().delete_message("group", "404", sent.message_id)
    assert "delete_msg" in [each["action"] for each in second.requests]
    assert first.requests == []


async def test_a_quoted_message_id_of_another_account_does_not_address_the_bot(
    bot: Bot, first: Simulator, second: Simulator
) -> None:
    sent = await bot.adapter.api(str(SECOND)).send_message("group", GROUP, HELLO)
    quote = [native.segment("reply", id=sent.message_id), native.text("I agree")]
    await first.say(quote, int(MEMBER), int(GROUP))
    await second.say(quote, int(MEMBER), int(GROUP))
    incoming = await bot.link.events(6)
    assert {each.account: each.addresses_bot for each in incoming[4:]} == {str(FIRST): False, str(SECOND): True}


async def test_each_account_answers_a_user_as_friend_or_through_its_own_group(
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


async def test_an_account_that_just_disconnected_is_not_replaced_by_another(
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


async def test_an_account_that_is_gone_for_long_is_replaced_where_another_can_serve(
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


def test_the_routing_cache_keeps_a_bounded_number_of_latest_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_CACHED_KEYS", 2)
    known = AccountRouting()
    for group in ("1", "2", "1", "3"):
        known.record("a", state.chat_key("group", group), state.request_key(group))
    assert [known.account_for(state.chat_key("group", group)) for group in "123"] == ["a", "", "a"]
    assert [known.account_for(state.request_key(group)) for group in "123"] == ["a", "", "a"]
