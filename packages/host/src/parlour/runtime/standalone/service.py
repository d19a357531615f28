"""Takes the connections of Hosts: which token admits whom, and which path is for what."""

import asyncio
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from parlour.core.plugins import PluginKeeper
from parlour.core.ports import PluginCaller
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Limits, Peer
from parlour_sdk.wire.websocket import WebSocketTransport

from ..remote.contract import CONTROL, ROOM_BYTES, plugin_of
from .board import Board
from .control import Control
from .relay import PluginChannel
from .sessions import Sessions
from .tokens import Token, Tokens, TokensUnreadable
from .uploads import Uploads

logger = logging.getLogger(__name__)

STREAMS = 1_000_000
"""Runs wait for their turn at the plugin and not for the connection."""


@dataclass(frozen=True, slots=True)
class UploadRules:
    folder: Path
    limit: int


class Service:
    def __init__(
        self,
        tokens: Tokens,
        sessions: Sessions,
        plugins: PluginCaller,
        keeper: PluginKeeper,
        board: Board,
        uploads: UploadRules,
        wire: Limits,
        version: str,
    ) -> None:
        self.limits = replace(
            wire,
            frame_bytes=wire.frame_bytes + ROOM_BYTES,
            streams=STREAMS,
            frames_per_second=inf,
            bytes_per_second=inf,
            max_depth=sys.maxsize,
            max_elements=sys.maxsize,
        )
        """Of connections with Hosts. They are not the ones to be counted and slowed down; plugins are, where they are
        read."""
        self._tokens = tokens
        self._sessions = sessions
        self._plugins = plugins
        self._keeper = keeper
        self._board = board
        self._uploads = uploads
        self._version = version
        self._tasks: set[asyncio.Task[None]] = set()

    def admit(self, secret: str) -> Callable[[str, WebSocketTransport], None] | None:
        try:
            token = self._tokens.find(secret)
        except TokensUnreadable as error:
            logger.error("no Host is let in: %s", error)
            return None
        return None if token is None else partial(self._connected, token)

    def accepts(self, path: str) -> bool:
        return path == CONTROL or plugin_of(path) is not None

    def _connected(self, token: Token, path: str, transport: WebSocketTransport) -> None:
        plugin_id = plugin_of(path)
        if plugin_id is None:
            self._take_control(token, transport)
        else:
            self._take_channel(plugin_id, transport)

    def _take_control(self, token: Token, transport: WebSocketTransport) -> None:
        uploads = Uploads(self._uploads.folder, self._uploads.limit)
        control = Control(token, self._keeper, self._board, self._sessions, uploads, self._version)
        control.peer = Peer(transport, control, self.limits, name="control")
        self._start(control.peer, control.close)

    def _take_channel(self, plugin_id: str, transport: WebSocketTransport) -> None:
        channel = PluginChannel(plugin_id, self._plugins, self._board, self._sessions)
        peer = channel.peer = Peer(transport, channel, self.limits, name=plugin_id)
        self._start(peer, lambda: self._sessions.part(plugin_id, peer))

    def _start(self, peer: Peer, ended: Callable[[], None]) -> None:
        peer.start()
        task = asyncio.create_task(_until_closed(peer, ended))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _until_closed(peer: Peer, ended: Callable[[], None]) -> None:
    try:
        await peer.wait_closed()
    finally:
        ended()
