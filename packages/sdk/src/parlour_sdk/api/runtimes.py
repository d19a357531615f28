"""Lists remote workers, and lets a worker register, wait for queued runs, claim them, and renew or give back its
claims.
"""

from collections.abc import AsyncGenerator

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.runs import ClaimedRun, ClaimResult, LeaseRenewed, RunClaim, RunRelease, RunRenew
from parlour_sdk.protocol.runtimes import (
    ProviderLogin,
    Runtime,
    RuntimeDeregister,
    RuntimeHeartbeat,
    RuntimeList,
    RuntimePage,
    RuntimeRegister,
    RuntimeWakeups,
    Wakeup,
)

from .calls import Namespace


class RuntimesAPI(Namespace):
    async def list(self) -> list[Runtime]:
        return (await self._calls.call("runtime_list", RuntimeList, RuntimePage)).items


class RuntimeWorkerAPI(RuntimesAPI):
    """The calls of a remote worker, outside a run. A claim carries a lease; calls with an older lease are refused."""

    async def register(
        self,
        runtime_id: str,
        *,
        labels: list[str] | None = None,
        runners: list[str] | None = None,
        slots: int = 1,
        versions: dict[str, str] | None = None,
        providers: list[ProviderLogin] | None = None,
        workspaces: list[str] | None = None,
    ) -> Runtime:
        return await self._calls.call(
            "runtime_register",
            RuntimeRegister,
            Runtime,
            runtime_id=runtime_id,
            labels=labels or [],
            runners=runners or [],
            slots=slots,
            versions=versions or {},
            providers=providers or [],
            workspaces=workspaces or [],
        )

    async def heartbeat(self, runtime_id: str, free_slots: int | None = None) -> Runtime:
        return await self._calls.call(
            "runtime_heartbeat", RuntimeHeartbeat, Runtime, runtime_id=runtime_id, free_slots=free_slots
        )

    def wakeups(self, runtime_id: str) -> AsyncGenerator[Wakeup, None]:
        """Yields whenever there may be a run to claim, and once at the start if there is one.

        The stream ends when the worker is no longer registered.
        """
        return self._calls.stream("runtime_wakeups", RuntimeWakeups, Wakeup, runtime_id=runtime_id)

    async def deregister(self, runtime_id: str) -> None:
        await self._calls.call("runtime_deregister", RuntimeDeregister, Done, runtime_id=runtime_id)

    async def claim(
        self, runtime_id: str, labels: list[str] | None = None, runners: list[str] | None = None, wait: float = 0
    ) -> ClaimedRun | None:
        """Claims the next queued run that fits, with its context and lease, waiting at most `wait` seconds for one."""
        answer = await self._calls.call(
            "run_claim",
            RunClaim,
            ClaimResult,
            runtime_id=runtime_id,
            labels=labels or [],
            runners=runners or [],
            wait_seconds=wait,
        )
        return answer.claimed

    async def renew(self, run_id: str, lease: str) -> LeaseRenewed:
        return await self._calls.call("run_renew", RunRenew, LeaseRenewed, target_run_id=run_id, lease=lease)

    async def release(self, run_id: str, lease: str, reason: str | None = None) -> None:
        """Returns a claimed run to the queue."""
        await self._calls.call("run_release", RunRelease, Done, target_run_id=run_id, lease=lease, reason=reason)
