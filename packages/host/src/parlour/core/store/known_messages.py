"""Checks whether a message id belongs to a conversation, by the messages that the Host received or sent there."""

from typing import Any

from parlour.core.encoding import dumps
from parlour.core.journal import Journal, Select, contains, where
from parlour.core.model.event import RecordedEvent

from .tables import EVENTS, OUTBOX


class KnownMessages:
    """Looks up messages of conversations."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def contains(self, event: RecordedEvent, message_id: str) -> bool:
        """Returns whether the message belongs to the event's conversation.

        The event's own message and those that it quotes count too, since a sender can only quote messages of the chat.
        """
        data = event.envelope.data
        if str(data.get("message_id", "")) == message_id or message_id in _quoted_message_ids(
            data.get("message_chain")
        ):
            return True
        sent = where(platform_message_id=message_id, conversation_id=event.conversation_id)
        received = where(conversation_id=event.conversation_id, body=contains(f'"message_id":{dumps(message_id)}'))
        return bool(
            await self._journal.read(Select(OUTBOX, sent, ("seq",), limit=1))
            or await self._journal.read(Select(EVENTS, received, ("seq",), limit=1))
        )


def _quoted_message_ids(chain: Any) -> set[str]:
    components = chain if isinstance(chain, list) else []
    return {str(each.get("id")) for each in components if isinstance(each, dict) and each.get("type") == "Quote"}
