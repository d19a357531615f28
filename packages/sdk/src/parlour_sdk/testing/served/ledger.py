"""The ledger in memory: runs that plugins create, follow and execute, and the remote workers that claim them.

Nothing is executed here.
"""

import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from parlour_sdk.protocol import runs
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.runtimes import (
    Runtime,
    RuntimeDeregister,
    RuntimeHeartbeat,
    RuntimeList,
    RuntimePage,
    RuntimeRegister,
    RuntimeWakeups,
    Wakeup,
)

from ..gate import Handler
from ..script import Failure
from ..sessions import Caller

LEASE_MILLISECONDS = 30_000
ContextFor = Callable[[runs.AgentRun, runs.RunCreate], AgentRunContext]


class Ledger:
    """Stores the `runs` by id, and the `events` of each."""

    def __init__(self, new_id: Callable[[str], str], context_for: ContextFor) -> None:
        self._new_id = new_id
        self._context_for = context_for
        self.runs: dict[str, runs.AgentRun] = {}
        self.events: dict[str, list[runs.AgentRunEvent]] = {}
        self._requests: dict[str, runs.RunCreate] = {}
        self._leases: dict[str, str] = {}
        self._runtimes: dict[str, Runtime] = {}

    def handlers(self) -> dict[str, Handler]:
        return {
            "run_create": self._create,
            "run_get": self._get,
            "run_list": self._list,
            "run_events_page": self._events_page,
            "run_cancel": self._cancel,
            "run_append_result": self._append,
            "run_finalize": self._finalize,
            "run_retry": self._retry,
            "run_claim": self._claim,
            "run_renew": self._renew,
            "run_release": self._release,
            "runtime_register": self._register,
            "runtime_heartbeat": self._heartbeat,
            "runtime_wakeups": self._wakeups,
            "runtime_list": self._runtime_list,
            "runtime_deregister": self._deregister,
        }

    async def _create(self, caller: Caller, request: runs.RunCreate) -> runs.AgentRun:
        return self._open(request, attempt=1)

    async def _get(self, caller: Caller, request: runs.RunGet) -> runs.AgentRun:
        return self._require_run(request.target_run_id)

    async def _list(self, caller: Caller, request: runs.RunList) -> runs.RunPage:
        criteria = request.model_dump(include={"status", "agent_id", "runner_id", "conversation_id"}, exclude_none=True)
        matches = [
            each for each in self.runs.values() if criteria.items() <= each.model_dump(include=set(criteria)).items()
        ]
        start = int(request.cursor or 0)
        has_more = len(matches) > start + request.limit
        page = matches[start : start + request.limit]
        return runs.RunPage(items=page, next_cursor=str(start + request.limit) if has_more else None, has_more=has_more)

    async def _events_page(self, caller: Caller, request: runs.RunEventsPageGet) -> runs.RunEventsPage:
        self._require_run(request.target_run_id)
        remaining = [each for each in self.events[request.target_run_id] if each.sequence > request.after_sequence]
        return runs.RunEventsPage(items=remaining[: request.limit], has_more=len(remaining) > request.limit)

    async def _cancel(self, caller: Caller, request: runs.RunCancel) -> runs.AgentRun:
        return self._move(request.target_run_id, "cancelled", status_reason=request.reason)

    async def _append(self, caller: Caller, request: runs.RunAppendResult) -> Done:
        self._require_lease(request.target_run_id, request.lease)
        if self._require_run(request.target_run_id).status != "running":
            self._move(request.target_run_id, "running")
        events = self.events[request.target_run_id]
        events.append(
            runs.AgentRunEvent(
                run_id=request.target_run_id,
                sequence=request.result.sequence or len(events) + 1,
                type=request.result.type,
                data=request.result.data,
                created_at=_now(),
                source="runtime",
            )
        )
        return Done()

    async def _finalize(self, caller: Caller, request: runs.RunFinalize) -> runs.AgentRun:
        self._require_lease(request.target_run_id, request.lease)
        if self._require_run(request.target_run_id).status != "running":
            self._move(request.target_run_id, "running")
        return self._move(request.target_run_id, request.status, status_reason=request.code or request.error)

    async def _retry(self, caller: Caller, request: runs.RunRetry) -> runs.AgentRun:
        previous = self._require_run(request.target_run_id)
        return self._open(self._requests[previous.run_id], previous.attempt + 1, previous.run_id)

    async def _claim(self, caller: Caller, request: runs.RunClaim) -> runs.ClaimResult:
        for run in self.runs.values():
            fits = set(self._requests[run.run_id].labels) <= set(request.labels)
            if run.status == "queued" and fits and (not request.runners or run.runner_id in request.runners):
                return runs.ClaimResult(claimed=self._claimed(run, request.runtime_id))
        return runs.ClaimResult()

    async def _renew(self, caller: Caller, request: runs.RunRenew) -> runs.LeaseRenewed:
        self._require_lease(request.target_run_id, request.lease)
        cancelled = self._require_run(request.target_run_id).status == "cancelled"
        return runs.LeaseRenewed(lease_until=_now() + LEASE_MILLISECONDS, cancel_requested=cancelled)

    async def _release(self, caller: Caller, request: runs.RunRelease) -> Done:
        self._require_lease(request.target_run_id, request.lease)
        self._move(request.target_run_id, "queued", claimed_by=None, status_reason=request.reason)
        del self._leases[request.target_run_id]
        return Done()

    async def _register(self, caller: Caller, request: RuntimeRegister) -> Runtime:
        fields = request.model_dump(exclude={"call_id", "run_id"})
        runtime = Runtime.model_validate({**fields, "status": "active", "registered_at": _now(), **_last_seen()})
        self._runtimes[request.runtime_id] = runtime
        return self._runtimes[request.runtime_id]

    async def _heartbeat(self, caller: Caller, request: RuntimeHeartbeat) -> Runtime:
        if request.runtime_id not in self._runtimes:
            raise Failure("not_found", f"there is no runtime '{request.runtime_id}'").exception()
        runtime = self._runtimes[request.runtime_id].model_copy(update=_last_seen())
        self._runtimes[request.runtime_id] = runtime
        return runtime

    async def _wakeups(self, caller: Caller, request: RuntimeWakeups) -> AsyncGenerator[Wakeup, None]:
        """Yields the number of queued runs once; the test drives everything after that."""
        if request.runtime_id not in self._runtimes:
            raise Failure("not_found", f"there is no runtime '{request.runtime_id}'").exception()
        yield Wakeup(queued=sum(run.status == "queued" for run in self.runs.values()))

    async def _runtime_list(self, caller: Caller, request: RuntimeList) -> RuntimePage:
        return RuntimePage(items=list(self._runtimes.values()))

    async def _deregister(self, caller: Caller, request: RuntimeDeregister) -> Done:
        self._runtimes.pop(request.runtime_id, None)
        return Done()

    def _open(self, request: runs.RunCreate, attempt: int, parent_run_id: str | None = None) -> runs.AgentRun:
        run = runs.AgentRun(
            run_id=self._new_id("run"),
            event_id=request.event.event_id or self._new_id("event"),
            agent_id=request.agent_id,
            runner_id=request.runner_id or f"runner of {request.agent_id}",
            plugin_id="",
            conversation_id=request.event.conversation_id,
            status="queued" if request.queue else "created",
            created_at=_now(),
            updated_at=_now(),
            attempt=attempt,
            parent_run_id=parent_run_id,
        )
        self.runs[run.run_id], self.events[run.run_id], self._requests[run.run_id] = run, [], request
        return run

    def _claimed(self, run: runs.AgentRun, runtime_id: str) -> runs.ClaimedRun:
        claimed = self._move(run.run_id, "claimed", claimed_by=runtime_id, lease_until=_now() + LEASE_MILLISECONDS)
        self._leases[run.run_id] = lease = self._new_id("lease")
        context = self._context_for(claimed, self._requests[run.run_id])
        return runs.ClaimedRun(run=claimed, context=context, lease=lease, lease_until=_now() + LEASE_MILLISECONDS)

    def _move(self, run_id: str, status: runs.RunStatus, **changes: Any) -> runs.AgentRun:
        run = self._require_run(run_id)
        if status not in runs.TRANSITIONS[run.status]:
            raise Failure("invalid_argument", f"a run that is {run.status} can't become {status}").exception()
        updated = run.model_copy(update={**changes, "status": status, "updated_at": _now()})
        self.runs[run_id] = updated
        return updated

    def _require_run(self, run_id: str) -> runs.AgentRun:
        if run_id not in self.runs:
            raise Failure("not_found", f"there is no run '{run_id}'").exception()
        return self.runs[run_id]

    def _require_lease(self, run_id: str, lease: str | None) -> None:
        self._require_run(run_id)
        if self._leases.get(run_id) != lease:
            raise Failure("unauthorized", "this lease is not, or no longer, the run's").exception()


def _last_seen() -> dict[str, int]:
    return {"last_seen_at": _now(), "expires_at": _now() + LEASE_MILLISECONDS}


def _now() -> int:
    return int(time.time() * 1000)
