"""Tests that the simulated WeCom rejects what WeCom rejects."""

from typing import Any

import pytest

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms.wecombot.client import WecomBotClient

from .conftest import Bot

STREAM = {"id": "s", "finish": False, "content": "x"}


def client(bot: Bot) -> WecomBotClient:
    found: WecomBotClient = bot.api._client
    return found


@pytest.mark.parametrize(
    ("command", "body", "code"),
    [
        ("aibot_respond_msg", {"msgtype": "stream", "stream": STREAM}, 846605),
        ("aibot_respond_welcome_msg", {"msgtype": "text", "text": {"content": "x"}}, 846605),
        ("aibot_respond_update_msg", {"template_card": {}}, 846605),
        ("aibot_send_msg", {"chatid": "ann", "msgtype": "stream", "stream": STREAM}, 40008),
        ("aibot_send_msg", {"chatid": "bob", "msgtype": "markdown", "markdown": {"content": "x"}}, 93006),
        ("aibot_send_msg", {"chatid": "ann", "msgtype": "markdown", "markdown": {"content": " "}}, 44004),
        ("aibot_send_msg", {"chatid": "ann", "msgtype": "markdown", "markdown": {"content": "x" * 20_481}}, 45002),
        ("aibot_send_msg", {"chatid": "ann", "msgtype": "image", "image": {"media_id": "no"}}, 40007),
        ("aibot_send_msg", {"chatid": "ann", "msgtype": "template_card", "template_card": {}}, 42046),
        ("aibot_upload_media_init", {"type": "other", "filename": "a"}, 40004),
        ("aibot_upload_media_finish", {"upload_id": "none"}, 40058),
    ],
)
async def test_an_invalid_call_is_rejected(bot: Bot, command: str, body: Any, code: int) -> None:
    bot.simulator.chats.add("ann")
    with pytest.raises(PlatformRefused, match=f" {code} "):
        await client(bot).call(command, body)
    assert bot.simulator.sent() == []


async def test_an_incomplete_upload_is_rejected(bot: Bot) -> None:
    described = {"type": "file", "filename": "a", "total_size": 10, "total_chunks": 2, "md5": "x"}
    upload_id = (await client(bot).call("aibot_upload_media_init", described))["upload_id"]
    await client(bot).call(
        "aibot_upload_media_chunk", {"upload_id": upload_id, "chunk_index": 0, "base64_data": "eHh4eHg="}
    )
    with pytest.raises(PlatformRefused, match="the file is incomplete"):
        await client(bot).call("aibot_upload_media_finish", {"upload_id": upload_id})
