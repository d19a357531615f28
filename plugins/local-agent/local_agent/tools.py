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
from .call_rate import CallPacer
from .errors import ends_run

logger = logging.getLogger("local-agent")

Call = Callable[[dict[str, Any]], Awaitable[ToolOutcome]]
DETAILS_PER_BATCH = 50


@dataclass(frozen=True, slots=True)
class GrantedTool:
    definition: ToolDefinition
    call: Call


class Toolbox:
    """Tools by name; of two with the same name the first one counts."""

    def __init__(self, offered: Sequence[GrantedTool] = ()) -> None:
        self._by_name = {each.definition.name: each for each in reversed(offered)}

    @property
    def definitions(self) -> list[ToolDefinition]:
        return [each.definition for each in reversed(self._by_name.values())]

    @property
    def names(self) -> list[str]:
        return list(reversed(self._by_name))

    def find(self, name: str) -> GrantedTool | None:
        return self._by_name.get(name)


async def load_tools(ctx: AgentRunContext, api: AgentRunAPI, pace: CallPacer) -> Toolbox:
    """Loads the definitions of the granted tools; a tool whose definition can't be read is left out."""
    names = [each.tool_name for each in ctx.resources.tools if {"call", "detail"} <= set(each.operations)]
    offered: list[GrantedTool] = []
    for at in range(0, len(names), DETAILS_PER_BATCH):
        several = names[at : at + DETAILS_PER_BATCH]
        await pace.reserve(len(several))
        found = await asyncio.gather(*(_load_tool(ctx, api, name) for name in several))
        offered += [each for each in found if each is not None]
    if ctx.resources.skills:
        taking_up = skills.definition(ctx.resources.skills)
        offered.append(GrantedTool(taking_up, partial(skills.activate, api)))
    return Toolbox(offered)


async def _load_tool(ctx: AgentRunContext, api: AgentRunAPI, name: str) -> GrantedTool | None:
    try:
        detail = await api.tools.get(name)
    except AgentAPIException as error:
        if ends_run(error, ctx):
            raise
        logger.warning("run %s: the tool %s is left out: %s", ctx.run_id, name, error)
        return None
    told = ToolDefinition(name=name, description=detail.description, parameters_schema=detail.parameters_schema)
    return GrantedTool(told, partial(api.tools.call, name))
