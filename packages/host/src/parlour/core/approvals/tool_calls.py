"""Executes approved tool calls: each at most once, also if the run that asked has ended or the Host was restarted.

An approved call is a job, which the unit of the decision stores. A run that still waits gets the outcome; otherwise the
outcome is posted in the conversation.
"""

import asyncio
import logging
from functools import partial
from typing import Any, ClassVar

from parlour.core.cluster.parts import part_of
from parlour.core.delivery.service import DeliveryService
from parlour.core.errors import CallRejected
from parlour.core.jobs.job import Job, JobDone, JobHandler, JobResult
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Journal, Statement, UnitBuilder
from parlour.core.model.ids import ApprovalId, BotId, PluginId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.providers import CallContext, ProviderFailed, Tools
from parlour.core.store import approvals as approval_rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval, ApprovalStore
from parlour.core.store.event_log import EventLog
from parlour.core.texts.catalogue import text
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.values import dataclass

from .texts import compose_prompt

logger = logging.getLogger(__name__)

TOOL_CALL_ACTION = "tool.call"
"""Action name of approvals of tool calls."""
MAX_RESULT_CHARACTERS = 2000
"""Characters of a tool's output that are kept with the approval and shown in the conversation."""
INTERRUPTED = "the Host stopped while the tool was called, so whether it was done is not known; it is not repeated"


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of an approved call: an outcome of the tool, or the failure of the call."""

    outcome: ToolOutcome | None = None
    failure: ProviderFailed | CallRejected | None = None
    state: str = "done"

    @property
    def text(self) -> str:
        shown = (
            self.failure.message
            if self.failure is not None
            else plain_text(self.outcome.content if self.outcome else [])
        )
        return shown if len(shown) <= MAX_RESULT_CHARACTERS else f"{shown[:MAX_RESULT_CHARACTERS]}…"

    def stored(self) -> dict[str, Any]:
        return {"state": self.state, "result": self.text}

    def unwrap(self) -> ToolOutcome:
        """Returns the outcome, or raises the failure."""
        if self.failure is not None:
            raise self.failure
        assert self.outcome is not None
        return self.outcome


def stored_call(context: CallContext, tool_name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the exact call in the form in which an approval stores it."""
    caller = {
        "plugin_id": context.plugin_id,
        "bot_id": context.bot_id,
        "actor_type": context.actor_type,
        "actor_id": context.actor_id,
    }
    return {"tool": tool_name, "arguments": arguments, "caller": caller}


class ApprovedToolCalls(JobHandler):
    """Calls tools after their approval."""

    kind: ClassVar[str] = "tool_call"
    keeps_done: ClassVar[bool] = False
    concurrency: ClassVar[int] = 64

    def __init__(
        self, journal: Journal, jobs: Jobs, tools: Tools, delivery: DeliveryService, languages: Languages
    ) -> None:
        self._journal = journal
        self._rows = ApprovalStore(journal)
        self._log = EventLog(journal)
        self._jobs = jobs
        self._tools = tools
        self._delivery = delivery
        self._languages = languages
        self._waiting: dict[ApprovalId, asyncio.Future[CallResult]] = {}

    def expect(self, approval_id: ApprovalId) -> "asyncio.Future[CallResult]":
        """Returns the future result of a call, for a run that waits for it. End the wait with `forget`."""
        return self._waiting.setdefault(approval_id, asyncio.get_running_loop().create_future())

    def forget(self, approval_id: ApprovalId) -> None:
        """Ends the wait of a run; the result will be posted in the conversation."""
        self._waiting.pop(approval_id, None)

    def enqueue(self, approval: Approval) -> list[Statement]:
        """Returns the statements that store an approved call; none for other approvals. Call `wake` afterwards."""
        if approval.action != TOOL_CALL_ACTION or approval.status != "approved":
            return []
        return [
            self._jobs.enqueue(
                self.kind,
                approval.approval_id,
                {"approval_id": approval.approval_id},
                event_seq=approval.event_seq,
                part=part_of(BotId(approval.call["caller"]["bot_id"]), approval.conversation_id),
                max_attempts=1,
            )
        ]

    def wake(self, approval: Approval) -> None:
        """Starts the call of a committed decision."""
        if approval.action == TOOL_CALL_ACTION and approval.status == "approved":
            self._jobs.wake(self.kind, approval.approval_id)

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        approval = await self._rows.get(ApprovalId(job.payload["approval_id"]))
        if approval is None or approval.status != "approved":
            return JobDone()
        if job.interruptions:
            result = CallResult(failure=CallRejected("runtime_error", INTERRUPTED), state="uncertain")
        else:
            result = await self._call(approval)
        return JobDone(commit=partial(self._commit_end, approval, result))

    def on_failed(self, job: Job, reason: str) -> list[Statement]:
        result = CallResult(failure=CallRejected("runtime_error", reason), state="failed")
        approval_id = ApprovalId(job.payload["approval_id"])
        self._resolve(approval_id, result)
        return [approval_rows.record_outcome(approval_id, result.stored())]

    async def _call(self, approval: Approval) -> CallResult:
        call, caller = approval.call, approval.call["caller"]
        context = CallContext(
            PluginId(caller["plugin_id"]),
            approval.run_id,
            approval.agent_id,
            approval.conversation_id,
            caller["actor_type"],
            caller["actor_id"],
            BotId(caller["bot_id"]),
        )
        try:
            outcome = await self._tools.call(context, call["tool"], call["arguments"])
        except (ProviderFailed, CallRejected) as failure:
            return CallResult(failure=failure, state="failed")
        return CallResult(outcome, state="failed" if outcome.is_error else "done")

    async def _commit_end(self, approval: Approval, result: CallResult, unit: UnitBuilder) -> None:
        rows = [] if approval.approval_id in self._waiting else await self._result_rows(approval, result)
        unit.add(approval_rows.record_outcome(approval.approval_id, result.stored()))
        unit.add(*(outbox_rows.insert(row) for row in rows))
        await self._delivery.publisher.deliver(self._journal, unit.build(), rows)
        self._resolve(approval.approval_id, result)

    async def _result_rows(self, approval: Approval, result: CallResult) -> list[OutboxRow]:
        event = await self._log.get_by_seq(approval.event_seq)
        if event is None or event.is_erased:
            return []
        language = self._languages.for_event(event.envelope)
        words = text(f"approval.tool.{result.state}", language, tool=approval.call["tool"], result=result.text)
        return [compose_prompt(self._delivery.composer, event, approval, words)]

    def _resolve(self, approval_id: ApprovalId, result: CallResult) -> None:
        future = self._waiting.get(approval_id)
        if future is not None and not future.done():
            future.set_result(result)
