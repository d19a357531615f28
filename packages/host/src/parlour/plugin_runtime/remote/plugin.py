"""A plugin of a standalone runtime as its Host sees it: its own channel, its runners, its runs, its status."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

from pydantic import ValidationError

from parlour.core.model.plugin_manager import Offer, PluginFacts
from parlour.core.model.ports import PluginLost, PluginRefused, PluginUnavailable, ResultStream
from parlour_sdk.values import dataclass
from parlour_sdk.wire import ConnectionClosed, Limits, Peer, Stream, WireError

from ..supervision.connection import ActionCalls, HostActions
from ..supervision.run_queue import PluginRun, Queue
from ..supervision.wait_helpers import first_of
from .address import Address, Retries
from .messages import ChannelHello, OtherComponents, Runners, Told, from_wire, plugin_path

logger = logging.getLogger(__name__)

Discovered = Callable[[str, str, Offer], None]
"""Called with a plugin's id, its version and its components."""


@dataclass(frozen=True, slots=True)
class ChannelRules:
    address: Address
    limits: Limits
    start_seconds: float
    retries: Callable[[], Retries]


class RemotePlugin:
    """Stays while connections are lost and restored. Runs wait in it as they wait for a process that starts."""

    def __init__(self, told: Told, rules: ChannelRules, actions: HostActions, discovered: Discovered) -> None:
        self.plugin_id = told.plugin.plugin_id
        self._told = told
        self._rules = rules
        self._actions = actions
        self._discovered = discovered
        self._known_generation = 0
        self._trouble = ""
        """Why the plugin can't be reached, whatever its own status."""
        self._peer: Peer | None = None
        self._session = ""
        self._ended = False
        self._task: asyncio.Task[None] | None = None
        self._queue = Queue()
        self._news = asyncio.Event()

    @property
    def status(self) -> str:
        return self.facts.status

    @property
    def reason(self) -> str:
        return self.facts.reason

    @property
    def proven(self) -> bool:
        return self._told.proven and self._is_settled()

    @property
    def facts(self) -> PluginFacts:
        told = self._told.plugin
        if self._trouble:
            return replace(told, status="waiting", reason=self._trouble)
        if told.status == "ready" and not self._is_settled():
            return replace(told, status="starting", reason="")
        return told

    def _is_settled(self) -> bool:
        """Returns whether the components of its newest process are known."""
        return self._known_generation >= self._told.generation

    def tell(self, told: Told, session: str) -> None:
        """Applies a status from the runtime, received in this session."""
        self._told = told
        if session != self._session:
            self.leave("")
            self._session = session
            self._known_generation = 0  # anything may have changed, so its runners are requested again
            self._task = asyncio.create_task(self._keep_channel())
        self._inform()

    def leave(self, reason: str) -> None:
        """Closes the channel. Its runs fail immediately; new ones wait until it is open again."""
        self._trouble, self._session = reason, ""
        if self._task is not None:
            self._task.cancel()
        self._let_go(reason)

    def end(self) -> None:
        """Ends the plugin's service: the runtime does not keep it running any more."""
        self._ended = True
        self.leave("it was stopped")
        self._queue.fail(f"plugin {self.plugin_id} is stopped")

    async def settled(self) -> None:
        """Returns when its start has succeeded or failed, as far as is known here."""
        while self.status == "starting":
            await self._news.wait()

    def run(self, request: dict[str, Any]) -> ResultStream:
        run = PluginRun(request, self._rules.start_seconds, self._absence)
        self._queue.add(run)
        self._hand_out()
        return run

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        begun = asyncio.get_running_loop().time()
        peer = await self._ready(timeout)
        waited = asyncio.get_running_loop().time() - begun
        try:
            answer: dict[str, Any] = await peer.call(action, data, timeout - waited)
        except WireError as error:
            raise _told(error) from error
        return answer

    async def stream(self, action: str, data: dict[str, Any]) -> ResultStream:
        peer = await self._ready(inf)
        try:
            return RemoteStream(peer.stream(action, data))
        except WireError as error:
            raise _told(error) from error

    async def _ready(self, patience: float) -> Peer:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(patience, self._rules.start_seconds)):
                while self._peer is None and not self._ended:
                    await self._news.wait()
        if self._peer is None:
            raise PluginUnavailable(self._absence())
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
            self._trouble = f"its channel to the plugin runtime is closed: {reason}"
            self._let_go(self._trouble)
            await asyncio.sleep(retries.delay())

    async def _serve(self, retries: Retries) -> None:
        """Serves the channel. Raises WireError when it is closed or could not be opened."""
        limits = self._rules.limits
        transport = await self._rules.address.open(plugin_path(self.plugin_id), limits)
        peer = Peer(transport, ActionCalls(self.plugin_id, self._actions), limits, name=self.plugin_id)
        peer.start()
        try:
            await peer.call("hello", ChannelHello(session=self._session).model_dump())
            self._peer, self._trouble = peer, ""
            retries.forget()
            while True:
                while not self._is_settled():
                    await self._discover(peer)
                self._inform()
                await first_of(_event(self._news), _closed(peer))
        finally:
            peer.close("the Host closes the channel")

    async def _discover(self, peer: Peer) -> None:
        runners, others = await peer.call("list_agent_runners", {}), await peer.call("list_components", {})
        try:
            found, rest = Runners.model_validate(runners), OtherComponents.model_validate(others)
        except ValidationError as error:
            raise WireError("invalid_argument", "the runtime does not tell which components the plugin has") from error
        self._discovered(self.plugin_id, found.version, Offer(found.runners, rest.components))
        self._known_generation = found.generation

    def _let_go(self, reason: str) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.close(reason)
        self._inform()

    def _inform(self) -> None:
        self._hand_out()
        self._news.set()
        self._news = asyncio.Event()

    def _hand_out(self) -> None:
        if self._peer is not None:
            self._queue.hand_to(_Channel(self._peer))

    def _absence(self) -> str:
        return "" if self._peer else f"plugin {self.plugin_id} is {self.status}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Channel:
    """Always has a free slot: the runtime knows how many runs the plugin accepts."""

    peer: Peer
    free: bool = True

    def open(self, request: dict[str, Any]) -> ResultStream:
        return RemoteStream(self.peer.stream("run_agent", request))


class RemoteStream:
    """A stream of the wire that raises the core's errors."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def batch(self) -> list[Any]:
        try:
            return await self._stream.batch()
        except WireError as error:
            raise _told(error) from error

    def abort(self, error: BaseException) -> None:
        self._stream.abort(error)


def _told(error: WireError) -> PluginLost | PluginUnavailable | PluginRefused:
    return PluginLost(str(error)) if isinstance(error, ConnectionClosed) else from_wire(error)


async def _event(event: asyncio.Event) -> None:
    await event.wait()


async def _closed(peer: Peer) -> None:
    raise ConnectionClosed(await peer.wait_closed())
