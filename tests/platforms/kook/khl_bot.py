"""A bot written with khl.py, as users of that library write them. It repeats the messages.

`python khl_bot.py ADDRESS TOKEN` connects to the HTTP API at that address.
"""

import sys

import khl
import khl.receiver
import khl.requester
from khl import Bot, EventTypes, Message
from khl.card import Card, CardMessage, Element, Module, Types

address, token = sys.argv[1:]
khl.receiver.API = khl.requester.API = address
bot = Bot(token=token)


@bot.on_message()
async def answer(message: Message) -> None:
    match message.content:
        case "!buttons":
            button = Element.Button("Yes", "yes", Types.Click.RETURN_VAL)
            await message.reply(CardMessage(Card(Module.Section("sure?"), Module.ActionGroup(button))))
        case "!errors":
            await message.ctx.channel.send(await problem(message))
        case _:
            await message.reply(f"you said: {message.content}")
            await message.add_reaction("👍")


async def problem(message: Message) -> str:
    try:
        await message.ctx.channel.send("x" * 8001)
    except khl.HTTPRequester.APIRequestFailed as error:
        return f"refused {error.err_code}"
    return "accepted"


@bot.on_event(EventTypes.MESSAGE_BTN_CLICK)
async def pressed(b: Bot, event: khl.Event) -> None:
    channel = await b.client.fetch_public_channel(event.body["target_id"])
    await b.client.send(channel, f"pressed {event.body['value']}")


bot.run()
