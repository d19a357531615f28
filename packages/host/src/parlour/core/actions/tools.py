"""Actions that list, describe and call tools. Calling a tool that is not read-only marks the run as having effects."""

from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import Tools
from parlour.core.runs.caller import Caller
from parlour.core.runs.scope import within
from parlour.core.runs.tool_outputs import ToolOutputs
from parlour.core.store import ledger
from parlour_sdk.protocol.listing import ListTools, ToolList
from parlour_sdk.protocol.tools import CallTool, GetTool, ToolDetail, ToolOutcome

from .usage_recording import Metering


class ToolActions:
    def __init__(self, tools: Tools, outputs: ToolOutputs, metering: Metering, journal: Journal, clock: Clock) -> None:
        self._tools = tools
        self._metering = metering
        self._outputs = outputs
        self._journal = journal
        self._clock = clock

    async def detail(self, caller: Caller, request: GetTool) -> ToolDetail:
        return await within(caller.session, self._tools.detail(request.tool_name))

    async def call(self, caller: Caller, request: CallTool) -> ToolOutcome:
        name = request.tool_name
        if caller.session is not None and not self._tools.read_only(name) and caller.session.act():
            # Committed before the tool is called: otherwise a restart could call it again.
            touch = ledger.touch(caller.session.run_id, self._clock.now(), effects=True)
            await self._journal.commit(Unit("tool.call", (touch,)))
        async with self._metering.around(caller, "tool", name):
            outcome = await within(caller.session, self._tools.call(caller.asking(), name, request.parameters))
        return await self._outputs.bounded(caller.session, name, outcome)

    async def list(self, caller: Caller, request: ListTools) -> ToolList:
        names = [resource.tool_name for resource in self._tools.resources()]
        return ToolList(tools=[await self._tools.detail(name) for name in names])
