"""The Host's end of the wire to a plugin: the handshake first, then calls in both directions."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Protocol

from pydantic import ValidationError

from parlour.core.access.rate_limit import TokenBucket
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.handshake import Hello, Welcome
from parlour_sdk.wire import HUNG_UP, ConnectionClosed, WireError, WireStream

REFUSAL_BURST = 100
REFUSALS_PER_SECOND = 50
REFUSAL_DELAY_SECONDS = 0.5
"""Delay of refusals beyond this burst and rate. The call keeps its slot until then, so a plugin whose calls keep being
refused slows itself down."""


class PluginCallHandler(Protocol):
    """The actions that plugins may call.

    Answers and parts are JSON values or protocol entities, as the wire encodes.
    """

    def streams(self, name: str) -> bool: ...

    async def call(self, plugin_id: PluginId, name: str, data: Any) -> Any: ...

    def stream(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[Any, None]: ...


class ActionDispatcher:
    """Serves one plugin's calls under the identity that the runtime gave the connection."""

    def __init__(self, plugin_id: PluginId, actions: PluginCallHandler) -> None:
        self._plugin_id = plugin_id
        self._actions = actions
        self._refusals = TokenBucket(REFUSALS_PER_SECOND, REFUSAL_BURST)

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        return self._stream(action, data) if self._actions.streams(action) else self._call(action, data)

    async def _call(self, action: str, data: Any) -> Any:
        try:
            return await self._actions.call(self._plugin_id, action, data)
        except CallRejected as refusal:
            raise await self._refusal_error(refusal) from refusal

    async def _stream(self, action: str, data: Any) -> AsyncGenerator[Any, None]:
        try:
            async with aclosing(self._actions.stream(self._plugin_id, action, data)) as parts:
                async for part in parts:
                    yield part
        except CallRejected as refusal:
            raise await self._refusal_error(refusal) from refusal

    async def _refusal_error(self, refusal: CallRejected) -> WireError:
        if not self._refusals.try_acquire():
            await asyncio.sleep(REFUSAL_DELAY_SECONDS)
        return WireError(refusal.code, refusal.message, {"retryable": refusal.retryable, "details": refusal.details})


class PluginDispatcher:
    """Serves a plugin's calls after it has said hello."""

    def __init__(self, plugin_id: PluginId, actions: PluginCallHandler, host_version: str) -> None:
        self._plugin_id = plugin_id
        self._calls = ActionDispatcher(plugin_id, actions)
        self._host_version = host_version
        self.hello_received: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "hello":
            return self._hello(data)
        if not self.hello_received.done():
            raise WireError("unauthorized", "the first call on a connection is hello")
        return self._calls.dispatch(action, data)

    async def _hello(self, data: Any) -> dict[str, Any]:
        try:
            hello = Hello.model_validate(data)
        except ValidationError as error:
            raise WireError("invalid_argument", "hello names protocol, sdk and plugin") from error
        if hello.protocol != PROTOCOL_VERSION:
            raise WireError("not_supported", _mismatch(hello.protocol))
        if hello.plugin != self._plugin_id:
            raise WireError("unauthorized", f"this connection belongs to plugin {self._plugin_id}")
        if not self.hello_received.done():
            self.hello_received.set_result(hello)
        return Welcome(protocol=PROTOCOL_VERSION, host="parlour", host_version=self._host_version).model_dump()


def _mismatch(protocol: int) -> str:
    older_side = "the plugin's SDK" if protocol < PROTOCOL_VERSION else "Parlour"
    return f"the plugin speaks protocol {protocol} and this Host {PROTOCOL_VERSION}; update {older_side}"


async def await_answer(call: Awaitable[Any]) -> dict[str, Any]:
    """Returns the answer of a call on the wire. Raises the core's errors."""
    try:
        answer = await call
    except WireError as error:
        raise to_plugin_error(error) from error
    if not isinstance(answer, dict):
        raise PluginCallFailed("invalid_argument", "the plugin did not answer with an object")
    return answer


def to_plugin_error(error: WireError) -> PluginDisconnected | PluginCallFailed:
    """Returns the core's error for an error of the wire."""
    if isinstance(error, ConnectionClosed):
        return PluginDisconnected("its process ended" if error.reason == HUNG_UP else error.reason)
    return PluginCallFailed(error.code, error.message)


class PluginStream:
    """A stream of the wire that raises the core's errors."""

    def __init__(self, stream: WireStream, aborted: Callable[[], None]) -> None:
        self._stream = stream
        self._aborted = aborted

    async def batch(self) -> list[Any]:
        try:
            return await self._stream.batch()
        except WireError as error:
            raise to_plugin_error(error) from error

    def abort(self, error: BaseException) -> None:
        self._stream.abort(error)
        self._aborted()
