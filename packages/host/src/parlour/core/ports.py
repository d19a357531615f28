"""What the core needs from outside, as it wants to see it. Time, ids, plugins and surfaces are ports."""

from dataclasses import dataclass
from typing import Any, Protocol

from .facts.outgoing import Outgoing


class Clock(Protocol):
    def now(self) -> int:
        """Epoch milliseconds in UTC. Spans are measured on the event loop's own monotonic clock."""
        ...


class Ids(Protocol):
    def new(self) -> str:
        """A UUIDv7: unique, and later ones sort after earlier ones."""
        ...


class ResultStream(Protocol):
    """The results of one run as they come from its plugin."""

    async def batch(self) -> list[Any]:
        """All that is there, at least one; empty at the regular end. Raises PluginLost, or what `abort` was given."""
        ...

    def abort(self, error: BaseException) -> None:
        """Stops the run in the plugin; a waiting `batch` raises the error at once, and nothing more comes."""
        ...


class PluginLost(Exception):
    """The plugin's process or channel went away."""

    code = "runner.crashed"


class PluginRefused(Exception):
    """The plugin answered the run call with an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class PluginUnavailable(Exception):
    """The plugin is not there to be called."""

    code = "runner.unavailable"


class PluginCaller(Protocol):
    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> ResultStream:
        """The stream waits for a plugin that is starting and raises PluginUnavailable for one that does not come."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """The surface took the message."""

    platform_message_id: str = ""


class SendRefused(Exception):
    """The surface answered that it did not take the message."""

    def __init__(self, reason: str, retry_after: float | None = None, permanent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent


class Surface(Protocol):
    """Where replies of one source are shown."""

    @property
    def idempotent(self) -> bool:
        """True when sending the same outbox id again shows it once."""
        ...

    async def send(self, outgoing: Outgoing) -> Sent:
        """Raises SendRefused when it was surely not taken; any other failure leaves that open."""
        ...

    async def find(self, outgoing: Outgoing) -> Sent | None:
        """Asks the platform whether this was sent. None when it can't tell."""
        ...
