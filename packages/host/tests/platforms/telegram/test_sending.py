"""Outgoing messages: limits with reasons, retries that continue where they stopped, drafts that Telegram may refuse."""

import base64

import pytest

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour.testing.telegram_simulator import Simulator
from parlour_sdk.protocol.chain import File, Image, Plain, Platform

from .conftest import Bot

ANN = "1"


async def test_a_retry_continues_after_the_parts_that_were_sent(bot: Bot) -> None:
    chain = [Plain(text="one"), File(base64="aGVsbG8="), Plain(text="two")]
    bot.simulator.faults.too_many("sendDocument")
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", ANN, chain, "key")
    assert refused.value.retry_after == 1
    result = await bot.api.send_message("private", ANN, chain, "key")
    assert [each.text for each in bot.simulator.sent()] == ["one", "", "two"]
    assert result.raw == {"message_ids": [str(each.message_id) for each in bot.simulator.sent()]}


async def test_an_unchanged_edit_succeeds_and_an_edit_without_buttons_removes_them(bot: Bot) -> None:
    data = {"buttons": [{"label": "Yes", "action_id": "a", "value": 1}]}
    buttons = Platform(platform="telegram", component_type="buttons", data=data)
    sent = await bot.api.send_message("private", ANN, [Plain(text="sure?"), buttons])
    assert sent.message_id is not None
    [shown] = bot.simulator.sent()
    assert [each["text"] for each in shown.buttons] == ["Yes"]
    for _ in range(2):
        await bot.api.edit_message("private", ANN, sent.message_id, [Plain(text="done")])
    assert (shown.text, shown.buttons) == ("done", [])


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "there is nothing in this message"),
        ([Plain(text=" ")], "there is nothing in this message"),
        ([Plain(text="x" * 5000)], "longer than the 4096 characters"),
        ([Image(path="/etc/passwd")], "a path of the Host's machine is not sent"),
        ([Image(base64="not base64!")], "this is not base64"),
        (
            [Plain(text="?"), Platform(platform="telegram", component_type="buttons", data={"buttons": [{"url": 1}]})],
            "a button is an object with a label",
        ),
        (
            [
                Plain(text="?"),
                Platform(
                    platform="telegram",
                    component_type="buttons",
                    data={"buttons": [{"label": "Long", "action_id": "x" * 65}]},
                ),
            ],
            "at most 64 bytes on Telegram",
        ),
    ],
)
async def test_an_unsendable_message_is_refused_with_a_reason(bot: Bot, chain: list[Plain], reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", ANN, chain)  # type: ignore[arg-type]
    assert refused.value.permanent


async def test_a_picture_that_is_too_large_is_sent_as_a_file(bot: Bot) -> None:
    data = base64.b64encode(b"x" * (10 * 2**20 + 1)).decode()
    await bot.api.send_message("private", ANN, [Image(base64=data)])
    assert "document" in bot.simulator.sent()[0].message


async def test_an_artifact_goes_out_with_its_name_and_bytes(bot: Bot) -> None:
    bot.link.files["artifact"] = FileContent(b"a report", "report.pdf", "application/pdf")
    await bot.api.send_message("private", ANN, [File(artifact_id="artifact")])
    document = bot.simulator.sent()[0].message["document"]
    assert document["file_name"] == "report.pdf"
    assert bot.simulator.world.files[document["file_id"]].data == b"a report"


async def test_a_rate_limited_draft_has_a_retry_time_and_its_text_is_not_kept(bot: Bot) -> None:
    stream = await bot.api.open_stream("private", ANN, "key")
    await stream.append("one")
    bot.simulator.faults.too_many("sendMessageDraft", retry_after=7)
    with pytest.raises(PlatformRefused) as refused:
        await stream.append(" two")
    assert refused.value.retry_after == 7
    await stream.append(" two three")
    assert [each["text"] for each in bot.simulator.world.drafts] == ["one", "one two three"]


async def test_drafts_that_are_refused_once_are_not_tried_again(bot: Bot) -> None:
    assert bot.api.streams("private")
    assert not bot.api.streams("group")
    stream = await bot.api.open_stream("private", ANN, "key")
    bot.simulator.faults.refuse("sendMessageDraft", 400, "Bad Request: not for this bot")
    await stream.append("one")
    assert not bot.api.streams("private")
    await stream.append(" two")
    await stream.finish([Plain(text="one two")])
    assert bot.simulator.texts() == ["one two"]
    assert bot.simulator.world.drafts == []


async def test_markup_is_shown_as_written_if_rendering_is_off(simulator: Simulator, url: str) -> None:
    simulator.world.person(1, "Ann")
    async with Bot(simulator, url, markdown_card=False).served() as bot:
        await bot.api.send_message("private", "1", [Plain(text="**bold** [x](https://example.com)")])
    [shown] = simulator.sent(1)
    assert shown.text == "**bold** [x](https://example.com)"
    assert "entities" not in shown.message
