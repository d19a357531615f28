"""The tools that a model may call: the granted ones, and those of the agent itself. `tool_calls` executes the calls."""

import asyncio
import difflib
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import ToolResource
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome

from ..values import dataclass
from . import skills, tool_search
from .call_rate import CallPacer
from .errors import ends_run

logger = logging.getLogger("parlour.agents")

Call = Callable[[dict[str, Any]], Awaitable[ToolOutcome]]
DETAILS_PER_BATCH = 50
MAX_NAMED_TOOLS = 30
MAX_KEPT_DETAILS = 500
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class GrantedTool:
    """A tool as the model sees it, and the function that calls it."""

    definition: ToolDefinition
    call: Call
    needs_approval: bool = False
    """True if its calls wait for a person, so that only the run's own deadline limits them."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """What is known of a granted tool: its definition, and whether its calls wait for an approval."""

    definition: ToolDefinition
    needs_approval: bool = False

    @classmethod
    def from_detail(cls, detail: ToolDetail) -> "KnownTool":
        definition = ToolDefinition(
            name=detail.tool_name, description=detail.description, parameters_schema=detail.parameters_schema
        )
        return cls(definition, detail.needs_approval)


class ToolDetails:
    """Details of tools that are kept for later runs, by the version that the Host gives them."""

    def __init__(self) -> None:
        self._details: OrderedDict[tuple[str, str], KnownTool] = OrderedDict()

    def get(self, tool: ToolResource) -> KnownTool | None:
        """Returns the detail of this version of a tool, or None if it has to be loaded."""
        return self._details.get((tool.tool_name, tool.version)) if tool.version else None

    def keep(self, tool: ToolResource, detail: KnownTool) -> None:
        """Keeps a detail; the oldest one goes if there are too many."""
        if tool.version:
            self._details[tool.tool_name, tool.version] = detail
            if len(self._details) > MAX_KEPT_DETAILS:
                self._details.popitem(last=False)


class Toolbox:
    """Tools by name; of two with the same name the first one counts.

    If their definitions are long, the model gets those named in `always`, a few others, and a tool that finds the rest.
    """

    def __init__(self, offered: Sequence[GrantedTool] = (), always: Collection[str] = ()) -> None:
        self._by_name = {each.definition.name: each for each in reversed(offered)}
        everything = [each.definition for each in reversed(self._by_name.values())]
        self._shown, self._hidden = everything, list[ToolDefinition]()
        if tool_search.needs_search(everything):
            first, self._hidden = tool_search.split(everything, always)
            search = GrantedTool(tool_search.definition(len(self._hidden)), self._search)
            self._by_name[tool_search.TOOL_NAME] = search
            self._shown = [*first, search.definition]

    @property
    def definitions(self) -> list[ToolDefinition]:
        """The definitions for the model."""
        return list(self._shown)

    @property
    def names(self) -> list[str]:
        """The names of all tools that the model was given."""
        return [each.name for each in self._shown]

    def find(self, name: str) -> GrantedTool | None:
        """Returns the tool of this name, also in the form in which services accept it, or None."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        return next((each for own, each in self._by_name.items() if service_name(own) == name), None)

    def unknown(self, name: str) -> str:
        """Returns the sentence for a call of a tool that does not exist, in the names that the model knows."""
        names = [service_name(each) for each in self.names]
        nearest = difflib.get_close_matches(service_name(name), names, 1)
        suggestion = f" Did you mean '{nearest[0]}'?" if nearest else ""
        listed = ", ".join(names[:MAX_NAMED_TOOLS]) or "none"
        return f"There is no tool '{name}'.{suggestion} There are: {listed}."

    async def _search(self, parameters: dict[str, Any]) -> ToolOutcome:
        found = tool_search.find(parameters.get("query"), self._hidden)
        self._hidden = [each for each in self._hidden if each not in found]
        self._shown += found
        return tool_search.outcome(found)


def service_name(name: str) -> str:
    """Returns a tool's name as model services accept it."""
    return _OTHER.sub("_", name)


async def load_tools(
    ctx: AgentRunContext,
    api: AgentRunAPI,
    pace: CallPacer,
    own: Sequence[GrantedTool] = (),
    details: ToolDetails | None = None,
) -> Toolbox:
    """Loads the definitions of the granted tools, and adds the agent's own.

    A tool whose definition can't be read is left out. Details that are kept are not read again.
    """
    kept = details or ToolDetails()
    tools = [each for each in ctx.resources.tools if {"call", "detail"} <= set(each.operations)]
    missing = [each for each in tools if kept.get(each) is None]
    loaded: dict[str, KnownTool] = {}
    for start in range(0, len(missing), DETAILS_PER_BATCH):
        batch = missing[start : start + DETAILS_PER_BATCH]
        await pace.reserve(len(batch))
        for tool, detail in zip(
            batch, await asyncio.gather(*(_load_detail(ctx, api, each) for each in batch)), strict=True
        ):
            if detail is not None:
                loaded[tool.tool_name] = detail
                kept.keep(tool, detail)
    found = [loaded.get(each.tool_name) or kept.get(each) for each in tools]
    offered = [
        GrantedTool(each.definition, partial(api.tools.call, each.definition.name), each.needs_approval)
        for each in found
        if each is not None
    ]
    offered += own
    if ctx.resources.skills:
        offered.append(GrantedTool(skills.definition(ctx.resources.skills), partial(skills.activate, api)))
    return Toolbox(offered, {skills.TOOL_NAME, *(each.definition.name for each in own)})


async def _load_detail(ctx: AgentRunContext, api: AgentRunAPI, tool: ToolResource) -> KnownTool | None:
    try:
        return KnownTool.from_detail(await api.tools.get(tool.tool_name))
    except AgentAPIException as error:
        if ends_run(error, ctx):
            raise
        logger.warning("run %s: the tool %s is left out: %s", ctx.run_id, tool.tool_name, error)
        return None
