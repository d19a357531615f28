"""Keeps one server connected: reconnects with growing pauses, and tracks its tools and status."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import replace

from parlour.core.backoff import Backoff
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.secrets import SecretUnreadable
from parlour.core.tools.mcp import McpListing, McpRequest, McpServerIdentity, McpServerStatus
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.values import dataclass

from .endpoint import McpEndpoint
from .errors import ServerLost
from .sandboxed import ServerProcess
from .worker_process import WorkerProcess, new_session

logger = logging.getLogger(__name__)

GIVEN_UP = "it is not started again before it is saved or switched on again"

OpenTarget = Callable[[], AbstractAsyncContextManager[tuple[McpEndpoint, ServerProcess | None]]]
"""Returns how to reach a server, and its process if it runs in the Box. Raises ServerLost or SecretUnreadable."""


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """Time limits and intervals in seconds."""

    start: float = 120
    """Time to connect to a server that is a process; installing it at the start may take long."""
    connect: float = 30
    """Time to connect to any other server."""
    first_pause: float = 1
    longest_pause: float = 60
    refresh: float = 60
    """Interval between listings of the server's tools, which also show whether it is still there."""
    patience: float = 15
    """Time that a call waits for a server that is being connected."""

    def until_connected(self, target: McpEndpoint) -> float:
        return self.start if target.transport == "stdio" else self.connect


class McpConnection:
    """Connection to one configured MCP server."""

    def __init__(
        self,
        name: str,
        open_target: OpenTarget,
        worker: WorkerProcess,
        changed: Callable[[], None],
        clock: Clock,
        pace: ReconnectPolicy,
        restarts: int | None = None,
    ) -> None:
        """`restarts` is how often in a row a failed server is started again; None means without an end."""
        self._restarts = restarts
        self._has_given_up = False
        self._name = name
        self._open = open_target
        self._worker = worker
        self._changed = changed
        self._clock = clock
        self._pace = pace
        self._session = ""
        """Id of the current session; empty while there is none."""
        self._attempt_done = asyncio.Event()
        """Set when the current attempt has succeeded or failed."""
        self._attempts = 0
        """Number of attempts started so far."""
        self._retry_now = asyncio.Event()
        """Set when a call waits for the connection, which ends the pause before the next attempt."""
        self.status = McpServerStatus("connecting", clock.now())
        self._task = asyncio.create_task(self._run(), name=f"MCP server {name}")

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def ask(self, request: McpRequest) -> ToolOutcome:
        """Sends a request, and repeats it once if it certainly did not reach the server. Raises ProviderFailed."""
        session = await self._usable()
        try:
            return await self._worker.ask(session, request)
        except ServerLost as error:
            if not error.unsent:
                message = f"the MCP server '{self._name}' went away during the call; whether it acted is not known"
                raise ProviderFailed("runtime_error", f"{message}: {error}") from error
            if self._session == session:
                self._session = ""
        try:
            return await self._worker.ask(await self._usable(), request)
        except ServerLost as error:
            raise ProviderFailed("runtime_error", f"the MCP server '{self._name}' is lost: {error}", True) from error

    async def _usable(self) -> str:
        """Waits for a connection attempt that starts after this call: the result of the current one may be outdated."""
        attempts = self._attempts
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.patience):
                while (
                    not self._has_given_up
                    and not self._session
                    and (self._attempts == attempts or not self._attempt_done.is_set())
                ):
                    self._retry_now.set()
                    self._attempt_done.clear()
                    await self._attempt_done.wait()
        if not self._session:
            message = (
                f"the MCP server '{self._name}' is not connected: {self.status.last_error or 'it is being started'}"
            )
            raise ProviderFailed("runtime_error", message, retryable=True)
        return self._session

    async def _run(self) -> None:
        backoff = Backoff(self._pace.first_pause, self._pace.longest_pause, jitter=0)
        failures = 0
        while True:
            self._retry_now.clear()
            self._attempts += 1
            try:
                await self._serve()
            except (ServerLost, SecretUnreadable, OSError) as error:
                if self.status.state == "connected":
                    backoff.reset()
                    failures = 0
                failures += 1
                self._has_given_up = self._restarts is not None and failures > self._restarts
                self._on_failed(f"{error}; {GIVEN_UP}" if self._has_given_up else str(error))
                if self._has_given_up:
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._retry_now.wait(), backoff.next_delay())

    async def _serve(self) -> None:
        """Serves one connection until it is lost."""
        async with self._open() as (target, process):
            session = new_session()
            updates = self._worker.connect(
                session, target, self._pace.until_connected(target), self._pace.refresh, process
            )
            async with aclosing(updates):
                async for identity, listing in updates:
                    self._on_connected(identity, listing)
                    self._session = session
                    self._attempt_done.set()

    def _on_connected(self, identity: McpServerIdentity, listing: McpListing) -> None:
        previous = self.status
        since = previous.since if previous.state == "connected" else self._clock.now()
        self.status = McpServerStatus("connected", since, identity=identity, listing=listing)
        if listing != previous.listing:
            self._changed()
            for warning in listing.left_out:
                logger.warning("MCP server %s: %s", self._name, warning)

    def _on_failed(self, reason: str) -> None:
        """Records a failure. The tools stay listed, because the server may be back before the next call."""
        previous, self._session = self.status, ""
        if reason != previous.last_error:
            logger.warning("MCP server %s: %s", self._name, reason)
        self.status = replace(previous, state="failed", since=self._clock.now(), last_error=reason)
        if previous.state != "connected" or self._has_given_up:
            self._attempt_done.set()
