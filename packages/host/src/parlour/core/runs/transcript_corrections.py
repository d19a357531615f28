"""Applies edited and deleted messages of a platform to the transcript, so that agents don't see the old text."""

import logging
from typing import Any

from pydantic import TypeAdapter, ValidationError

from parlour.core.journal import GuardFailed, Journal, Unit
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import RecordedEvent
from parlour.core.store import transcript

logger = logging.getLogger(__name__)

EDITED, DELETED = "edited", "deleted"
"""Keys in the metadata of a corrected item."""


class TranscriptCorrections:
    """Corrects the transcript by events about earlier messages."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def apply(self, event: RecordedEvent) -> None:
        """Replaces the content of the message that the event names. Other events change nothing.

        Applying an event again gives the same transcript.
        """
        envelope = event.envelope
        if envelope.event_type not in ("message.edited", "message.deleted") or envelope.surface != PLATFORM_SURFACE:
            return
        message_id = envelope.data.get("message_id")
        row = await transcript.find_message(self._journal, event.conversation_id, str(message_id or ""))
        if row is None:
            return
        if envelope.event_type == "message.deleted":
            statements = transcript.replace_content(row, "", (), DELETED)
        else:
            edited = _edited_input(envelope.data.get("new_content"))
            if edited is None:
                return
            statements = transcript.replace_content(row, edited.get("text") or "", edited.get("contents", ()), EDITED)
        try:
            await self._journal.commit(Unit("transcript.correct", tuple(statements)))
        except GuardFailed:
            logger.debug("event %s: the message was deleted in the meantime", envelope.event_id)


def _edited_input(new_content: Any) -> dict[str, Any] | None:
    """Returns the input of the new content without its files, or None if it can't be read."""
    from parlour.core.platforms import chain_text
    from parlour_sdk.protocol.chain import MessageChain

    try:
        chain = TypeAdapter(MessageChain).validate_python(new_content)
    except ValidationError:
        return None
    edited = chain_text.chain_to_input(chain, "")
    contents = [each for each in edited.get("contents", ()) if each.get("type") in ("text", "mention", "quote")]
    return {"text": edited.get("text", ""), "contents": contents}
