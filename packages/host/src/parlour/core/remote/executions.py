"""Applies what a worker process says about the runs that it holds. Every call carries the lease of its run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, StorageFailed
from parlour.core.model.ids import RunId
from parlour.core.runs.session import RunTermination
from parlour.core.store.remote_workers import RemoteWorker

from .leases import LeasedRun
from .queue import RemoteRunQueue

# Reasons of an interrupted run; "while it executed the run" is added to each.
KEY_INVALID = "the API key of its worker was revoked or has expired"
CLAIM_LOST = "its worker lost the claim"
WORKER_STOPPED = "its worker stopped"


class RunLeaseLost(CallRejected):
    """Raised for a call with a lease that is not, or no longer, the one by which its run is held."""

    def __init__(self) -> None:
        super().__init__("lease_lost", "lease: this worker does not hold the run any more; stop executing it")


class RemoteExecutions:
    """The runs that worker processes execute."""

    def __init__(self, queue: RemoteRunQueue) -> None:
        self._queue = queue

    def find(self, runtime: RemoteWorker, run_id: RunId, token: str) -> LeasedRun:
        """Returns a run that the worker holds by this lease. Raises RunLeaseLost."""
        run = self._queue.get(run_id)
        lease = run.lease if run is not None else None
        if run is None or lease is None or lease.token != token or lease.runtime.runtime_id != runtime.runtime_id:
            raise RunLeaseLost
        return run

    async def start(self, runtime: RemoteWorker, run_id: RunId, token: str) -> bool:
        """Marks a run as started, right before its runner is called. Returns True if the run is over."""
        return await self.append(runtime, run_id, token, [])

    async def append(self, runtime: RemoteWorker, run_id: RunId, token: str, results: list[Any]) -> bool:
        """Applies results with the effects of an online run. Returns True if the run is over."""
        run = self.find(runtime, run_id, token)
        with _translated():
            async with run.active_run.lock:
                self.find(runtime, run_id, token)
                await run.ensure_started()
                return await run.active_run.append_all(results)

    async def finish(self, runtime: RemoteWorker, run_id: RunId, token: str, termination: RunTermination) -> None:
        """Ends a run; `completed` means that its stream ended without a terminal result."""
        run = self.find(runtime, run_id, token)
        with _translated():
            async with run.active_run.lock:
                self.find(runtime, run_id, token)
                if await run.active_run.append_all([]):
                    return
                await run.ensure_started()
                await run.active_run.finalize(termination)

    async def renew(self, runtime: RemoteWorker, run_id: RunId, token: str) -> bool:
        """Extends a lease. Returns False if the worker has to stop executing the run."""
        try:
            run = self.find(runtime, run_id, token)
            if run.active_run.session.is_closed():
                return False
            with _translated():
                await run.renew(token, run.holder)
        except RunLeaseLost:
            return False
        return True

    async def release(self, runtime: RemoteWorker, run_id: RunId, token: str, reason: str) -> None:
        """Returns a run to the queue, or ends it as interrupted if it has started."""
        run = self.find(runtime, run_id, token)
        with _translated():
            await run.revoke(token, reason)

    async def reconcile(self, runtime: RemoteWorker, held: dict[RunId, str], reason: str) -> list[RunId]:
        """Compares the runs that a worker says it holds, with their leases, with those that it has leased. Releases
        leased runs of which it does not know, and returns the others that it does not hold any more.
        """
        for run in self._queue.held_by(runtime.runtime_id):
            if run.lease is not None and held.get(run.run_id) != run.lease.token:
                with _translated():
                    await run.revoke(run.lease.token, reason)
        return [run_id for run_id, token in held.items() if not await self.renew(runtime, run_id, token)]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except GuardFailed as error:
        raise RunLeaseLost from error
    except StorageFailed as failure:
        raise CallRejected("runtime_error", "the Host's database does not write now", retryable=True) from failure
