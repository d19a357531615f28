"""The behaviour of a correct plugin."""

from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


async def normal(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    yield results.delta(ctx.input.text or "")
    yield results.completed(ctx.input.text or "")
    yield results.finished()
