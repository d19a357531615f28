"""Relays between plugins and the Host: the Host's runs go to a plugin's process, the plugin's calls to the Host.

Calls are relayed one by one and not as bytes: the plugin's process outlives the Host's connection, so it can share
neither its handshake nor its call numbers. The path at which the Host opened a channel names the plugin.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable, ResultStream
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.wire import ConnectionClosed, Peer, WireError

from ..remote.messages import HELLO_AGAIN, ChannelHello, parse_message, to_wire_error
from .sessions import HostSessions, OpenPeer
from .status_broadcast import StatusBroadcast
from .tokens import Token

RELAYED_CALLS = frozenset(
    {
        *("check_runner", "emit_event", "call_tool", "kb_ingest", "kb_retrieve", "kb_delete", "parse_file"),
        *("read_page", "call_page"),
    }
)
RELAYED_STREAMS = frozenset({"run_command"})
MAX_CALL_SECONDS = 86_400.0
"""Limit for calls of a Host that fails to cancel them; normally the Host limits the time of a call."""
HOST_WAIT_SECONDS = 10.0
"""Seconds that a plugin's call waits for a Host that is about to connect."""


class HostCallRelay:
    """The actions that plugins may call. They are sent to the connected Host, which authorizes them."""

    def __init__(self, sessions: HostSessions, seconds: float = HOST_WAIT_SECONDS) -> None:
        self._sessions = sessions
        self._seconds = seconds

    def streams(self, name: str) -> bool:
        return name in HOST_ACTIONS and HOST_ACTIONS[name].streams

    async def call(self, plugin_id: PluginId, name: str, data: Any) -> Any:
        host = await self._host(plugin_id)
        try:
            return await host.call(name, data)
        except WireError as error:
            raise _to_refused(error) from error

    async def stream(self, plugin_id: PluginId, name: str, data: Any) -> AsyncGenerator[Any, None]:
        host = await self._host(plugin_id)
        try:
            async with aclosing(host.stream(name, data)) as parts:
                async for part in parts:
                    yield part
        except WireError as error:
            raise _to_refused(error) from error

    async def _host(self, plugin_id: PluginId) -> Peer:
        host = await self._sessions.wait_for_channel(plugin_id, self._seconds)
        if host is None:
            raise CallRejected(
                "runtime_error", "no Host is connected to the plugin runtime at this moment", retryable=True
            )
        return host


class PluginChannel:
    """Serves the calls that a Host may make to one plugin."""

    def __init__(
        self,
        plugin_id: PluginId,
        token: Token,
        plugins: PluginCaller,
        board: StatusBroadcast,
        sessions: HostSessions,
        connect: OpenPeer,
    ) -> None:
        self._plugin_id = plugin_id
        self._token = token
        self._plugins = plugins
        self._broadcast = board
        self._sessions = sessions
        self._joined = False
        self.peer = connect(self)

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "hello":
            return self._hello(data)
        if not self._joined:
            raise WireError("unauthorized", "the first call on a connection is hello")
        if action == "run_agent":
            return self._run(data)
        if action == "list_agent_runners":
            return self._list(self._broadcast.runners)
        if action == "list_components":
            return self._list(self._broadcast.components)
        if action in RELAYED_CALLS:
            return self._call(action, data)
        if action in RELAYED_STREAMS:
            return self._stream(action, data)
        raise WireError("not_supported", f"a plugin's channel has no action '{action}'")

    async def _hello(self, data: Any) -> dict[str, Any]:
        hello = parse_message(ChannelHello, data)
        if self._joined:
            raise WireError("conflict", HELLO_AGAIN)
        self._sessions.add_channel(hello.session, self._token, self._plugin_id, self.peer)
        self._joined = True
        return {}

    async def _list(self, describe: Callable[[PluginId], dict[str, Any]]) -> dict[str, Any]:
        return describe(self._plugin_id)

    async def _call(self, action: str, data: Any) -> dict[str, Any]:
        try:
            return await self._plugins.call(self._plugin_id, action, data, MAX_CALL_SECONDS)
        except (PluginDisconnected, PluginUnavailable, PluginCallFailed) as error:
            raise to_wire_error(error) from error

    def _run(self, request: Any) -> AsyncGenerator[Any, None]:
        return _relay_results(self._plugins.run_agent(self._plugin_id, request))

    async def _stream(self, action: str, data: Any) -> AsyncGenerator[Any, None]:
        try:
            opened = await self._plugins.stream(self._plugin_id, action, data)
        except (PluginDisconnected, PluginUnavailable, PluginCallFailed) as error:
            raise to_wire_error(error) from error
        async with aclosing(_relay_results(opened)) as parts:
            async for part in parts:
                yield part


async def _relay_results(results: ResultStream) -> AsyncGenerator[Any, None]:
    ended = False
    try:
        while batch := await results.batch():
            for result in batch:
                yield result
        ended = True
    except (PluginDisconnected, PluginUnavailable, PluginCallFailed) as error:
        ended = True
        raise to_wire_error(error) from error
    finally:
        if not ended:
            results.abort(WireError("cancelled", "the Host does not want it any more"))


def _to_refused(error: WireError) -> CallRejected:
    if isinstance(error, ConnectionClosed):
        message = "the connection to the Host was lost; whether the call was carried out is not known"
        return CallRejected("runtime_error", message)
    data = error.data if isinstance(error.data, dict) else {}
    return CallRejected(error.code, error.message, bool(data.get("retryable")), data.get("details"))
