"""Keeps the session of the Host that uses this runtime: one at a time, with a control connection and plugin channels.

A session belongs to the token by which its control connection was admitted.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable

from parlour.core.model.ids import PluginId
from parlour_sdk.wire import Peer, RequestDispatcher, WireError

from ..remote.messages import IN_USE
from .tokens import Token

logger = logging.getLogger(__name__)

OpenPeer = Callable[[RequestDispatcher], Peer]
"""Opens the connection whose calls the dispatcher serves."""


class HostSession:
    """The connections of one Host."""

    def __init__(self, token: Token, control: Peer) -> None:
        self.id = secrets.token_hex(16)
        self.token = token
        self.channels: dict[str, Peer] = {}
        self._control = control

    def end(self, reason: str) -> None:
        """Closes the connections. The Host's runs are cancelled in the plugins, which keep running."""
        for channel in [*self.channels.values()]:
            channel.close(reason, refused=True)
        self._control.close(reason, refused=True)


class HostSessions:
    """Holds the current session and its plugin channels."""

    def __init__(self, on_arrival: Callable[[], None]) -> None:
        self._on_connected = on_arrival
        self._current: HostSession | None = None
        self._changed = asyncio.Event()

    def begin(self, token: Token, control: Peer) -> HostSession:
        """Begins a session. A Host with the same token replaces its own earlier connection."""
        current = self._current
        if current is not None and current.token.token_id != token.token_id:
            raise WireError(
                IN_USE,
                f"the plugin runtime serves one Host at a time, and now the one with the token '{current.token.name}'; "
                "stop that Host, or start a runtime of its own for this one",
            )
        if current is not None:
            current.end("a Host with the same token has connected")
        session = self._current = HostSession(token, control)
        logger.info("the Host with the token '%s' is connected", token.name)
        self._on_connected()
        return session

    def end(self, session: HostSession) -> None:
        session.end("the Host's control connection is closed")
        if session is self._current:
            self._current = None
            logger.info("the Host with the token '%s' is gone; its runs are cancelled", session.token.name)

    def add_channel(self, session_id: str, token: Token, plugin_id: PluginId, channel: Peer) -> None:
        current = self._current
        is_current = current is not None and current.token.token_id == token.token_id
        if current is None or not is_current or not secrets.compare_digest(current.id.encode(), session_id.encode()):
            raise WireError(
                "unauthorized",
                "session: a plugin's channel names the session of a control connection with the same token, "
                "as the answer to its hello says it",
            )
        previous = current.channels.get(plugin_id)
        current.channels[plugin_id] = channel
        if previous is not None:
            previous.close("another channel took its place")
        self._changed.set()
        self._changed = asyncio.Event()

    def remove_channel(self, plugin_id: PluginId, channel: Peer) -> None:
        current = self._current
        if current is not None and current.channels.get(plugin_id) is channel:
            del current.channels[plugin_id]

    async def wait_for_channel(self, plugin_id: PluginId, seconds: float) -> Peer | None:
        """Returns the connection from this plugin to the Host; None if there is none within this time."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    if self._current is not None and plugin_id in self._current.channels:
                        return self._current.channels[plugin_id]
                    await self._changed.wait()
        except TimeoutError:
            return None
