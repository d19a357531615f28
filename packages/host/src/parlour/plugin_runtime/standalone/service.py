"""Accepts connections of Hosts: tokens decide whether, and paths decide for what."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginManager
from parlour.core.model.ports import PluginCaller
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, RequestDispatcher, WireError, WireLimits
from parlour_sdk.wire.websocket import WebSocketTransport

from ..remote.messages import CONTROL_PATH, FRAME_GROWTH_BYTES, plugin_id_from_path
from .control_channel import ControlChannel
from .relay import PluginChannel
from .sessions import HostSessions
from .status_broadcast import StatusBroadcast
from .tokens import Token, Tokens, TokensUnreadable
from .uploads import Uploads

logger = logging.getLogger(__name__)

REVOKED = "the token of this connection was revoked"
MAX_STREAMS = 1_000_000
"""Maximum number of streams per connection: runs are to wait for the plugin and not for the connection."""


@dataclass(frozen=True, slots=True)
class UploadRules:
    folder: Path
    limit: int


class RuntimeService:
    """Serves Hosts on WebSocket connections."""

    def __init__(
        self,
        tokens: Tokens,
        sessions: HostSessions,
        plugins: PluginCaller,
        manager: PluginManager,
        broadcast: StatusBroadcast,
        uploads: UploadRules,
        wire: WireLimits,
        version: str,
    ) -> None:
        self.limits = replace(
            wire,
            frame_bytes=wire.frame_bytes + FRAME_GROWTH_BYTES,
            streams=MAX_STREAMS,
            frames_per_second=inf,
            bytes_per_second=inf,
            max_depth=sys.maxsize,
            max_elements=sys.maxsize,
        )
        """Limits of connections with Hosts. Hosts are not limited in rate; plugins are, where their frames are read."""
        self._tokens = tokens
        self._sessions = sessions
        self._plugins = plugins
        self._manager = manager
        self._broadcast = broadcast
        self._uploads = uploads
        self._version = version
        self._tasks = BackgroundTasks("the end of a connection with a Host could not be handled")
        self._admitted: dict[Peer, Token] = {}
        """Open connections, with the tokens that admitted them."""

    def admit(self, secret: str) -> Callable[[str, WebSocketTransport], None] | None:
        """Returns what accepts the connection with this token; None if the token is not valid."""
        try:
            token = self._tokens.find(secret)
        except TokensUnreadable as error:
            logger.error("no Host is admitted: %s", error)
            return None
        return None if token is None else partial(self._on_connection, token)

    def accepts(self, path: str) -> bool:
        return path == CONTROL_PATH or plugin_id_from_path(path) is not None

    def check_tokens(self) -> None:
        """Closes every connection whose token was revoked."""
        try:
            revoked = [peer for peer, token in self._admitted.items() if not self._tokens.is_valid(token)]
        except TokensUnreadable as error:
            logger.error("%s", error)
            return
        for name in sorted({self._admitted[peer].name for peer in revoked}):
            logger.warning("the token '%s' was revoked; its Host is disconnected", name)
        for peer in revoked:
            peer.close(REVOKED, refused=True)

    def _refuse_revoked(self, token: Token) -> None:
        """Raises WireError for a call on a connection whose token was revoked after it was opened."""
        try:
            if self._tokens.is_valid(token):
                return
        except TokensUnreadable as error:
            logger.error("%s", error)
            return
        asyncio.get_running_loop().call_soon(self.check_tokens)  # after the refusal is written
        raise WireError("unauthorized", f"{REVOKED}; make another with 'parlour runtime token create'")

    def _on_connection(self, token: Token, path: str, transport: WebSocketTransport) -> None:
        plugin_id = plugin_id_from_path(path)
        if plugin_id is None:
            self._open_control_channel(token, transport)
        else:
            self._open_plugin_channel(token, plugin_id, transport)

    def _open_control_channel(self, token: Token, transport: WebSocketTransport) -> None:
        uploads = Uploads(self._uploads.folder, self._uploads.limit)
        connect = partial(self._open_peer, transport, token, "control")
        control = ControlChannel(token, self._manager, self._broadcast, self._sessions, uploads, self._version, connect)
        self._start(control.peer, token, control.close)

    def _open_plugin_channel(self, token: Token, plugin_id: PluginId, transport: WebSocketTransport) -> None:
        connect = partial(self._open_peer, transport, token, plugin_id)
        channel = PluginChannel(plugin_id, token, self._plugins, self._broadcast, self._sessions, connect)
        self._start(channel.peer, token, lambda: self._sessions.remove_channel(plugin_id, channel.peer))

    def _open_peer(self, transport: WebSocketTransport, token: Token, name: str, dispatcher: RequestDispatcher) -> Peer:
        checked = TokenCheckedDispatcher(dispatcher, partial(self._refuse_revoked, token))
        return Peer(transport, checked, self.limits, name=name)

    def _start(self, peer: Peer, token: Token, on_ended: Callable[[], None]) -> None:
        self._admitted[peer] = token
        peer.start()
        self._tasks.start(self._until_closed(peer, on_ended))

    async def _until_closed(self, peer: Peer, on_ended: Callable[[], None]) -> None:
        try:
            await peer.wait_closed()
        finally:
            del self._admitted[peer]
            on_ended()


@dataclass(frozen=True, slots=True)
class TokenCheckedDispatcher:
    """A dispatcher that refuses calls after its connection's token was revoked."""

    dispatcher: RequestDispatcher
    check: Callable[[], None]

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        self.check()
        return self.dispatcher.dispatch(action, data)
