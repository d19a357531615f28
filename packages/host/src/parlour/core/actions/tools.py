"""Actions that list, describe and call tools. Calling a tool that is not read-only marks the run as having effects.

The agent's tool policy decides which calls need a person's approval; the gate refuses those that it denies.
"""

from parlour.core.approvals.tool_approvals import ToolApprovals, tool_rule
from parlour.core.approvals.tool_policy import ALLOW_RULE
from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.model.providers import Tools
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.scope import await_in_run
from parlour.core.runs.session import RunSession
from parlour.core.runs.tool_outputs import ToolOutputLimiter
from parlour.core.store import ledger
from parlour_sdk.protocol.listing import ListTools, ToolList
from parlour_sdk.protocol.tools import CallTool, GetTool, ToolDetail, ToolOutcome

from .handlers import Handler
from .usage_recording import UsageRecorder


class ToolActions:
    def __init__(
        self,
        tools: Tools,
        approvals: ToolApprovals,
        outputs: ToolOutputLimiter,
        usage_recorder: UsageRecorder,
        journal: Journal,
        clock: Clock,
    ) -> None:
        self._tools = tools
        self._approvals = approvals
        self._usage_recorder = usage_recorder
        self._outputs = outputs
        self._journal = journal
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        return {
            "get_tool_detail": self.detail,
            "call_tool": self.call,
            "list_tools": self.list,
        }

    async def detail(self, caller: ActionCaller, request: GetTool) -> ToolDetail:
        detail = await await_in_run(caller.session, self._tools.detail(request.tool_name))
        session = caller.session
        if session is not None and tool_rule(session, request.tool_name, tools=self._tools).decision == "ask":
            return detail.model_copy(update={"needs_approval": True})
        return detail

    async def call(self, caller: ActionCaller, request: CallTool) -> ToolOutcome:
        name, session = request.tool_name, caller.session
        rule = tool_rule(session, name, request.parameters, self._tools) if session is not None else ALLOW_RULE
        async with self._usage_recorder.record(caller, "tool", name):
            if rule.decision == "ask":
                outcome = await self._approvals.call(caller, name, request.parameters, rule)
            else:
                await self._mark_effect(session, name)
                outcome = await await_in_run(session, self._tools.call(caller.call_context(), name, request.parameters))
        return await self._outputs.limit(session, name, outcome)

    async def _mark_effect(self, session: RunSession | None, tool_name: str) -> None:
        if session is not None and not self._tools.read_only(tool_name) and session.mark_effect():
            # Committed before the tool is called: otherwise a restart could call it again.
            progress = ledger.update_progress(session.run_id, self._clock.now(), has_effects=True)
            await self._journal.commit(Unit("tool.call", (progress,)))

    async def list(self, caller: ActionCaller, request: ListTools) -> ToolList:
        names = [resource.tool_name for resource in self._tools.resources()]
        return ToolList(tools=[await self._tools.detail(name) for name in names])
