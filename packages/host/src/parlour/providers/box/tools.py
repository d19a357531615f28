"""Source of the tools of the Box: commands and files in the sandbox of the run's session."""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.core.box.policy import BOX_TOOLS
from parlour.core.box.skill_use import used_skill
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from ..tools.source import OfferedTool, error_outcome
from .attachments import BoxAttachments, concerns_outbox
from .audit import BoxAudit
from .callers import BoxCallers
from .commands import BoxCommands
from .connection import BoxConnection
from .file_tools import BoxFileTools
from .tool_definitions import DEFINITIONS


class BoxTools:
    """The tools of the Box, which are offered while it is ready, and while it is expected back."""

    def __init__(
        self,
        connection: BoxConnection,
        is_wanted: Callable[[], bool],
        callers: BoxCallers,
        commands: BoxCommands,
        files: BoxFileTools,
        attachments: BoxAttachments,
        audit: BoxAudit,
    ) -> None:
        """`is_wanted` returns whether an agent uses the Box, so that it is started."""
        self._connection = connection
        self._is_wanted = is_wanted
        self._callers = callers
        self._commands = commands
        self._files = files
        self._attachments = attachments
        self._audit = audit
        self._none: tuple[OfferedTool, ...] = ()

    def tools(self) -> Sequence[OfferedTool]:
        if self._connection.is_usable:
            return DEFINITIONS
        if self._is_wanted():
            self._connection.start()
        return self._none

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        caller = await self._callers.find(context)
        if tool_name not in caller.policy.tool_names:
            raise ProviderFailed("policy_denied", f"the agent's box policy does not have {tool_name}")
        tool = tool_name.partition(".")[2]
        started_at, session = self._audit.now(), caller.session
        assert tool in BOX_TOOLS
        try:
            skill_name = used_skill(parameters, caller.active_skills)
            await self._attachments.fill_inbox(caller)
            if tool == "exec":
                outcome, result = await self._commands.run(caller, parameters, skill_name)
            else:
                outcome, result = await self._files.run(caller, tool, parameters)
            if concerns_outbox(tool, parameters, result):
                note = await self._attachments.empty_outbox(caller)
                outcome = outcome.model_copy(update={"content": [*outcome.content, TextElement(text=note)]})
        except ProviderFailed as failure:
            await self._audit.record(context, tool_name, parameters, session, started_at, failure)
            if failure.code in ("box_unavailable", "capacity_exceeded"):
                raise
            return error_outcome(failure.message)
        await self._audit.record(context, tool_name, parameters, session, started_at, result)
        return outcome
