"""A bot written with discord.py, as users of that library write them. It repeats the messages.

`python discord_py_bot.py ADDRESS TOKEN` connects to the gateway and the REST API at that address.
"""

import io
import logging
import sys

import yarl

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route

address, token = sys.argv[1:]
Route.BASE = address
DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address.replace("http://", "ws://").removesuffix("/api/v10") + "/gateway")
intents = discord.Intents.default()
intents.message_content = intents.members = True
client = discord.Client(intents=intents)


class Choice(discord.ui.View):
    @discord.ui.button(label="Yes", custom_id="yes")
    async def yes(self, interaction: discord.Interaction, button: discord.ui.Button) -> None:
        await interaction.response.edit_message(content=f"{interaction.user.name} pressed {button.label}", view=None)


@client.event
async def on_message(message: discord.Message) -> None:
    if message.author == client.user:
        return
    match message.content.split(" ")[0]:
        case "!buttons":
            await message.channel.send("press one", view=Choice())
            await message.add_reaction("✅")
        case "!errors":
            await message.channel.send("\n".join([await problem(each) for each in refused(message)]))
        case "!limits":
            for number in range(7):
                await message.channel.send(f"message {number}")
        case "!files":
            content = await message.attachments[0].read() if message.attachments else b"hello"
            files = [discord.File(io.BytesIO(content), "a.txt"), discord.File(io.BytesIO(b"2"), "b.txt")]
            await message.channel.send("files", files=files, embed=discord.Embed(title="A card"))
        case _:
            await message.reply(f"you said: {message.content}")
            await message.add_reaction("👍")


def refused(message: discord.Message) -> list:
    channel = message.channel
    return [
        channel.send("x" * 2001),
        channel.send(""),
        channel.send("x", embeds=[discord.Embed(title="e")] * 9 + [discord.Embed(description="x" * 6001)]),
        channel.fetch_message(1234),
        client.fetch_user(1234),
        client.fetch_channel(1234),
        message.edit(content="not mine"),
        channel.get_partial_message(1234).edit(content="x"),
    ]


async def problem(call) -> str:
    try:
        await call
    except discord.HTTPException as error:
        return f"{type(error).__name__} {error.code}"
    return "accepted"


@client.event
async def on_raw_reaction_add(event: discord.RawReactionActionEvent) -> None:
    if event.user_id != client.user.id:
        await client.get_channel(event.channel_id).send(f"reaction {event.emoji}")


@client.event
async def on_member_join(member: discord.Member) -> None:
    await member.guild.system_channel.send(f"welcome {member.display_name}")


@client.event
async def on_resumed() -> None:
    await next(each for each in client.guilds).system_channel.send("resumed")


client.run(token, log_level=logging.WARNING)
