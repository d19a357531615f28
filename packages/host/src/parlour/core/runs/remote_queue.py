"""Declares what runs need of the queue for remote runtimes. `core.remote` implements it."""

from typing import Protocol

from parlour.core.model.runner import Descriptor

from .active_run import Live
from .queue_result import Turn
from .session import RunSession


class RemoteRun(Protocol):
    """A run that a remote runtime executes, or may claim."""

    live: Live

    @property
    def holder(self) -> str:
        """The plugin whose runtime holds the run; empty while none does."""
        ...

    def check(self, token: str | None, plugin_id: str) -> object:
        """Raises Refused unless this token is the current lease's and the plugin may use it."""
        ...

    async def begun(self) -> None:
        """Marks the run as running. The caller holds the lock of the live run."""
        ...


class RemoteQueue(Protocol):
    def get(self, run_id: str) -> RemoteRun | None: ...

    async def park(self, session: RunSession, descriptor: Descriptor, labels: tuple[str, ...]) -> Turn:
        """Queues the run, or resumes one that was queued before this Host was started."""
        ...
