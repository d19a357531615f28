"""Whether a message is one of a conversation's, as far as the Host has heard or said it there. Reads only."""

from typing import Any

from parlour.core.encoding import dumps
from parlour.core.journal import Journal, Select, holding, where
from parlour.core.model.event import RecordedEvent

from .tables import EVENTS, OUTBOX


class KnownMessages:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def of(self, event: RecordedEvent, message_id: str) -> bool:
        """One that the event itself shows counts too: whoever wrote it quotes what is there."""
        data = event.envelope.data
        if str(data.get("message_id", "")) == message_id or message_id in _quoted(data.get("message_chain")):
            return True
        said = where(platform_message_id=message_id, conversation_id=event.conversation_id)
        heard = where(conversation_id=event.conversation_id, body=holding(f'"message_id":{dumps(message_id)}'))
        return bool(
            await self._journal.read(Select(OUTBOX, said, ("seq",), limit=1))
            or await self._journal.read(Select(EVENTS, heard, ("seq",), limit=1))
        )


def _quoted(chain: Any) -> set[str]:
    components = chain if isinstance(chain, list) else []
    return {str(each.get("id")) for each in components if isinstance(each, dict) and each.get("type") == "Quote"}
