"""Tests what is sent to Slack: markup, mentions, files, threads, keys, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import FileContent, PlatformRefused, PlatformUncertain
from parlour.platforms.slack.mrkdwn import from_markdown
from parlour_sdk.protocol.chain import At, AtAll, File, Image, Plain, Platform

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*rows: Any) -> Platform:
    return Platform(platform="slack", component_type="buttons", data={"buttons": list(rows)})


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("plain", "plain"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("`code` [link](https://x.io/a?b=1&c=2)", "`code` <https://x.io/a?b=1&amp;c=2|link>"),
        ("```python\nprint(1 < 2)\n```", "```\nprint(1 &lt; 2)\n```"),
        ("# Title", "*Title*"),
        ("- one\n- two", "• one\n• two"),
        ("<!channel> <@U1>", "&lt;!channel&gt; &lt;@U1&gt;"),
        ("**a** <!here>", "*a* &lt;!here&gt;"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ('**say** "hi" it\'s', '*say* "hi" it\'s'),
    ],
)
def test_markdown_becomes_slacks_markup_and_never_a_mention(markdown: str, mrkdwn: str) -> None:
    assert from_markdown(markdown) == mrkdwn


async def test_only_mentions_of_the_chain_notify(bot: Bot) -> None:
    await bot.api.send_message("group", "CTALK", [At(target="UANN"), Plain(text=" <!channel> "), AtAll()])
    [sent] = bot.simulator.sent()
    assert sent.payload["text"] == "<@UANN> &lt;!channel&gt; <!channel>"


async def test_files_are_uploaded_with_the_text_as_their_comment(bot: Bot) -> None:
    bot.link.files["art"] = FileContent(b"content", "report.pdf", "application/pdf")
    chain = [Plain(text="see"), File(artifact_id="art"), Image(base64=HELLO), Plain(text="after")]
    await bot.api.send_message("group", "CTALK", chain)
    first, second = bot.simulator.sent()
    assert (first.text, first.files, second.text) == ("see", [b"content", b"hello"], "after")


async def test_a_direct_message_is_opened_once(bot: Bot) -> None:
    for text in ("one", "two"):
        await bot.api.send_message("private", "UANN", [Plain(text=text)])
    assert bot.simulator.texts("DANN") == ["one", "two"]
    assert bot.simulator.made.count("conversations.open") == 1


async def test_a_message_in_a_thread_is_sent_edited_and_found_there(bot: Bot) -> None:
    async def is_known(message_id: str) -> bool:
        return False

    parent = bot.simulator.world.write("CTALK", "UANN", "question")
    sent = await bot.api.send_message("group", "CTALK", [Plain(text="one")], "a-key", thread_id=parent["ts"])
    await bot.api.edit_message("group", "CTALK", str(sent.message_id), [Plain(text="two")])
    found = await bot.api.find_message("group", "CTALK", [Plain(text="one")], "a-key", is_known, parent["ts"])
    assert found is not None
    assert found.message_id == sent.message_id
    message = await bot.api.get_message("group", "CTALK", str(sent.message_id))
    assert [each.text for each in message.chain if isinstance(each, Plain)] == ["two"]
    assert bot.simulator.sent()[0].payload["thread_ts"] == parent["ts"]


async def test_a_message_whose_answer_is_lost_is_found_by_its_key(bot: Bot) -> None:
    async def is_known(message_id: str) -> bool:
        return False

    bot.simulator.faults.cut("chat.postMessage")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("group", "CTALK", [Plain(text="once")], "a-key")
    found = await bot.api.find_message("group", "CTALK", [Plain(text="once")], "a-key", is_known)
    assert found is not None
    assert await bot.api.find_message("group", "CTALK", [Plain(text="once")], "other", is_known) is None


async def test_buttons_are_shown_with_the_text_and_removed_by_an_edit(bot: Bot) -> None:
    row = [{"label": "Yes", "action_id": "approval", "value": "yes"}, {"label": "No", "action_id": "approval"}]
    sent = await bot.api.send_message("group", "CTALK", [Plain(text="sure?"), buttons(*row)])
    [shown] = bot.simulator.sent()
    assert [each["type"] for each in shown.payload["blocks"]] == ["section", "actions"]
    await bot.api.edit_message("group", "CTALK", str(sent.message_id), [Plain(text="decided")])
    assert shown.payload["blocks"] == []


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([Plain(text="x" * 40_001)], "longer than Slack takes"),
        ([], "nothing in this message"),
        ([Platform(platform="slack", component_type="block", data={"type": "no"})], "unsupported type"),
        ([Plain(text="x"), buttons(*({"label": str(n)} for n in range(26)))], "25 buttons"),
        ([Plain(text="x"), buttons({"label": "x", "value": "v" * 2001})], "2000 bytes"),
        ([File(base64="no!", name="a")], "not base64"),
        ([File(path="/etc/passwd")], "path of the Host's machine"),
    ],
)
async def test_what_slack_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("group", "CTALK", chain)
    assert refused.value.permanent


async def test_a_rate_limit_names_the_time(bot: Bot) -> None:
    for number in range(4):
        await bot.api.send_message("group", "CTALK", [Plain(text=str(number))])
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("group", "CTALK", [Plain(text="too many")])
    assert not refused.value.permanent
    assert refused.value.retry_after is not None
    assert 1 <= refused.value.retry_after <= 4


async def test_the_token_is_not_sent_to_another_address(bot: Bot) -> None:
    file = {"id": "F1", "name": "a", "size": 1, "url_private": "http://127.0.0.1:9/a"}
    await bot.simulator.say("look", "UANN", "CTALK", files=[file], subtype="file_share")
    await bot.link.events(1)
    [*_, last] = bot.link.incoming[0].event.message_chain  # type: ignore[attr-defined]
    assert last.text == "[a: its address is none of Slack]"
