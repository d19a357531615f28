"""A NoneBot2 bot that calls a model through the `openai` client. Run as a file: its port, the model's port.

It is what a bot author would write in twenty lines: it streams the answer, keeps no history and sends the answer once,
as a whole.
"""

import sys

import nonebot
from nonebot import on_message
from nonebot.adapters.onebot.v11 import Adapter, Bot, MessageEvent
from openai import AsyncOpenAI

PORT, MODEL_PORT = sys.argv[1:]

nonebot.init(_env_file=None, driver="~fastapi", host="127.0.0.1", port=int(PORT), log_level="WARNING")
nonebot.get_driver().register_adapter(Adapter)
client = AsyncOpenAI(base_url=f"http://127.0.0.1:{MODEL_PORT}/v1", api_key="none")


@on_message().handle()
async def answer(bot: Bot, event: MessageEvent) -> None:
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": event.get_plaintext()},
    ]
    stream = await client.chat.completions.create(model="bench", messages=messages, stream=True)  # type: ignore[call-overload]
    pieces = [part.choices[0].delta.content or "" async for part in stream if part.choices]
    await bot.send(event, "".join(pieces))


nonebot.run()
