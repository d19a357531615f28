"""The runner of the local agent: reads the settings, builds a turn and runs it; failures become a message for users."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from local_agent import events, settings
from local_agent.compaction import HistoryCompactor
from local_agent.errors import TurnError
from local_agent.history import TranscriptReader
from local_agent.knowledge import KnowledgeSearch
from local_agent.models import ModelChain
from local_agent.prompt import Prompt
from local_agent.settings import LocalAgentSettings
from local_agent.steering import SteeringReader
from local_agent.template_variables import TemplateVariables
from local_agent.tool_calls import RunTools
from local_agent.turn import AgentTurn
from local_agent.turn_context import TurnContextBuilder

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class LocalAgent(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        try:
            async with aclosing(answer(ctx, api)) as given:
                async for result in given:
                    yield result
        except TurnError as failure:
            yield results.failed(failure.code, failure.message, failure.retryable)


async def answer(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    chosen, variables = settings.read(ctx.config), TemplateVariables(ctx)
    what = events.to_user_message(ctx, chosen.event_templates, variables)
    if what.is_empty:
        yield results.silent()
        return
    async with aclosing(build_turn(ctx, api, chosen, variables).results(what)) as given:
        async for result in given:
            yield result


def build_turn(
    ctx: AgentRunContext, api: AgentRunAPI, chosen: LocalAgentSettings, variables: TemplateVariables
) -> AgentTurn:
    models, knowledge = ModelChain(ctx, api, chosen), KnowledgeSearch(ctx, api, chosen)
    prompt = Prompt(chosen.prompt, ctx.resources.skills, variables)
    compaction = HistoryCompactor(ctx, TranscriptReader(ctx, api), models)
    tools = RunTools(ctx, api)
    opening = TurnContextBuilder(chosen, models, prompt, compaction, knowledge, tools)
    return AgentTurn(ctx, chosen, opening, models, knowledge, SteeringReader(ctx, api), tools)
