"""A send whose answer was lost is looked up in the chat's history, if the implementation has one."""

import time
from uuid import UUID

import pytest

from parlour.core.platforms.port import PlatformOffline
from parlour.core.system import SystemIds
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import At, Image, MessageChain, Plain, Voice

from .conftest import Bot

HELLO: MessageChain = [Plain(text="hello [x] "), Image(url="https://example.com/a.png")]


async def unknown_message(message_id: str) -> bool:
    return False


@pytest.mark.parametrize(("target_type", "target_id"), [("group", "5"), ("private", "7")])
async def test_a_message_that_arrived_is_found(
    target_type: str, target_id: str, bot: Bot, simulator: Simulator
) -> None:
    api, key = bot.adapter.api(), SystemIds().new()
    assert await api.find_message(target_type, target_id, HELLO, key, unknown_message) is None  # type: ignore[arg-type]
    sent = await api.send_message(target_type, target_id, HELLO, key)  # type: ignore[arg-type]
    await simulator.say("something else", user_id=7, group_id=5 if target_type == "group" else 0)
    found = await api.find_message(target_type, target_id, HELLO, key, unknown_message)  # type: ignore[arg-type]
    assert found is not None
    assert found.message_id == sent.message_id
    assert await api.find_message(target_type, "9", HELLO, key, unknown_message) is None  # type: ignore[arg-type]


async def test_a_message_with_merged_texts_and_other_line_ends_is_found(bot: Bot, simulator: Simulator) -> None:
    chain: MessageChain = [Plain(text="one\n"), Plain(text="two\n"), At(target="7"), Plain(text="three\n")]
    api, key = bot.adapter.api(), SystemIds().new()
    sent = await api.send_message("group", "5", chain, key)
    reported = [native.text("one\r\ntwo\r"), native.segment("at", qq=7, name="Ann"), native.text("three")]
    simulator.world.messages[int(sent.message_id or 0)]["message"] = reported
    found = await api.find_message("group", "5", chain, key, unknown_message)
    assert found is not None
    other: MessageChain = [Plain(text="one\ntwo\n"), At(target="8"), Plain(text="three\n")]
    assert await api.find_message("group", "5", other, key, unknown_message) is None


async def test_an_equal_message_that_is_already_known_does_not_match(bot: Bot, simulator: Simulator) -> None:
    api = bot.adapter.api()
    first = await api.send_message("private", "7", HELLO)

    async def known_message(message_id: str) -> bool:
        return message_id == first.message_id

    assert await api.find_message("private", "7", HELLO, SystemIds().new(), known_message) is None
    second = await api.send_message("private", "7", HELLO)
    found = await api.find_message("private", "7", HELLO, SystemIds().new(), known_message)
    assert found is not None
    assert found.message_id == second.message_id


async def test_an_equal_message_of_another_sender_does_not_match(bot: Bot, simulator: Simulator) -> None:
    api, key = bot.adapter.api(), SystemIds().new()
    await simulator.say("the same", user_id=7)
    assert await api.find_message("private", "7", [Plain(text="the same")], key, unknown_message) is None
    sent = await api.send_message("private", "7", [Plain(text="the same")], key)
    found = await api.find_message("private", "7", [Plain(text="the same")], key, unknown_message)
    assert found is not None
    assert found.message_id == sent.message_id


async def test_an_older_message_does_not_match(bot: Bot, simulator: Simulator) -> None:
    api = bot.adapter.api()
    later = UUID(int=(int(time.time() * 1000) + 60_000) << 80 | 7 << 76 | 2 << 62)
    await api.send_message("private", "7", [HELLO[0]])
    assert await api.find_message("private", "7", [HELLO[0]], str(later), unknown_message) is None


@pytest.mark.parametrize("chain", [[Voice(url="https://example.com/a.amr"), Plain(text="x")]])
async def test_a_chain_of_several_messages_is_not_looked_up(
    chain: MessageChain, bot: Bot, simulator: Simulator
) -> None:
    assert await bot.adapter.api().find_message("private", "7", chain, SystemIds().new(), unknown_message) is None


async def test_an_implementation_without_history_finds_nothing(bot: Bot, simulator: Simulator) -> None:
    simulator.world.has_history = False
    key = SystemIds().new()
    await bot.adapter.api().send_message("private", "7", HELLO, key)
    assert await bot.adapter.api().find_message("private", "7", HELLO, key, unknown_message) is None


async def test_a_lookup_without_a_connection_fails_as_offline(bot: Bot) -> None:
    with pytest.raises(PlatformOffline):
        await bot.adapter.api().find_message("private", "7", HELLO, SystemIds().new(), unknown_message)
