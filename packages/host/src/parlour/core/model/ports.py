"""What the core needs from outside, as it wants to see it. Time, ids, plugins and surfaces are ports."""

from typing import Any, Protocol

from parlour.core.model.outbox_row import Outgoing
from parlour_sdk.values import dataclass

REFUSAL_CHARACTERS = 4000
REFUSAL_CODE_CHARACTERS = 100


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
    """The plugin answered with an error, or not in time (`deadline_exceeded`). Of endless words it keeps the first."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message[:REFUSAL_CHARACTERS])
        self.code = code[:REFUSAL_CODE_CHARACTERS]


class PluginUnavailable(Exception):
    """The plugin is not there to be called."""

    code = "runner.unavailable"


class PluginCaller(Protocol):
    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> ResultStream:
        """The stream waits for a plugin that is starting and raises PluginUnavailable for one that does not come."""
        ...

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        """One of PLUGIN_ACTIONS that gives a single answer, whose fields the caller checks.

        `timeout` seconds cover everything, also the wait for a plugin that is starting. Raises PluginUnavailable when
        nothing was asked, PluginRefused, and PluginLost when nobody knows what became of it. Whoever is cancelled
        while waiting cancels the call in the plugin.
        """
        ...

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> ResultStream:
        """One of PLUGIN_ACTIONS that answers in parts, beside the runs and their limit. To be read to its end or
        aborted. Waits for the plugin as `call` does.
        """
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """The surface took the message."""

    platform_message_id: str = ""
    result: Any = None
    """Of an action: what the platform answered."""
    whole: bool = True
    """False for one that was found with its first words only: sending it again is to finish it."""


class SendRefused(Exception):
    """The surface answered that it did not take the message."""

    def __init__(
        self, reason: str, retry_after: float | None = None, permanent: bool = False, tried: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent
        self.tried = tried
        """False when there was nobody to take it."""

    @property
    def away(self) -> bool:
        """Whether somebody may be there later."""
        return not self.tried and not self.permanent

    @property
    def counts(self) -> bool:
        """Whether it uses up one of a row's attempts."""
        return self.tried and self.retry_after is None


class SendUncertain(Exception):
    """The surface did not answer: it may or may not have taken the message."""


class Surface(Protocol):
    """Where replies of one source are shown."""

    def repeatable(self, outgoing: Outgoing) -> bool:
        """True when sending the same row again shows it once."""
        ...

    def line(self, outgoing: Outgoing) -> str:
        """Rows of one line are handed over one by one where possible, since of what was handed over a kill leaves open
        whether it was taken. Empty for a row of which that does no harm.
        """
        ...

    async def ready(self, outgoing: Outgoing) -> None:
        """Returns when somebody is there to take it; may wait for ever."""
        ...

    async def turn(self, outgoing: Outgoing) -> None:
        """Returns when it may be sent, in a moment at most. Raises SendRefused if that is too long."""
        ...

    async def send(self, outgoing: Outgoing) -> Sent:
        """Raises SendRefused when it was surely not taken; SendUncertain, and whatever else fails, leaves that open."""
        ...

    async def find(self, outgoing: Outgoing) -> Sent | None:
        """Asks the platform whether this was sent, or begun. None when it can't tell."""
        ...
