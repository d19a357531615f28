"""Tests what is sent to Discord: order, limits, mentions, nonces, threads, direct messages, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour_sdk.protocol.chain import At, File, Image, Plain, Platform

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()


def channel(bot: Bot) -> str:
    [guild] = bot.simulator.world.guilds.values()
    return str(guild.payload["system_channel_id"])


def buttons(*rows: Any) -> Platform:
    return Platform(platform="discord", component_type="buttons", data={"buttons": list(rows)})


async def test_a_nonce_shows_a_repeated_message_once(bot: Bot) -> None:
    bot.simulator.faults.cut("send")
    chain = [Plain(text="once"), File(base64=HELLO, name="a.txt"), Plain(text="twice")]
    with pytest.raises(Exception, match="the connection was cut"):
        await bot.api.send_message("group", channel(bot), chain, "a-key")
    await bot.api.send_message("group", channel(bot), chain, "a-key")
    assert bot.simulator.texts() == ["once", "twice"]
    assert all(len(str(each.payload["nonce"])) == 25 for each in bot.simulator.sent())


async def test_only_mentions_of_the_chain_notify_users(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    await bot.api.send_message("group", channel(bot), [Plain(text=f"@everyone <@{ann['id']}>")])
    await bot.api.send_message("group", channel(bot), [At(target=ann["id"]), Plain(text=" hi")])
    first, second = (each.payload for each in bot.simulator.sent())
    assert (first["mentions"], first["mention_everyone"]) == ([], False)
    assert [each["id"] for each in second["mentions"]] == [ann["id"]]


async def test_text_after_a_file_begins_another_message(bot: Bot) -> None:
    chain = [Plain(text="a"), Image(base64=HELLO), File(base64=HELLO), Plain(text="b")]
    await bot.api.send_message("group", channel(bot), chain)
    assert [(each.text, len(each.files)) for each in bot.simulator.sent()] == [("a", 2), ("b", 0)]


async def test_eleven_files_are_two_messages(bot: Bot) -> None:
    await bot.api.send_message("group", channel(bot), [File(base64=HELLO, name=f"{n}.txt") for n in range(11)])
    assert [len(each.files) for each in bot.simulator.sent()] == [10, 1]


async def test_an_artifact_is_uploaded(bot: Bot) -> None:
    bot.link.files["art"] = FileContent(b"content", "report.pdf", "application/pdf")
    await bot.api.send_message("group", channel(bot), [File(artifact_id="art")])
    [sent] = bot.simulator.sent()
    assert sent.files == [b"content"]
    assert sent.payload["attachments"][0]["filename"] == "report.pdf"


async def test_a_private_message_to_a_user_opens_their_channel_once(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    for text in ("one", "two"):
        await bot.api.send_message("private", ann["id"], [Plain(text=text)])
    assert bot.simulator.texts(bot.simulator.world.direct_channel(ann["id"])["id"]) == ["one", "two"]
    assert bot.simulator.rest.calls.count("open") == 1


async def test_a_user_without_direct_messages_is_named_as_the_reason(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    bot.simulator.world.closed_users.add(ann["id"])
    with pytest.raises(PlatformRefused, match="accepts no direct messages") as refused:
        await bot.api.send_message("private", ann["id"], [Plain(text="hi")])
    assert refused.value.permanent


async def test_a_message_in_a_thread_is_edited_and_deleted_there(bot: Bot) -> None:
    world = bot.simulator.world
    [guild] = world.guilds.values()
    thread = world.add_channel(guild.payload["id"], "a thread", 11, channel(bot))["id"]
    await bot.simulator.report("THREAD_CREATE", world.channels[thread])
    sent = await bot.api.send_message("group", channel(bot), [Plain(text="one")], thread_id=thread)
    assert sent.message_id is not None
    await bot.api.edit_message("group", channel(bot), sent.message_id, [Plain(text="two")])
    await bot.api.react("group", channel(bot), sent.message_id, "👍")
    assert bot.simulator.texts(thread) == ["two"]
    await bot.api.delete_message("group", channel(bot), sent.message_id)
    assert bot.simulator.texts(thread) == []


async def test_buttons_are_shown_and_removed_by_an_edit(bot: Bot) -> None:
    row = [{"label": "Yes", "action_id": "approval", "value": "yes"}, {"label": "See", "url": "https://example.com"}]
    sent = await bot.api.send_message("group", channel(bot), [Plain(text="sure?"), buttons(*row)])
    [shown] = bot.simulator.sent()
    assert [each["label"] for each in shown.payload["components"][0]["components"]] == ["Yes", "See"]
    await bot.api.edit_message("group", channel(bot), str(sent.message_id), [Plain(text="decided")])
    assert shown.payload["components"] == []


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([Plain(text="x" * 2001)], "2000"),
        ([], "nothing in this message"),
        ([Plain(text="x"), buttons(*({"label": str(n), "action_id": str(n)} for n in range(26)))], "5 rows of 5"),
        ([Plain(text="x"), buttons({"label": "long", "action_id": "a" * 101})], "100 bytes"),
        ([Plain(text="x"), buttons({"label": "a", "action_id": "a"}, {"label": "b", "action_id": "a"})], "duplicated"),
        ([File(base64="no!", name="a")], "not base64"),
        ([File(base64=base64.b64encode(b"x" * (10 * 2**20 + 1)).decode())], "takes 10 MiB"),
        ([File(path="/etc/passwd")], "path of the Host's machine"),
    ],
)
async def test_what_discord_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("group", channel(bot), chain)
    assert refused.value.permanent
    assert bot.simulator.sent() == []


async def test_a_bucket_that_is_empty_is_waited_for_before_discord_refuses(bot: Bot) -> None:
    message = bot.simulator.world.write(channel(bot), bot.simulator.world.bot, "hi")
    for emoji in ("👍", "🎉", "🙂"):
        await bot.api.react("group", channel(bot), message["id"], emoji)
    assert bot.simulator.rest.rates.refused == 0
    assert {emoji for _, emoji, _ in bot.simulator.world.reactions} == {"👍", "🎉", "🙂"}


@pytest.mark.parametrize("is_global", [False, True])
async def test_a_refusal_for_its_rate_names_the_time_and_its_scope(bot: Bot, is_global: bool) -> None:
    bot.simulator.faults.too_many("send", 7.5, is_global)
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("group", channel(bot), [Plain(text="hi")])
    assert refused.value.retry_after == pytest.approx(7.5, abs=0.1)
    assert (refused.value.account_wide, refused.value.permanent) == (is_global, False)
    with pytest.raises(PlatformRefused):
        await bot.api.send_message("group", channel(bot), [Plain(text="hi")])
    assert bot.simulator.rest.calls.count("send") == 1


async def test_an_unanswered_message_is_found_again(bot: Bot) -> None:
    async def is_known(message_id: str) -> bool:
        return message_id == first.message_id

    first = await bot.api.send_message("group", channel(bot), [Plain(text="same")])
    second = await bot.api.send_message("group", channel(bot), [Plain(text="same")])
    found = await bot.api.find_message("group", channel(bot), [Plain(text="same")], "a-key", is_known)
    assert found is not None
    assert found.message_id == second.message_id
    assert await bot.api.find_message("group", channel(bot), [Plain(text="another")], "a-key", is_known) is None


async def test_a_channel_id_that_is_none_is_refused_before_it_becomes_an_address(bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match="no id of Discord"):
        await bot.api.send_message("group", "../users/@me", [Plain(text="hi")])
