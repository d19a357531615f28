"""A plugin of a standalone runtime as its Host sees it: its own channel, its runners, its runs, its status."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

from pydantic import ValidationError

from parlour.core.asyncio_utils import first_completed
from parlour.core.backoff import Backoff
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginInfo, PluginManifestReport
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable, ResultStream
from parlour_sdk.values import dataclass
from parlour_sdk.wire import ConnectionClosed, Peer, WireError, WireLimits, WireStream

from ..supervision.connection import ActionDispatcher, PluginCallHandler
from ..supervision.run_queue import PluginRun, PluginRunQueue
from .address import RuntimeAddress
from .messages import ChannelHello, ComponentsMessage, RunnersMessage, StatusUpdate, from_wire_error, plugin_path

logger = logging.getLogger(__name__)

OnDiscovered = Callable[[PluginId, str, PluginManifestReport], None]
"""Called with a plugin's id, its version and its components."""


@dataclass(frozen=True, slots=True)
class ChannelRules:
    address: RuntimeAddress
    limits: WireLimits
    start_seconds: float
    retries: Callable[[], Backoff]


class RemotePlugin:
    """Stays while connections are lost and restored. Runs wait in it as they wait for a process that starts."""

    def __init__(
        self, update: StatusUpdate, rules: ChannelRules, actions: PluginCallHandler, discovered: OnDiscovered
    ) -> None:
        self.plugin_id = update.plugin.plugin_id
        self._update = update
        self._rules = rules
        self._actions = actions
        self._discovered = discovered
        self._known_generation = 0
        self._channel_error = ""
        """Why the plugin can't be reached, whatever its own status."""
        self._peer: Peer | None = None
        self._session = ""
        self._ended = False
        self._task: asyncio.Task[None] | None = None
        self._queue = PluginRunQueue()
        self._changed = asyncio.Event()

    @property
    def status(self) -> str:
        return self.facts.status

    @property
    def reason(self) -> str:
        return self.facts.reason

    @property
    def is_ready(self) -> bool:
        return self._update.proven and self._is_discovered()

    @property
    def facts(self) -> PluginInfo:
        info = self._update.plugin
        if self._channel_error:
            return replace(info, status="waiting", reason=self._channel_error)
        if info.status == "ready" and not self._is_discovered():
            return replace(info, status="starting", reason="")
        return info

    def _is_discovered(self) -> bool:
        """Returns whether the components of its newest process are known."""
        return self._known_generation >= self._update.generation

    def apply_update(self, update: StatusUpdate, session: str) -> None:
        """Applies a status from the runtime, received in this session."""
        self._update = update
        if session != self._session:
            self.disconnect("")
            self._session = session
            self._known_generation = 0  # anything may have changed, so its runners are requested again
            self._task = asyncio.create_task(self._keep_channel())
        self._notify()

    def disconnect(self, reason: str) -> None:
        """Closes the channel. Its runs fail immediately; new ones wait until it is open again."""
        self._channel_error, self._session = reason, ""
        if self._task is not None:
            self._task.cancel()
        self._close_channel(reason)

    def stop(self) -> None:
        """Ends the plugin's service: the runtime does not keep it running any more."""
        self._ended = True
        self.disconnect("it was stopped")
        self._queue.fail(f"plugin {self.plugin_id} is stopped")

    async def wait_until_started(self) -> None:
        """Returns when its start has succeeded or failed, as far as is known here."""
        while self.status == "starting":
            await self._changed.wait()

    def run(self, request: dict[str, Any]) -> ResultStream:
        run = PluginRun(request, self._rules.start_seconds, self._unavailable_reason)
        self._queue.add(run)
        self._start_queued_runs()
        return run

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        started_at = asyncio.get_running_loop().time()
        peer = await self._wait_for_peer(timeout)
        elapsed = asyncio.get_running_loop().time() - started_at
        try:
            answer: dict[str, Any] = await peer.call(action, data, timeout - elapsed)
        except WireError as error:
            raise _to_plugin_error(error) from error
        return answer

    async def stream(self, action: str, data: dict[str, Any]) -> ResultStream:
        peer = await self._wait_for_peer(inf)
        try:
            return RemoteStream(peer.stream(action, data))
        except WireError as error:
            raise _to_plugin_error(error) from error

    async def _wait_for_peer(self, timeout: float) -> Peer:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(timeout, self._rules.start_seconds)):
                while self._peer is None and not self._ended:
                    await self._changed.wait()
        if self._peer is None:
            raise PluginUnavailable(self._unavailable_reason())
        return self._peer

    async def _keep_channel(self) -> None:
        retries = self._rules.retries()
        while True:
            try:
                await self._serve(retries)
            except WireError as error:
                reason = error.message
            except Exception as error:
                logger.exception("the channel of plugin %s failed", self.plugin_id)
                reason = f"the Host failed with {type(error).__name__}; its log says where"
            self._channel_error = f"its channel to the plugin runtime is closed: {reason}"
            self._close_channel(self._channel_error)
            await asyncio.sleep(retries.next_delay())

    async def _serve(self, retries: Backoff) -> None:
        """Serves the channel. Raises WireError when it is closed or could not be opened."""
        limits = self._rules.limits
        transport = await self._rules.address.open(plugin_path(self.plugin_id), limits)
        peer = Peer(transport, ActionDispatcher(self.plugin_id, self._actions), limits, name=self.plugin_id)
        peer.start()
        try:
            await peer.call("hello", ChannelHello(session=self._session).model_dump())
            self._peer, self._channel_error = peer, ""
            retries.reset()
            while True:
                while not self._is_discovered():
                    await self._discover(peer)
                self._notify()
                await first_completed(_wait_for(self._changed), _raise_when_closed(peer))
        finally:
            peer.close("the Host closes the channel")

    async def _discover(self, peer: Peer) -> None:
        runners, components = await peer.call("list_agent_runners", {}), await peer.call("list_components", {})
        try:
            runners_message, components_message = (
                RunnersMessage.model_validate(runners),
                ComponentsMessage.model_validate(components),
            )
        except ValidationError as error:
            raise WireError("invalid_argument", "the runtime does not tell which components the plugin has") from error
        self._discovered(
            self.plugin_id,
            runners_message.version,
            PluginManifestReport(runners_message.runners, components_message.components),
        )
        self._known_generation = runners_message.generation

    def _close_channel(self, reason: str) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.close(reason)
        self._notify()

    def _notify(self) -> None:
        self._start_queued_runs()
        self._changed.set()
        self._changed = asyncio.Event()

    def _start_queued_runs(self) -> None:
        if self._peer is not None:
            self._queue.start_runs(_Channel(self._peer))

    def _unavailable_reason(self) -> str:
        return "" if self._peer else f"plugin {self.plugin_id} is {self.status}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Channel:
    """Always has a free slot: the runtime knows how many runs the plugin accepts."""

    peer: Peer
    has_free_slot: bool = True

    def open(self, request: dict[str, Any]) -> ResultStream:
        return RemoteStream(self.peer.stream("run_agent", request))


class RemoteStream:
    """A stream of the wire that raises the core's errors."""

    def __init__(self, stream: WireStream) -> None:
        self._stream = stream

    async def batch(self) -> list[Any]:
        try:
            return await self._stream.batch()
        except WireError as error:
            raise _to_plugin_error(error) from error

    def abort(self, error: BaseException) -> None:
        self._stream.abort(error)


def _to_plugin_error(error: WireError) -> PluginDisconnected | PluginUnavailable | PluginCallFailed:
    return PluginDisconnected(str(error)) if isinstance(error, ConnectionClosed) else from_wire_error(error)


async def _wait_for(event: asyncio.Event) -> None:
    await event.wait()


async def _raise_when_closed(peer: Peer) -> None:
    raise ConnectionClosed(await peer.wait_closed())
