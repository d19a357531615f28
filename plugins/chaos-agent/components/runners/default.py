"""A runner that executes the behaviour that its configuration names."""

from collections.abc import AsyncGenerator

import behaviours

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

behaviours.at_start()


class ChaosRunner(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        async for result in behaviours.BEHAVIOURS[ctx.config["behaviour"]](ctx, api):
            yield result
