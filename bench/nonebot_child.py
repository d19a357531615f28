"""A NoneBot2 bot that echoes messages. Run as a file with the port to listen on."""

import sys

import nonebot
from nonebot import on_message
from nonebot.adapters.onebot.v11 import Adapter, Bot, MessageEvent

nonebot.init(_env_file=None, driver="~fastapi", host="127.0.0.1", port=int(sys.argv[1]), log_level="WARNING")
nonebot.get_driver().register_adapter(Adapter)


@on_message().handle()
async def repeat(bot: Bot, event: MessageEvent) -> None:
    await bot.send(event, event.message)


nonebot.run()
