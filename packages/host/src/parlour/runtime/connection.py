"""A plugin's end of the wire, seen from the Host: the greeting first, then calls in both directions."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Protocol

from pydantic import ValidationError

from parlour.core.access.gate import Refused
from parlour.core.ports import PluginLost, PluginRefused
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.handshake import Hello, Welcome
from parlour_sdk.wire import ConnectionClosed, Stream, WireError


class HostActions(Protocol):
    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]: ...


class PluginDispatcher:
    """Serves one plugin's calls under the identity that the supervisor gave the connection."""

    def __init__(self, plugin_id: str, actions: HostActions, host_version: str) -> None:
        self._plugin_id = plugin_id
        self._actions = actions
        self._host_version = host_version
        self.greeted: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "hello":
            return self._hello(data)
        if not self.greeted.done():
            raise WireError("unauthorized", "the first call on a connection is hello")
        return self._act(action, data)

    async def _hello(self, data: Any) -> dict[str, Any]:
        try:
            hello = Hello.model_validate(data)
        except ValidationError as error:
            raise WireError("invalid_argument", "hello names protocol, sdk and plugin") from error
        if hello.protocol != PROTOCOL_VERSION:
            raise WireError("not_supported", _mismatch(hello.protocol))
        if hello.plugin != self._plugin_id:
            raise WireError("unauthorized", f"this connection belongs to plugin {self._plugin_id}")
        if not self.greeted.done():
            self.greeted.set_result(hello)
        return Welcome(protocol=PROTOCOL_VERSION, host="parlour", host_version=self._host_version).model_dump()

    async def _act(self, action: str, data: Any) -> Any:
        try:
            return await self._actions.call(self._plugin_id, action, data)
        except Refused as refusal:
            raise WireError(refusal.code, refusal.message) from refusal


def _mismatch(protocol: int) -> str:
    side = "the plugin's SDK" if protocol < PROTOCOL_VERSION else "Parlour"
    return f"the plugin speaks protocol {protocol} and this Host {PROTOCOL_VERSION}; update {side}"


class PluginStream:
    """The wire's stream with the core's errors."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    async def batch(self) -> list[Any]:
        try:
            return await self._stream.batch()
        except ConnectionClosed as closed:
            raise PluginLost(str(closed)) from closed
        except WireError as error:
            raise PluginRefused(error.code, error.message) from error

    def abort(self, error: BaseException) -> None:
        self._stream.abort(error)
