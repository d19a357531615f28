"""Who is in the web chat at this moment."""

from typing import Any, Protocol

from parlour.core.delivery.feed import Frame
from parlour.core.ports import Clock


class Connected(Protocol):
    agent_id: str
    session: str
    owner: str
    """Whose session it is."""

    def show(self, frame: Frame) -> None:
        """Puts it among what this connection is sent; a client that is too slow is cut off as ever."""
        ...


class Connections:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[Connected, int] = {}

    def add(self, connection: Connected) -> None:
        self._since[connection] = self._clock.now()

    def remove(self, connection: Connected) -> None:
        self._since.pop(connection, None)

    def of(self, agent_id: str) -> list[Connected]:
        return [connection for connection in self._since if connection.agent_id == agent_id]

    def told(self, agent_id: str, owner: str | None) -> list[dict[str, Any]]:
        """The oldest first; all of them, or those of one owner."""
        seen = [each for each in self.of(agent_id) if owner is None or each.owner == owner]
        return [{"session": each.session, "owner": each.owner, "since": self._since[each]} for each in seen]
