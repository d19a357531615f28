"""Declares what runs need of the queue for remote workers. `core.remote` implements it."""

from typing import Protocol

from parlour.core.model.runner import Descriptor

from .active_run import Live
from .queue_result import Turn
from .session import RunSession


class RemoteRun(Protocol):
    """A run that a remote worker executes or may claim."""

    live: Live

    @property
    def holder(self) -> str:
        """Plugin whose worker holds the run; empty while none does."""
        ...

    def check(self, token: str | None, plugin_id: str) -> object:
        """Raises Refused unless the token is that of the current lease and the plugin may use it."""
        ...

    async def begun(self) -> None:
        """Marks a claimed run as started. The caller holds the lock of the active run."""
        ...


class RemoteQueue(Protocol):
    """Queues runs for remote workers and finds them by id."""

    def get(self, run_id: str) -> RemoteRun | None: ...

    async def park(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...]) -> Turn:
        """Queues the run, or resumes one that was queued before this Host was started."""
        ...
