"""Keeps requests for conversations of other Hosts from being answered here.

A request may reach any Host of a cluster, but only the owner of its conversation has the live text of runs, and starts
them at once. Which conversation a request is about is often known only after its sender and its body were read, so the
code that knows it asks here. The exception ends the request, and the HTTP interface passes it on.
"""

from contextvars import ContextVar

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import bot_part, shard_part
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import BotId, ConversationId, PartId
from parlour.core.store.conversations import Conversations


class HostStopping(Exception):
    """The Host is stopping and takes nothing new; send it again in a moment."""

    code = "stopping"


class AnsweredElsewhere(HostStopping):
    """Another Host owns the conversation of this request and answers it; send it again in a moment."""


class Arrival:
    """A request that may be passed to another Host, as long as nothing of its answer was sent."""

    def __init__(self) -> None:
        self.part: PartId | None = None
        """The part of another Host that the request turned out to be about."""
        self.is_final = False
        """True once the request has to be answered on this Host."""


ARRIVAL: ContextVar[Arrival | None] = ContextVar("arrival", default=None)
"""The request that is being answered; None where none can be passed on, as on a single Host."""


class Arrivals:
    """Compares the conversations of requests with the parts of this Host."""

    def __init__(self, ownership: Ownership, conversations: Conversations) -> None:
        self._ownership = ownership
        self._conversations = conversations

    async def require_key(self, key: ConversationKey) -> None:
        """Raises AnsweredElsewhere if another Host owns the current conversation of a chat. A chat without one begins
        on the Host that the request has reached.
        """
        if (arrival := ARRIVAL.get()) is None or arrival.is_final:
            return
        if key.bot_id:
            self._require(arrival, bot_part(key.bot_id))
        elif (conversation_id := await self._conversations.find(key)) is not None:
            self._require(arrival, shard_part(conversation_id))

    def require(self, bot_id: BotId, conversation_id: ConversationId) -> None:
        """Raises AnsweredElsewhere if another Host owns a conversation."""
        if (arrival := ARRIVAL.get()) is not None and not arrival.is_final:
            self._require(arrival, bot_part(bot_id) if bot_id else shard_part(conversation_id))

    def _require(self, arrival: Arrival, part: PartId) -> None:
        if not self._ownership.holds(part):
            arrival.part = part
            raise AnsweredElsewhere(AnsweredElsewhere.__doc__)
