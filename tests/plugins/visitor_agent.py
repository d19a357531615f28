"""Produces what the page has to show: returns files, asks for approval, calls a tool with hostile output.

The first word of the message selects the action: `file`, `tell BOT`, `fetch ADDRESS`.
"""

from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner

plugin("test/visitor-agent", version="0.1.0")

LINE = 200_000
TOO_LONG = 1_000_000


@runner(
    label={"en_US": "Visitor"},
    capabilities=["platform_actions"],
    permissions={"artifacts": ["read"], "platform_actions": ["elsewhere/message.send"]},
)
async def visit(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    verb, _, rest = (ctx.input.text or "").partition(" ")
    async for result in DEEDS[verb](ctx, api, rest):
        yield result


async def file(ctx: Any, api: Any, rest: str) -> AsyncGenerator[results.Result, None]:
    """Returns each file in capitals."""
    for ref in ctx.input.attachments:
        chunk = await api.artifacts.read(ref.artifact_id)
        yield results.artifact_created("file", chunk.content.upper(), name=f"loud {ref.name}", mime_type="text/plain")
    yield results.completed(f"{len(ctx.input.attachments)} file in capitals.")


async def tell(ctx: Any, api: Any, bot_id: str) -> AsyncGenerator[results.Result, None]:
    target = {"bot_id": bot_id, "chat_type": "private", "chat_id": "7"}
    outcome = await api.platform.request_action("message.send", target, {"text": "Somebody is at the door."}, 60)
    yield results.completed(f"The message is {outcome.status}.")


async def fetch(ctx: Any, api: Any, address: str) -> AsyncGenerator[results.Result, None]:
    hostile = f"""RESULT <script>window.hacked = "tool"</script><img src="{address}/tool" onerror="window.hacked=1">
<iframe src="{address}/frame"></iframe> ![x]({address}/markdown) [x](javascript:window.hacked=2)
\x1b[2J\x1b]0;title\x07\x00\x08\u202etxet\u202c\u2028{"long" * (LINE // 4)} END"""
    for number, result in enumerate([{"text": hostile}, hostile, "x" * TOO_LONG]):
        yield results.tool_started(f"call-{number}", "fetch", {"address": f"{address}/<b>page</b>"})
        yield results.tool_completed(f"call-{number}", "fetch", result)
    yield results.tool_started("call-failed", "fetch")
    yield results.tool_completed("call-failed", "fetch", error=hostile)
    yield results.completed("I have looked it up.")


DEEDS = {"file": file, "tell": tell, "fetch": fetch}
