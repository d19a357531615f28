"""Keeps the open chat sockets: who is in the web chat, how many sockets each may have, and which are stuck."""

import asyncio
import logging
from collections import Counter
from typing import Any, Protocol

from parlour.core.delivery.feed import Frame
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from ..errors import Problem

logger = logging.getLogger(__name__)


class Connected(Protocol):
    agent_id: str
    session: str
    owner: str
    """Whose session it is."""

    def show(self, frame: Frame) -> None:
        """Puts it among what this connection is sent; a client that is too slow is cut off as ever."""
        ...

    def blocked_seconds(self) -> float:
        """Returns how long the client has not taken a frame that is being sent; 0 when none is."""
        ...

    def cut(self) -> None:
        """Closes the socket of a client that does not read."""
        ...


@dataclass(frozen=True, slots=True)
class ChatLimits:
    sockets: int
    """Of one API key or person."""
    send_seconds: float
    """For one frame to be taken by the client."""


class Connections:
    def __init__(self, clock: Clock, limits: ChatLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._since: dict[Connected, int] = {}
        self._admitted: Counter[str] = Counter()
        self._sweep: asyncio.Task[None] | None = None

    def admit(self, owner: str) -> None:
        """Counts a socket of this owner until `release`. Raises Problem when it has too many."""
        if self._admitted[owner] >= self._limits.sockets:
            whose = "this API key" if owner.startswith("key:") else "this user"
            message = (
                f"{whose} has {self._limits.sockets} chat sockets open, which is the limit (http.chat_sockets); "
                "close some and connect again"
            )
            raise Problem(429, "rate_limited", message)
        self._admitted[owner] += 1

    def release(self, owner: str) -> None:
        self._admitted[owner] -= 1
        if not self._admitted[owner]:
            del self._admitted[owner]

    def add(self, connection: Connected) -> None:
        self._since[connection] = self._clock.now()
        if self._sweep is None:
            self._sweep = asyncio.create_task(self._cut_blocked())

    def remove(self, connection: Connected) -> None:
        self._since.pop(connection, None)

    def of(self, agent_id: str) -> list[Connected]:
        return [connection for connection in self._since if connection.agent_id == agent_id]

    def told(self, agent_id: str, owner: str | None) -> list[dict[str, Any]]:
        """The oldest first; all of them, or those of one owner."""
        seen = [each for each in self.of(agent_id) if owner is None or each.owner == owner]
        return [{"session": each.session, "owner": each.owner, "since": self._since[each]} for each in seen]

    async def _cut_blocked(self) -> None:
        """Runs while there are connections."""
        seconds = self._limits.send_seconds
        while self._since:
            await asyncio.sleep(seconds / 4)
            for connection in [each for each in self._since if each.blocked_seconds() > seconds]:
                logger.warning("a chat socket of %s was closed: it took no frame for %g s", connection.owner, seconds)
                connection.cut()
        self._sweep = None
