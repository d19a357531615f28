"""Ports of the core: time, ids, calls of plugins, and surfaces."""

from typing import Any, Protocol

from parlour.core.model.outbox_row import OutboxRow
from parlour_sdk.values import dataclass

from .ids import PluginId

MAX_ERROR_CHARACTERS = 4000
"""Largest length of a plugin's error message; the rest is cut off."""
MAX_ERROR_CODE_CHARACTERS = 100
"""Largest length of a plugin's error code; the rest is cut off."""


class Clock(Protocol):
    def now(self) -> int:
        """Returns epoch milliseconds in UTC. Durations are measured on the event loop's monotonic clock instead."""
        ...


class Ids(Protocol):
    def new(self) -> str:
        """Returns a UUIDv7: it is unique, and later ids sort after earlier ones."""
        ...


class ResultStream(Protocol):
    """Stream of the results of one run from its plugin."""

    async def batch(self) -> list[Any]:
        """Waits for results and returns all available ones; an empty list is the regular end.

        Raises PluginDisconnected, or the error that was passed to `abort`.
        """
        ...

    def abort(self, error: BaseException) -> None:
        """Stops the run in the plugin; a waiting `batch` raises the error immediately, and no more results follow."""
        ...


class PluginDisconnected(Exception):
    """Raised when the plugin's process exits or its connection is lost during a call."""

    code = "runner.crashed"


class PluginCallFailed(Exception):
    """Raised when the plugin answers with an error, or not in time (`deadline_exceeded`).

    Long codes and messages are cut off.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message[:MAX_ERROR_CHARACTERS])
        self.code = code[:MAX_ERROR_CODE_CHARACTERS]


class PluginUnavailable(Exception):
    """Raised when the plugin is not running."""

    code = "runner.unavailable"


class PluginCaller(Protocol):
    """Calls the components of plugins, wherever their processes run."""

    def run_agent(self, plugin_id: PluginId, request: dict[str, Any]) -> ResultStream:
        """Starts a run. Its stream waits for a plugin that is starting; if that fails it raises PluginUnavailable."""
        ...

    async def call(self, plugin_id: PluginId, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Calls one of PLUGIN_ACTIONS that has a single answer; the caller validates its fields.

        `timeout` seconds include the wait for a plugin that is starting. Raises PluginUnavailable if nothing was sent,
        PluginCallFailed, and PluginDisconnected if the result is unknown. Cancelling the caller cancels the call in
        the plugin.
        """
        ...

    async def stream(self, plugin_id: PluginId, action: str, data: dict[str, Any]) -> ResultStream:
        """Calls one of PLUGIN_ACTIONS that answers in parts; it does not count towards the limit of runs.

        The stream must be read to its end or aborted. Waits for the plugin as `call` does.
        """
        ...


@dataclass(frozen=True, slots=True)
class SendReceipt:
    """Acknowledgement of a surface that it accepted a row."""

    platform_message_id: str = ""
    result: Any = None
    """Answer of the platform to an action."""
    complete: bool = True
    """False if only the beginning of the message was found on the platform: it is sent again to complete it."""


class SendRefused(Exception):
    """Raised when the surface definitely did not accept the row."""

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        permanent: bool = False,
        attempted: bool = True,
        handle_rejected: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.permanent = permanent
        self.attempted = attempted
        """False if there was no connection over which it could be sent."""
        self.handle_rejected = handle_rejected
        """True if the platform accepts no reply under the row's reply handle any more."""

    @property
    def is_offline(self) -> bool:
        """True if there was no connection, but there may be one later."""
        return not self.attempted and not self.permanent

    @property
    def counts_as_attempt(self) -> bool:
        """True if it counts as one of the row's attempts."""
        return self.attempted and self.retry_after is None


class SendUncertain(Exception):
    """Raised when the surface did not answer, so that it is unknown whether it accepted the row."""


class Surface(Protocol):
    """Shows the replies of one source: a platform, the web chat or the HTTP interface."""

    def is_idempotent(self, row: OutboxRow) -> bool:
        """Returns whether sending the same row twice shows it once."""
        ...

    def serialization_key(self, row: OutboxRow) -> str:
        """Returns a key; rows with the same key are sent one at a time where possible.

        A crash leaves the state of every row that was being sent uncertain, so this keeps their number small. Empty for
        a row for which that is harmless.
        """
        ...

    async def wait_until_sendable(self, row: OutboxRow) -> None:
        """Waits, without a time limit, until there is a connection over which the row can be sent."""
        ...

    async def acquire(self, row: OutboxRow) -> None:
        """Waits a short time until rate limits permit the row. Raises SendRefused if that would take too long."""
        ...

    async def send(self, row: OutboxRow) -> SendReceipt:
        """Sends the row. SendRefused means that it was definitely not accepted; any other error leaves that open."""
        ...

    async def find_sent(self, row: OutboxRow) -> SendReceipt | None:
        """Asks the platform whether the row was sent, at least in part. Returns None if it can't be found out."""
        ...
