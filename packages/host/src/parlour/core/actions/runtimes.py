"""Actions of remote workers: they register, send heartbeats and are listed; they claim, renew and release runs."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal
from parlour.core.model.ids import RunId, RuntimeId
from parlour.core.model.ports import Clock
from parlour.core.remote.leases import LeasedRun
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.run_index import WorkerFilter
from parlour.core.remote.workers import RemoteWorkers, WorkerOwner
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.control import RunControl
from parlour.core.store.ledger import Ledger
from parlour.core.store.remote_workers import RemoteWorker as Known
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.runs import ClaimedRun, ClaimResult, LeaseRenewed, RunClaim, RunRelease, RunRenew
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

from .handlers import Handler
from .runs import to_agent_run

DEFINITION = {"labels", "runners", "slots", "versions", "providers", "workspaces"}
"""Fields of a registration that describe the worker."""


class RuntimeActions:
    def __init__(
        self, journal: Journal, workers: RemoteWorkers, queue: RemoteRunQueue, control: RunControl, clock: Clock
    ) -> None:
        self._ledger = Ledger(journal)
        self._workers = workers
        self._queue = queue
        self._control = control
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        return {
            "runtime_register": self.register,
            "runtime_heartbeat": self.heartbeat,
            "runtime_wakeups": self.wakeups,
            "runtime_list": self.list,
            "runtime_deregister": self.deregister,
            "run_claim": self.claim,
            "run_renew": self.renew,
            "run_release": self.release,
        }

    async def register(self, caller: ActionCaller, request: RuntimeRegister) -> Runtime:
        definition = request.model_dump(mode="json", include=DEFINITION)
        runtime = await self._workers.register(_owner(caller), RuntimeId(request.runtime_id), definition)
        return _runtime(runtime)

    async def heartbeat(self, caller: ActionCaller, request: RuntimeHeartbeat) -> Runtime:
        return _runtime(await self._workers.heartbeat(_owner(caller), RuntimeId(request.runtime_id)))

    async def list(self, caller: ActionCaller, request: RuntimeList) -> RuntimePage:
        return RuntimePage(items=[_runtime(each) for each in await self._workers.all()])

    async def deregister(self, caller: ActionCaller, request: RuntimeDeregister) -> Done:
        await self._workers.deregister(_owner(caller), RuntimeId(request.runtime_id))
        return Done()

    async def claim(self, caller: ActionCaller, request: RunClaim) -> ClaimResult:
        """Claims a queued run. A claim may ask for less than its worker registered, never for more."""
        runtime = await self._workers.get_own(_owner(caller), RuntimeId(request.runtime_id))
        labels = runtime.labels & set(request.labels) if request.labels else runtime.labels
        worker_filter = WorkerFilter(labels, _common_runners(runtime.runners, request.runners))
        claimed_run = await self._queue.claim(runtime, worker_filter, request.wait_seconds)
        if claimed_run is None:
            return ClaimResult()
        context = AgentRunContext.model_validate(claimed_run.request["context"])
        run = await self._ledger.get_run(RunId(context.run_id))
        assert run is not None
        lease = claimed_run.lease
        return ClaimResult(
            claimed=ClaimedRun(run=to_agent_run(run), context=context, lease=lease.token, lease_until=lease.expires_at)
        )

    async def wakeups(self, caller: ActionCaller, request: RuntimeWakeups) -> AsyncGenerator[Wakeup, None]:
        runtime = await self._workers.get_own(_owner(caller), RuntimeId(request.runtime_id))
        async with aclosing(self._queue.watch(runtime, WorkerFilter(runtime.labels, runtime.runners))) as notices:
            async for notice in notices:
                if notice.queued:
                    yield Wakeup(queued=notice.queued)

    async def renew(self, caller: ActionCaller, request: RunRenew) -> LeaseRenewed:
        """Renews a lease. A cancelled run is not refused: the answer is how its holder learns of the cancellation."""
        now = self._clock.now()
        if await self._control.was_cancelled(caller, RunId(request.target_run_id)):
            return LeaseRenewed(lease_until=now, cancel_requested=True)
        run = await self._get_claimed_run(caller, RunId(request.target_run_id))
        run.verify(request.lease, caller.plugin_id)
        if run.active_run.session.is_closed():
            return LeaseRenewed(lease_until=now, cancel_requested=True)
        try:
            lease = await run.renew(request.lease, caller.plugin_id)
        except GuardFailed as error:
            raise CallRejected("unauthorized", "lease: it was lost meanwhile; claim the run anew") from error
        return LeaseRenewed(lease_until=lease.expires_at)

    async def release(self, caller: ActionCaller, request: RunRelease) -> Done:
        run = await self._get_claimed_run(caller, RunId(request.target_run_id))
        await run.release(request.lease, caller.plugin_id)
        return Done()

    async def _get_claimed_run(self, caller: ActionCaller, run_id: RunId) -> LeasedRun:
        """Returns a run of the queue, for the plugin that holds or held it. Raises CallRejected if it is over."""
        remote_run = self._queue.get(run_id)
        if remote_run is None:
            raise await self._control.run_ended_error(caller, run_id)
        return remote_run


def _owner(caller: ActionCaller) -> WorkerOwner:
    return WorkerOwner(plugin_id=caller.plugin_id)


def _common_runners(registered: frozenset[str], requested: list[str]) -> frozenset[str]:
    """Returns the runners that both sides accept; an empty set or list means any runner."""
    common = registered & set(requested) if registered and requested else registered | set(requested)
    if not common and (registered or requested):
        raise CallRejected("invalid_argument", "runners: none of them is among those that the runtime registered")
    return common


def _runtime(runtime: Known) -> Runtime:
    return Runtime.model_validate(runtime.to_dict())
