"""The tools that a model may call: the granted ones, and one to activate a skill. `tool_calls` executes the calls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.tools import ToolOutcome

from ..values import dataclass
from . import skills
from .call_rate import CallPacer
from .errors import ends_run

logger = logging.getLogger("parlour.agents")

Call = Callable[[dict[str, Any]], Awaitable[ToolOutcome]]
DETAILS_PER_BATCH = 50


@dataclass(frozen=True, slots=True)
class GrantedTool:
    """A tool as the model sees it, and the function that calls it."""

    definition: ToolDefinition
    call: Call
    needs_approval: bool = False
    """True if its calls wait for a person, so that only the run's own deadline limits them."""


class Toolbox:
    """Tools by name; of two with the same name the first one counts."""

    def __init__(self, offered: Sequence[GrantedTool] = ()) -> None:
        self._by_name = {each.definition.name: each for each in reversed(offered)}

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The definitions for the model."""
        return [each.definition for each in reversed(self._by_name.values())]

    @property
    def names(self) -> list[str]:
        """The names of all tools."""
        return list(reversed(self._by_name))

    def find(self, name: str) -> GrantedTool | None:
        """Returns the tool of this name, or None."""
        return self._by_name.get(name)


async def load_tools(ctx: AgentRunContext, api: AgentRunAPI, pace: CallPacer) -> Toolbox:
    """Loads the definitions of the granted tools; a tool whose definition can't be read is left out."""
    names = [each.tool_name for each in ctx.resources.tools if {"call", "detail"} <= set(each.operations)]
    offered: list[GrantedTool] = []
    for start in range(0, len(names), DETAILS_PER_BATCH):
        batch = names[start : start + DETAILS_PER_BATCH]
        await pace.reserve(len(batch))
        loaded = await asyncio.gather(*(_load_tool(ctx, api, name) for name in batch))
        offered += [each for each in loaded if each is not None]
    if ctx.resources.skills:
        offered.append(GrantedTool(skills.definition(ctx.resources.skills), partial(skills.activate, api)))
    return Toolbox(offered)


async def _load_tool(ctx: AgentRunContext, api: AgentRunAPI, name: str) -> GrantedTool | None:
    try:
        detail = await api.tools.get(name)
    except AgentAPIException as error:
        if ends_run(error, ctx):
            raise
        logger.warning("run %s: the tool %s is left out: %s", ctx.run_id, name, error)
        return None
    definition = ToolDefinition(name=name, description=detail.description, parameters_schema=detail.parameters_schema)
    return GrantedTool(definition, partial(api.tools.call, name), detail.needs_approval)
