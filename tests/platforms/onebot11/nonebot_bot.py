"""A bot written with NoneBot2 and its OneBot adapter, as users of NoneBot2 write them. It repeats the messages.

`python nonebot_bot.py forward URL TOKEN` connects to an implementation; `reverse PORT TOKEN` listens for one.
"""

import sys
from typing import Any

import nonebot
from nonebot import on_message, on_notice, on_request
from nonebot.adapters.onebot.v11 import (
    ActionFailed,
    Adapter,
    Bot,
    FriendRequestEvent,
    GroupIncreaseNoticeEvent,
    GroupMessageEvent,
    Message,
    MessageEvent,
    MessageSegment,
)


def settings(way: str, place: str, token: str) -> dict[str, Any]:
    common = {"onebot_access_token": token, "log_level": "WARNING"}
    if way == "forward":
        return {"driver": "~websockets", "onebot_ws_urls": [place], **common}
    return {"driver": "~fastapi", "host": "127.0.0.1", "port": int(place), **common}


nonebot.init(_env_file=None, **settings(*sys.argv[1:4]))
nonebot.get_driver().register_adapter(Adapter)


@on_message().handle()
async def repeat(bot: Bot, event: MessageEvent) -> None:
    if event.get_plaintext() == "ask":
        await bot.send(event, await asked(bot))
    elif event.reply is not None:
        await bot.send(event, f"you quoted: {event.reply.message.extract_plain_text()}")
    elif isinstance(event, GroupMessageEvent):
        await bot.send(event, MessageSegment.at(event.user_id) + Message(" you said: ") + event.message)
    else:
        await bot.send(event, event.message)


async def asked(bot: Bot) -> str:
    login, groups = await bot.get_login_info(), await bot.get_group_list()
    try:
        await bot.get_group_info(group_id=999)
    except ActionFailed as refused:
        return f"{login['user_id']} {groups[0]['group_name']} {refused.info['retcode']}"
    return "the unknown group was found"


@on_notice().handle()
async def welcome(bot: Bot, event: GroupIncreaseNoticeEvent) -> None:
    await bot.send(event, f"welcome {event.user_id}")


@on_request().handle()
async def befriend(bot: Bot, event: FriendRequestEvent) -> None:
    await event.approve(bot, remark="a friend")


nonebot.run()
