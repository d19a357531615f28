"""The tools that a model may call: the granted ones, and one to activate a skill. `tool_calls` executes the calls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.tools import ToolOutcome

from . import skills
from .failing import ends_the_run
from .pace import Pace

logger = logging.getLogger("local-agent")

Call = Callable[[dict[str, Any]], Awaitable[ToolOutcome]]
DETAILS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Offered:
    definition: ToolDefinition
    call: Call


class Toolbox:
    """Tools by name; of two with the same name the first one counts."""

    def __init__(self, offered: Sequence[Offered] = ()) -> None:
        self._by_name = {each.definition.name: each for each in reversed(offered)}

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [each.definition for each in reversed(self._by_name.values())]

    @property
    def names(self) -> list[str]:
        return list(reversed(self._by_name))

    def find(self, name: str) -> Offered | None:
        return self._by_name.get(name)


async def granted(ctx: AgentRunContext, api: AgentRunAPI, pace: Pace) -> Toolbox:
    """Loads the definitions of the granted tools; a tool whose definition can't be read is left out."""
    names = [each.tool_name for each in ctx.resources.tools if {"call", "detail"} <= set(each.operations)]
    offered: list[Offered] = []
    for at in range(0, len(names), DETAILS_AT_ONCE):
        several = names[at : at + DETAILS_AT_ONCE]
        await pace.step(len(several))
        found = await asyncio.gather(*(_looked_at(ctx, api, name) for name in several))
        offered += [each for each in found if each is not None]
    if ctx.resources.skills:
        taking_up = skills.definition(ctx.resources.skills)
        offered.append(Offered(taking_up, partial(skills.activated, api)))
    return Toolbox(offered)


async def _looked_at(ctx: AgentRunContext, api: AgentRunAPI, name: str) -> Offered | None:
    try:
        detail = await api.tools.get(name)
    except AgentAPIException as error:
        if ends_the_run(error, ctx):
            raise
        logger.warning("run %s: the tool %s is left out: %s", ctx.run_id, name, error)
        return None
    told = ToolDefinition(name=name, description=detail.description, parameters_schema=detail.parameters_schema)
    return Offered(told, partial(api.tools.call, name))
