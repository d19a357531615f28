"""A plugin with every component except runners, for calls of the Host outside runs."""

import asyncio
import os

from parlour_sdk import EventContext, ToolContext, command, on, plugin, tool

plugin("test/toolbox", version="0.1.0")

_waiting = 0


@tool(read_only=True)
async def join(words: list[str], ctx: ToolContext) -> str:
    """Joins the words in one line."""
    return " ".join(words)


@tool
async def wait(ctx: ToolContext) -> str:
    """Waits until it is cancelled."""
    global _waiting
    _waiting += 1
    try:
        await asyncio.sleep(3600)
    finally:
        _waiting -= 1
    return "awake"


@tool(read_only=True)
async def waiting(ctx: ToolContext) -> str:
    """Returns how many calls wait at this moment."""
    return str(_waiting)


@tool
async def exit(ctx: ToolContext) -> str:
    """Ends its process."""
    os._exit(3)


@on("bot.*", priority=3)
async def note(event, ctx: EventContext):
    ctx.variables["seen"] = event.event_id


@command("count", aliases=["c"])
async def count(ctx):
    """Counts up to its argument."""
    for number in range(int(ctx.arguments[0])):
        yield str(number + 1)
