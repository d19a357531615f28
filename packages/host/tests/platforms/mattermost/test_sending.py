"""Tests what is sent to Mattermost: mentions, files, threads, buttons and their signatures, keys, and refusals."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import BOT_ID, make_id
from parlour_sdk.protocol.chain import At, AtAll, File, Plain, Platform

from .conftest import ANN, CHANNEL, EVE, Bot

HELLO = base64.b64encode(b"hello").decode()
YES = {"label": "Yes", "action_id": "vote", "value": {"n": 1}}


def buttons(*given: Any) -> Platform:
    return Platform(platform="mattermost", component_type="buttons", data={"buttons": list(given)})


async def test_only_a_component_notifies_everyone(bot: Bot) -> None:
    chain = [
        At(target=ANN),
        Plain(text=" @all and @Channel, @hereabouts **bold** "),
        AtAll(),
        At(target=make_id("none")),
    ]
    await bot.api.send_message("group", CHANNEL, chain)
    [text] = bot.simulator.texts(CHANNEL)
    assert text == f"@ann @\u200ball and @\u200bChannel, @hereabouts **bold** @all@{make_id('none')}"


async def test_a_text_before_files_is_shown_with_them(bot: Bot) -> None:
    files = [File(base64=HELLO, name=f"{number}.txt") for number in range(11)]
    await bot.api.send_message("group", CHANNEL, [Plain(text="files"), *files, Plain(text="after")])
    shown = [(each.text, len(each.payload["file_ids"])) for each in bot.simulator.sent(CHANNEL)]
    assert shown == [("files", 10), ("", 1), ("after", 0)]


async def test_an_answer_belongs_to_the_thread_of_its_question(bot: Bot) -> None:
    root = await bot.say("question")
    await bot.simulator.say(CHANNEL, ANN, "more", root_id=root["id"])
    await bot.heard("more")
    assert [each.thread_id for each in bot.link.incoming] == ["", root["id"]]
    await bot.api.send_message("group", CHANNEL, [Plain(text="answer")], thread_id=root["id"])
    assert bot.simulator.sent(CHANNEL)[0].payload["root_id"] == root["id"]


async def test_a_reply_in_a_thread_of_the_bot_addresses_it(bot: Bot) -> None:
    sent = await bot.api.send_message("group", CHANNEL, [Plain(text="news")])
    await bot.simulator.say(CHANNEL, ANN, "tell me more", root_id=sent.message_id)
    await bot.heard("tell me more")
    assert bot.link.incoming[-1].addresses_bot


async def test_a_message_under_the_same_key_is_shown_once(bot: Bot) -> None:
    bot.simulator.faults.cut("posts")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("group", CHANNEL, [Plain(text="once")], "a-key")
    sent = await bot.api.send_message("group", CHANNEL, [Plain(text="once")], "a-key")
    [shown] = bot.simulator.sent(CHANNEL)
    assert sent.message_id == shown.payload["id"]


async def test_a_message_whose_answer_is_lost_is_found_after_the_server_forgot_its_key(bot: Bot) -> None:
    async def is_known(message_id: str) -> bool:
        return False

    bot.simulator.faults.cut("posts")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("group", CHANNEL, [Plain(text="once")], "a-key")
    found = await bot.api.find_message("group", CHANNEL, [Plain(text="once")], "a-key", is_known)
    assert found is not None
    assert found.message_id == bot.simulator.sent()[0].payload["id"]
    assert await bot.api.find_message("group", CHANNEL, [Plain(text="once")], "other", is_known) is None


async def test_a_pressed_button_is_an_interaction_and_an_edit_removes_it(bot: Bot) -> None:
    sent = await bot.api.send_message("group", CHANNEL, [Plain(text="sure?"), buttons(YES)])
    [shown] = bot.simulator.sent(CHANNEL)
    assert await bot.press(shown, "Yes", ANN) == 200
    await bot.link.events(1)
    [incoming] = bot.link.incoming
    event: Any = incoming.event
    assert (event.action_id, event.value, event.user.id, event.message_id) == ("vote", {"n": 1}, ANN, sent.message_id)
    assert incoming.role == "admin"
    assert "parlour_signature" not in str(event.model_dump())
    await bot.api.edit_message("group", CHANNEL, str(sent.message_id), [Plain(text="decided")])
    assert (shown.text, shown.buttons) == ("decided", [])


@pytest.mark.parametrize(
    "changes",
    [
        {"context": {"parlour_data": "vote", "parlour_signature": "0" * 64}},
        {"context": {}},
        {"channel_id": make_id("other")},
        {"post_id": make_id("other")},
        {"user_id": EVE},
    ],
    ids=["wrong signature", "no signature", "another channel", "another post", "no member"],
)
async def test_a_forged_press_is_refused(bot: Bot, changes: Any) -> None:
    await bot.api.send_message("group", CHANNEL, [Plain(text="sure?"), buttons(YES)])
    assert await bot.press(bot.simulator.sent(CHANNEL)[0], "Yes", ANN, **changes) in (401, 403)
    assert bot.link.incoming == []


async def test_a_press_in_a_post_of_another_user_is_refused(bot: Bot) -> None:
    await bot.api.send_message("group", CHANNEL, [Plain(text="sure?"), buttons(YES)])
    theirs = await bot.say("theirs")
    assert await bot.press(bot.simulator.sent(CHANNEL)[0], "Yes", ANN, post_id=theirs["id"]) == 403


async def test_without_an_address_buttons_are_listed_unless_the_text_names_them(
    simulator: MattermostSimulator, url: str
) -> None:
    approve = {"label": "Approve", "action_id": "approval", "value": "approve k7"}
    link = {"label": "Page", "url": "https://example.org"}
    async with Bot(simulator, url, public_url="").served() as bot:
        await bot.api.send_message("group", CHANNEL, [Plain(text="Reply approve k7?"), buttons(approve, YES, link)])
    [shown] = simulator.sent(CHANNEL)
    assert shown.text == "Reply approve k7?\n\n- Yes\n[Page](https://example.org)"
    assert shown.buttons == []


async def test_a_direct_message_is_sent_to_a_channel_or_to_a_user(bot: Bot) -> None:
    channel = bot.simulator.world.direct_channel(ANN, BOT_ID)["id"]
    for target in (channel, ANN, EVE):
        await bot.api.send_message("private", target, [Plain(text="hi")])
    assert bot.simulator.texts(channel) == ["hi", "hi"]
    assert bot.simulator.texts(bot.simulator.world.direct_channel(EVE, BOT_ID)["id"]) == ["hi"]


@pytest.mark.parametrize(
    ("target", "chain", "reason"),
    [
        (CHANNEL, [Plain(text="x" * 16384)], "longer than the maximum permitted length"),
        (CHANNEL, [], "nothing in this message"),
        (CHANNEL, [File(base64="no!", name="a")], "not base64"),
        (CHANNEL, [File(path="/etc/passwd")], "path of the Host's machine"),
        (CHANNEL, [Plain(text="x"), buttons(*({"label": str(number)} for number in range(26)))], "25 buttons"),
        ("../users", [Plain(text="x")], "no id of Mattermost"),
        (make_id("foreign"), [Plain(text="x")], "the bot lacks the permission"),
    ],
)
async def test_what_mattermost_would_refuse_is_explained(bot: Bot, target: str, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("group", target, chain)
    assert refused.value.permanent


async def test_a_rate_limit_names_the_time(bot: Bot) -> None:
    bot.simulator.faults.too_many("posts", 12.5)
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("group", CHANNEL, [Plain(text="x")])
    assert (refused.value.permanent, refused.value.retry_after) == (False, 12.5)


async def test_a_message_of_another_channel_is_not_returned(bot: Bot) -> None:
    other = bot.simulator.world.add_channel("other", ANN)["id"]
    theirs = await bot.say("theirs")
    with pytest.raises(PlatformRefused, match="in another channel"):
        await bot.api.get_message("group", other, theirs["id"])
