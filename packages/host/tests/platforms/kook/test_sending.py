"""Tests what is sent to KOOK: mentions, files, cards with buttons, nonces, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import At, File, Plain, Platform

from .conftest import ANN, CHANNEL, Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*rows: Any) -> Platform:
    return Platform(platform="kook", component_type="buttons", data={"buttons": list(rows)})


async def test_only_mentions_of_the_chain_notify_users(bot: Bot) -> None:
    await bot.api.send_message("group", CHANNEL, [At(target=ANN), Plain(text=" (met)all(met) **bold** (no tag)")])
    [sent] = bot.simulator.sent()
    assert sent.payload["content"] == f"(met){ANN}(met) \\(met)all\\(met) **bold** (no tag)"


async def test_files_are_uploaded_and_shown_by_their_address(bot: Bot) -> None:
    await bot.api.send_message("group", CHANNEL, [Plain(text="a"), File(base64=HELLO, name="a.txt"), Plain(text="b")])
    assert [each.payload["type"] for each in bot.simulator.sent()] == [9, 4, 9]
    assert list(bot.simulator.world.assets.values()) == [b"hello"]


async def test_buttons_make_a_card_that_an_edit_into_text_keeps_without_them(bot: Bot) -> None:
    row = [{"label": "Yes", "action_id": "approval", "value": "yes"}, {"label": "See", "url": "https://example.com"}]
    sent = await bot.api.send_message("group", CHANNEL, [Plain(text="sure?"), buttons(*row)])
    [shown] = bot.simulator.sent()
    assert (shown.text, [each["text"] for each in shown.buttons]) == ("sure?", ["Yes", "See"])
    await bot.api.edit_message("group", CHANNEL, str(sent.message_id), [Plain(text="decided")])
    assert (shown.text, shown.buttons) == ("decided", [])


async def test_a_message_whose_answer_is_lost_is_found_by_its_nonce(bot: Bot) -> None:
    async def is_known(message_id: str) -> bool:
        return False

    bot.simulator.faults.cut("message/create")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("group", CHANNEL, [Plain(text="once")], "a-key")
    found = await bot.api.find_message("group", CHANNEL, [Plain(text="once")], "a-key", is_known)
    assert found is not None
    assert found.message_id == bot.simulator.sent()[0].payload["id"]
    assert await bot.api.find_message("group", CHANNEL, [Plain(text="once")], "other", is_known) is None


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([Plain(text="x" * 8001)], "消息内容过长"),
        ([], "nothing in this message"),
        ([Platform(platform="kook", component_type="card", data={"type": "no"})], "卡片模块不合法"),
        ([File(base64="no!", name="a")], "not base64"),
        ([File(path="/etc/passwd")], "path of the Host's machine"),
        ([Plain(text="x"), buttons(*([{"label": "x"}] for _ in range(41)))], "160 buttons"),
    ],
)
async def test_what_kook_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("group", CHANNEL, chain)
    assert refused.value.permanent


async def test_a_rate_limit_names_the_time(bot: Bot) -> None:
    bot.simulator.limit = (1.0, 30.0)
    await bot.api.send_message("group", CHANNEL, [Plain(text="one")])
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("group", CHANNEL, [Plain(text="two")])
    assert not refused.value.permanent
    assert refused.value.retry_after is not None
    assert 20 < refused.value.retry_after <= 30


async def test_the_token_of_the_gateway_is_hidden(bot: Bot) -> None:
    answer = await bot.api.call_platform_api("get_gateway", {})
    assert answer["url"].endswith("?token=hidden")
