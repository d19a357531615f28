"""Declares what runs need of the queue for remote workers. `core.remote` implements it."""

from typing import Protocol

from parlour.core.model.ids import PluginId, RunId
from parlour.core.model.runner import RunnerDescriptor

from .active_run import ActiveRun
from .lane_result import LaneResult
from .session import RunSession


class RemoteRun(Protocol):
    """A run that a remote worker executes or may claim."""

    active_run: ActiveRun

    @property
    def holder(self) -> PluginId:
        """Plugin whose worker holds the run; empty while none does."""
        ...

    def verify(self, token: str | None, plugin_id: PluginId) -> object:
        """Raises Refused unless the token is that of the current lease and the plugin may use it."""
        ...

    async def ensure_started(self) -> None:
        """Marks a claimed run as started. The caller holds the lock of the active run."""
        ...


class RemoteQueue(Protocol):
    """Queues runs for remote workers and finds them by id."""

    def get(self, run_id: RunId) -> RemoteRun | None: ...

    async def enqueue(self, session: RunSession, descriptor: RunnerDescriptor, labels: tuple[str, ...]) -> LaneResult:
        """Queues the run, or resumes one that was queued before this Host was started."""
        ...
