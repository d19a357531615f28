"""The runner of the local agent: reads the settings, builds a turn and runs it; failures become a message for users."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from local_agent import events, settings
from local_agent.compaction import Compaction
from local_agent.failing import Failed
from local_agent.history import History
from local_agent.knowledge import Knowledge
from local_agent.models import Models
from local_agent.opening import Opening
from local_agent.outputs import Outputs
from local_agent.pace import Pace
from local_agent.prompt import Prompt
from local_agent.settings import Settings
from local_agent.steering import Steering
from local_agent.turn import Turn
from local_agent.variables import Variables

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result


class LocalAgent(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        try:
            async with aclosing(answered(ctx, api)) as given:
                async for result in given:
                    yield result
        except Failed as failure:
            yield results.failed(failure.code, failure.message, failure.retryable)


async def answered(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    chosen, variables = settings.read(ctx.config), Variables(ctx)
    what = events.told(ctx, chosen.event_templates, variables)
    if what.is_nothing:
        yield results.silent()
        return
    async with aclosing(turn_of(ctx, api, chosen, variables).results(what)) as given:
        async for result in given:
            yield result


def turn_of(ctx: AgentRunContext, api: AgentRunAPI, chosen: Settings, variables: Variables) -> Turn:
    models, knowledge = Models(ctx, api, chosen), Knowledge(ctx, api, chosen)
    prompt = Prompt(chosen.prompt, ctx.resources.skills, variables)
    compaction = Compaction(ctx, History(ctx, api), models)
    pace = Pace()
    opening = Opening(ctx, api, chosen, models, prompt, compaction, knowledge, pace)
    return Turn(ctx, chosen, opening, models, knowledge, Steering(ctx, api), Outputs(ctx, api), pace)
