"""Connects a plugin and the fake Host by a wire in memory, without process or network."""

import math
from collections.abc import Callable
from types import TracebackType
from typing import Any

from parlour_sdk.plugin import LoadedPlugin
from parlour_sdk.service import PluginService
from parlour_sdk.wire import Peer, WireLimits, WireStream, memory_pair

from .gate import PluginEndpoint

UNLIMITED_RATES = WireLimits(frames_per_second=math.inf, bytes_per_second=math.inf)
"""Wire limits without rates, so that a test does not wait for the read limiter."""


class InMemoryConnection:
    def __init__(self, loaded: LoadedPlugin, endpoint: PluginEndpoint) -> None:
        self._loaded = loaded
        self._endpoint = endpoint
        self._service: PluginService
        self._peer: Peer

    async def __aenter__(self) -> "InMemoryConnection":
        host_side, plugin_side = memory_pair()
        self._service = PluginService(self._loaded)
        self._service.peer = Peer(plugin_side, self._service, UNLIMITED_RATES, name="plugin")
        self._peer = Peer(host_side, self._endpoint, UNLIMITED_RATES, name="fake host")
        self._peer.start()
        self._service.peer.start()
        await self._service.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._service.close()
        await self._peer.aclose()
        await self._service.peer.aclose()
        if self._endpoint.test_errors and error is None:
            raise self._endpoint.test_errors[0]

    async def call(self, action: str, data: Any) -> Any:
        return await self._peer.call(action, data)

    def stream(self, action: str, data: Any, ended: Callable[[], None] | None = None) -> WireStream:
        return self._peer.stream(action, data, ended)
