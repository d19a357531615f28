"""Keeps the open chat sockets: who is in the web chat, how many sockets each principal has, and which clients are
stuck."""

import asyncio
import logging
from collections import Counter
from typing import Protocol

from parlour.core.delivery.feed import Frame
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from ..errors import Problem
from .responses import ConnectionResponse

logger = logging.getLogger(__name__)


class ChatClient(Protocol):
    agent_id: AgentId
    session: str
    owner: str
    """Principal to which the session belongs."""

    def enqueue(self, frame: Frame) -> None:
        """Queues a frame for this connection; a client that is too slow is disconnected as usual."""
        ...

    def blocked_seconds(self) -> float:
        """Returns how many seconds the client has not read the frame that is being sent; 0 if none is."""
        ...

    def close_unresponsive(self) -> None:
        """Closes the socket of a client that does not read."""
        ...


@dataclass(frozen=True, slots=True)
class ChatLimits:
    max_sockets_per_owner: int
    """Maximum number of open sockets per API key or user."""
    max_send_seconds: float
    """Seconds in which a client must read a frame before its socket is closed."""


class ChatConnections:
    def __init__(self, clock: Clock, limits: ChatLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._connected_since: dict[ChatClient, int] = {}
        self._admitted: Counter[str] = Counter()
        self._sweep_task: asyncio.Task[None] | None = None

    def admit(self, owner: str) -> None:
        """Counts a socket of this owner until `release`. Raises Problem if the owner has too many."""
        if self._admitted[owner] >= self._limits.max_sockets_per_owner:
            owner_label = "this API key" if owner.startswith("key:") else "this user"
            message = (
                f"{owner_label} has {self._limits.max_sockets_per_owner} chat sockets open, "
                "which is the limit (http.chat_sockets); "
                "close some and connect again"
            )
            raise Problem(429, "rate_limited", message)
        self._admitted[owner] += 1

    def release(self, owner: str) -> None:
        self._admitted[owner] -= 1
        if not self._admitted[owner]:
            del self._admitted[owner]

    def add(self, connection: ChatClient) -> None:
        self._connected_since[connection] = self._clock.now()
        if self._sweep_task is None:
            self._sweep_task = asyncio.create_task(self._cut_blocked())

    def remove(self, connection: ChatClient) -> None:
        self._connected_since.pop(connection, None)

    def for_agent(self, agent_id: AgentId) -> list[ChatClient]:
        return [connection for connection in self._connected_since if connection.agent_id == agent_id]

    def list_for_agent(self, agent_id: AgentId, owner: str | None) -> list[ConnectionResponse]:
        """Returns the connections of an agent, oldest first; all of them, or those of one owner."""
        visible = [each for each in self.for_agent(agent_id) if owner is None or each.owner == owner]
        return [
            {"session": each.session, "owner": each.owner, "since": self._connected_since[each]} for each in visible
        ]

    async def _cut_blocked(self) -> None:
        """Closes sockets of clients that do not read. Runs while there are connections."""
        seconds = self._limits.max_send_seconds
        while self._connected_since:
            await asyncio.sleep(seconds / 4)
            for connection in [each for each in self._connected_since if each.blocked_seconds() > seconds]:
                logger.warning("closed a chat socket of %s: no frame was read for %g s", connection.owner, seconds)
                connection.close_unresponsive()
        self._sweep_task = None
