"""The runner of the local agent: reads the settings and runs a turn; failures become a message for users."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from local_agent import settings
from local_agent.turn import AgentTurn, ProcessMemory

from parlour_sdk import results
from parlour_sdk.agents import ModelHealth, ToolDetails, TurnError, UserMessage
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class LocalAgent(AgentRunner):
    def __init__(self) -> None:
        self._memory = ProcessMemory(ModelHealth(), ToolDetails())

    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        try:
            async with aclosing(answer(ctx, api, self._memory)) as stream:
                async for result in stream:
                    yield result
        except TurnError as error:
            yield error.to_result("local-agent")


async def answer(ctx: AgentRunContext, api: AgentRunAPI, memory: ProcessMemory) -> AsyncGenerator[Result, None]:
    agent_settings = settings.read(ctx.config)
    user_message = UserMessage.from_event(ctx, agent_settings.event_templates)
    if user_message.is_empty:
        yield results.silent()
        return
    async with aclosing(AgentTurn(ctx, api, agent_settings, memory).results(user_message)) as turn_results:
        async for result in turn_results:
            yield result
