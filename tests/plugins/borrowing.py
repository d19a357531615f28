"""Tools that use the permissions of their own plugin, and try to use those of their caller."""

from typing import Any

from parlour_sdk import ToolContext, plugin, tool
from parlour_sdk.api import AgentAPIException, AgentRunAPI

plugin("test/borrowing", version="0.1.0", permissions={"storage": ["plugin"]})


@tool
async def keep(value: str, ctx: ToolContext) -> str:
    """Stores a value in its plugin's own storage and reads it back."""
    await ctx.api.storage.set("plugin", "kept", value.encode())
    return (await ctx.api.storage.get("plugin", "kept") or b"").decode()


@tool(read_only=True)
async def told(ctx: ToolContext) -> dict[str, Any]:
    """Returns the caller."""
    return {"run": bool(ctx.run_id), "actor": ctx.actor.actor_id if ctx.actor else None}


@tool
async def borrow(ctx: ToolContext) -> list[str]:
    """Tries its caller's tools, history and state, with and without the run's id."""
    run = AgentRunAPI(ctx.api._caller, ctx.run_id or "", None)
    return [
        await refusal(run.tools.call("calculator.evaluate", {"expression": "1"})),
        await refusal(run.history.page()),
        await refusal(run.state.get("conversation", "key")),
        await refusal(ctx.api.tools.call("calculator.evaluate", {"expression": "1"})),
    ]


@tool(read_only=True)
async def garbled(kind: str, ctx: ToolContext) -> str:
    """Gives an invalid answer of this kind."""
    answers = {"binary": "\0\1" * 500, "controls": "a bell\7 rings in a long sentence", "large": "x" * 10_000_000}
    return answers[kind]


async def refusal(call: Any) -> str:
    try:
        await call
    except AgentAPIException as refused:
        return refused.code
    return "allowed"
