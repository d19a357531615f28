"""Listens: records every event, greets new members of a group, and crashes once when a friend is added."""

import os
from pathlib import Path
from typing import Any

from parlour_sdk import EventContext, on, plugin

plugin("test/hearing", version="0.1.0", permissions={"events": ["*"], "platform_api": ["message.send"]})


def _note(line: str) -> None:
    with (Path(os.environ["PARLOUR_PLUGIN_DATA"]) / "heard.txt").open("a") as file:
        file.write(f"{line}\n")


@on("*", observe=True)
async def watch(event: Any, ctx: EventContext) -> None:
    _note(f"saw {event.type} {event.event_id} on {ctx.bot.adapter if ctx.bot else 'no bot'}")


@on("group.member_joined", priority=5)
async def greet(event: Any, ctx: EventContext) -> None:
    await ctx.reply(f"welcome, {event.member.user.id}")
    ctx.stop()


@on("friend.added")
async def befriend(event: Any, ctx: EventContext) -> None:
    died = Path(os.environ["PARLOUR_PLUGIN_DATA"]) / f"died {event.event_id}"
    if not died.exists():
        died.touch()
        os._exit(3)
    _note(f"befriended {event.user.id}")
