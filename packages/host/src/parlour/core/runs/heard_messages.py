"""Keeps messages of groups that no handler answers, so that an agent knows what was said before it is asked.

They are transcript items of a type of their own. Each bot has a switch for it, and retention deletes them early.
"""

from parlour.core.config.bots import BotRepository
from parlour.core.journal import UnitBuilder
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.ids import TranscriptId
from parlour.core.model.ports import Clock, Ids
from parlour.core.store import transcript
from parlour_sdk.protocol.history import HEARD

from .session import QueuedEvent


class HeardMessages:
    """Adds heard messages to the units that complete their events."""

    def __init__(self, bots: BotRepository, ids: Ids, clock: Clock) -> None:
        self._bots = bots
        self._ids = ids
        self._clock = clock

    def add(self, unit: UnitBuilder, entry: QueuedEvent) -> None:
        """Adds the transcript item of a message, if its bot keeps what it hears in groups."""
        envelope = entry.event.envelope
        if envelope.event_type != "message.received" or envelope.surface != PLATFORM_SURFACE or entry.transcript_seq:
            return
        bot = self._bots.get(envelope.bot_id)
        if envelope.data.get("chat_type") != "group" or bot is None or not bot.keeps_heard_messages:
            return
        transcript.add_user_item(unit, TranscriptId(self._ids.new()), entry.event, self._clock.now(), item_type=HEARD)
