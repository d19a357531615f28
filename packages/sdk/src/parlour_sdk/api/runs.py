"""Creates, reads and controls runs of the ledger."""

from typing import Any, Literal

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.content import AgentInput
from parlour_sdk.protocol.results import AgentRunResult
from parlour_sdk.protocol.runs import (
    AgentRun,
    NewRunEvent,
    RunAppendResult,
    RunCancel,
    RunCreate,
    RunEventsPage,
    RunEventsPageGet,
    RunFinalize,
    RunGet,
    RunList,
    RunPage,
    RunRetry,
    RunStatus,
)
from parlour_sdk.results import Result

from .calls import InvalidCall, Namespace


class RunsAPI(Namespace):
    async def create(
        self,
        agent_id: str | None = None,
        event: NewRunEvent | str = "",
        config: dict[str, Any] | None = None,
        *,
        runner_id: str | None = None,
        labels: list[str] | None = None,
        queue: bool = False,
    ) -> AgentRun:
        """Creates a run of an agent, or of a runner with a configuration. A text as `event` becomes its input.

        With `queue` the run waits for a remote worker that has these labels; otherwise the Host runs it itself.
        """
        if (agent_id is None) == (runner_id is None):
            raise InvalidCall("run_create: name the agent, or runner_id=..., and not both")
        return await self._calls.call(
            "run_create",
            RunCreate,
            AgentRun,
            agent_id=agent_id,
            runner_id=runner_id,
            event=NewRunEvent(input=AgentInput(text=event)) if isinstance(event, str) else event,
            config=config,
            labels=labels or [],
            queue=queue,
        )

    async def get(self, run_id: str) -> AgentRun:
        return await self._calls.call("run_get", RunGet, AgentRun, target_run_id=run_id)

    async def events(self, run_id: str, after_sequence: int = 0, limit: int = 50) -> RunEventsPage:
        return await self._calls.call(
            "run_events_page",
            RunEventsPageGet,
            RunEventsPage,
            target_run_id=run_id,
            after_sequence=after_sequence,
            limit=limit,
        )

    async def cancel(self, run_id: str, reason: str | None = None) -> AgentRun:
        return await self._calls.call("run_cancel", RunCancel, AgentRun, target_run_id=run_id, reason=reason)

    async def append_result(
        self, run_id: str, result: AgentRunResult | Result, lease: str | None = None, *, sequence: int | None = None
    ) -> None:
        """Adds a result to a run that the caller executes; `lease` is the one of the claim.

        `sequence` is the number of a `Result`; an `AgentRunResult` has its own.
        """
        if isinstance(result, Result):
            result = AgentRunResult(run_id=run_id, type=result.type, data=result.data, sequence=sequence)
        await self._calls.call(
            "run_append_result", RunAppendResult, Done, target_run_id=run_id, result=result, lease=lease
        )

    async def finalize(
        self,
        run_id: str,
        status: Literal["completed", "failed", "cancelled", "timeout"],
        error: str | None = None,
        lease: str | None = None,
        *,
        code: str | None = None,
    ) -> AgentRun:
        """Ends a run that the caller executes; `error` is a message for users."""
        return await self._calls.call(
            "run_finalize",
            RunFinalize,
            AgentRun,
            target_run_id=run_id,
            status=status,
            error=error,
            code=code,
            lease=lease,
        )

    async def retry(self, run_id: str) -> AgentRun:
        """Starts a new attempt and returns its run."""
        return await self._calls.call("run_retry", RunRetry, AgentRun, target_run_id=run_id)

    async def list(
        self,
        status: RunStatus | None = None,
        agent_id: str | None = None,
        runner_id: str | None = None,
        conversation_id: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        return await self._calls.call(
            "run_list",
            RunList,
            RunPage,
            status=status,
            agent_id=agent_id,
            runner_id=runner_id,
            conversation_id=conversation_id,
            cursor=cursor,
            limit=limit,
        )
