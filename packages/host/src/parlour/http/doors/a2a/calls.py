"""Finds and lists the tasks of a key, from the log of events."""

from collections.abc import Mapping
from typing import Any

from parlour.core.journal import Journal, Select, below, where
from parlour.core.model.agent import Agent
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import NO_BOT, AgentId
from parlour.core.store import event_log
from parlour.core.store.conversations import Conversations
from parlour.core.store.tables import EVENTS

from ...principals import Principal
from ..turns import DoorTurns, Turn
from .errors import TASK_NOT_FOUND, A2aProblem, invalid
from .tasks import TaskWriter, parse_task_id

Json = dict[str, Any]
MAX_PAGE_ITEMS = 100
MAX_READS = 20
"""Pages of events that are read for one page of tasks."""


class TaskCalls:
    def __init__(self, turns: DoorTurns, journal: Journal, conversations: Conversations) -> None:
        self._turns = turns
        self._journal = journal
        self._conversations = conversations

    async def find(self, name: Any, agent: Agent, principal: Principal) -> Turn:
        """Returns the turn of a task; raises a problem if this principal has none of this agent."""
        event = await self._turns.find("a2a", parse_task_id(name), principal)
        if event is None or event.envelope.agent_id != agent.agent_id:
            raise A2aProblem(TASK_NOT_FOUND, "not_found", f"there is no task '{str(name)[:100]}'")
        return Turn.of_event(event)

    async def check_context(self, session: str, agent: Agent, principal: Principal) -> None:
        """Raises a problem if the context was not made by this door for this principal and agent."""
        key = ConversationKey("default", "a2a", NO_BOT, session, "", AgentId(agent.agent_id), principal.owner)
        if await self._conversations.find(key) is None:
            raise A2aProblem(TASK_NOT_FOUND, "not_found", f"there is no context '{session[:100]}'")

    async def read(self, turn: Turn, writer: TaskWriter, with_artifacts: bool = True) -> Json:
        """Returns a task as it is now."""
        end = await self._turns.result_if_over(turn)
        if end is not None:
            at = end.run["finished_at"] if end.run is not None else 0
            return await writer.ended(turn, end, at, with_artifacts)
        run_id = await self._turns.active_run_id(turn)
        if run_id and await self._turns.waits_for_approval(run_id):
            return writer.working(turn, "AUTH_REQUIRED")
        return writer.working(turn, "WORKING" if run_id else "SUBMITTED")

    async def list_page(
        self, params: Mapping[str, Any], agent: Agent, principal: Principal, writer: TaskWriter
    ) -> Json:
        """Returns a page of tasks, the newest first."""
        size = params.get("pageSize") or 50
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_PAGE_ITEMS:
            raise invalid("pageSize", f"it must be 1 to {MAX_PAGE_ITEMS}")
        context, state = params.get("contextId") or "", params.get("status") or ""
        before = parse_task_id(params.get("pageToken")) if params.get("pageToken") else 2**62
        tasks: list[Json] = []
        for _ in range(MAX_READS):
            rows = await self._read_before(before, principal)
            for row in rows:
                event = event_log.from_row(row)
                before = event.seq
                if event.is_erased or event.envelope.agent_id != agent.agent_id:
                    continue
                if context and event.envelope.chat != context:
                    continue
                task = await self.read(Turn.of_event(event), writer, bool(params.get("includeArtifacts")))
                if not state or task["status"]["state"] == state:
                    tasks.append(task)
                if len(tasks) == size:
                    return _page(tasks, size, f"task_{before}")
            if len(rows) < MAX_PAGE_ITEMS:
                return _page(tasks, size, "")
        return _page(tasks, size, f"task_{before}")

    async def _read_before(self, seq: int, principal: Principal) -> list[Any]:
        own = where(workspace_id="default", source="a2a", bot_id=NO_BOT, principal=principal.owner, seq=below(seq))
        return list(
            await self._journal.read(Select(EVENTS, own, order=("seq",), direction="descending", limit=MAX_PAGE_ITEMS))
        )


def _page(tasks: list[Json], size: int, token: str) -> Json:
    return {"tasks": tasks, "nextPageToken": token, "pageSize": size, "totalSize": len(tasks)}
