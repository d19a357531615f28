"""A runner that answers with the input's text, word by word, and adds messages that arrive while it waits."""

import asyncio
import re
from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

WORD = re.compile(r"\s*\S+|\s+$")
PULL_INTERVAL_SECONDS = 0.05


class EchoRunner(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        text = ctx.input.text if ctx.input.text is not None else plain_text(ctx.input.contents)
        if not text.strip():
            yield results.silent()
            return
        if ctx.config.get("remember"):
            text = f"{await increment_count(api)} {text}"
        delay = ctx.config.get("delay_ms", 0) / 1000
        hold = ctx.config.get("hold_ms", 0) / 1000
        steered: list[str] = []
        for position, word in enumerate(WORD.findall(text)):
            if position and delay:
                await asyncio.sleep(delay)
            yield results.delta(word)
            if position == 0 and hold:
                steered = await collect_steering(api, hold)
        for line in steered:
            yield results.delta(f"\n{line}")
        yield results.completed("\n".join([text, *steered]))
        yield results.finished()


async def collect_steering(api: AgentRunAPI, seconds: float) -> list[str]:
    """Collects the messages that arrive within these seconds; pulls once more at the end."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    texts: list[str] = []
    while True:
        remaining = deadline - loop.time()
        await asyncio.sleep(max(0, min(PULL_INTERVAL_SECONDS, remaining)))
        texts += [item.input.text or "" for item in await api.steering.pull()]
        if remaining <= 0:
            return texts


async def increment_count(api: AgentRunAPI) -> int:
    message_count = int(await api.state.get("conversation", "echo.seen", 0)) + 1
    await api.state.set("conversation", "echo.seen", message_count)
    return message_count
