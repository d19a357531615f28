"""Brings results of other Hosts to the clients of this one: messages of a chat, and outcomes of events.

A client may be connected to another Host than the owner of its conversation. What the owner has committed is read back
by its number; only deltas are missing.
"""

from typing import Final

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.parts import shard_part
from parlour.core.delivery.feed import Frame, outgoing_frame, run_frame
from parlour.core.journal import Journal, Select, one_of, where
from parlour.core.model.ids import ConversationId
from parlour.core.model.ports import Clock
from parlour.core.store.inbox import InboxOutcome
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import INBOX, OUTCOMES

from ..core import Core

OVERLAP_MICROSECONDS: Final = 2_000_000
"""How far each reading goes back: frames have the numbers of their time, and may be committed in another order."""
MAX_FRAMES = 100
"""Messages of a conversation per reading."""
MAX_EVENTS = 500


class RemoteResults:
    """Reads what the owners of other parts have committed for waiting clients."""

    def __init__(self, journal: Journal, core: Core, ownership: LeasedOwnership, clock: Clock) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._rows = OutboxStore(journal)
        self._core = core
        self._ownership = ownership
        self._clock = clock
        self._owned: set[ConversationId] = set()
        """Conversations with clients that this Host owned at the last step."""
        self._published: dict[ConversationId, set[int]] = {}
        """Numbers of the latest frames of each conversation."""

    async def step(self) -> None:
        """Publishes what is new. Raises StorageFailed."""
        await self._publish_frames()
        await self._publish_outcomes()

    async def _publish_frames(self) -> None:
        feed = self._core.feed
        subscribed = feed.subscribed_conversations()
        remote = [each for each in subscribed if not self._ownership.owns(shard_part(each))]
        departed = {each for each in self._owned if not self._ownership.holds(shard_part(each))}
        for conversation_id in departed.intersection(remote):
            feed.publish_departure(conversation_id)
        self._owned = {each for each in subscribed if self._ownership.holds(shard_part(each))}
        self._published = {each: self._published.get(each, set()) for each in remote}
        since = self._clock.now() * 1000 - OVERLAP_MICROSECONDS
        for conversation_id in remote:
            published = self._published[conversation_id]
            frames = await self._frames_after(conversation_id, since)
            for frame in sorted(frames, key=lambda each: int(each["seq"])):
                if frame["seq"] not in published:
                    feed.publish_remote(conversation_id, frame)
            self._published[conversation_id] = {int(frame["seq"]) for frame in frames}

    async def _frames_after(self, conversation_id: ConversationId, seq: int) -> list[Frame]:
        rows = await self._rows.shown_after(conversation_id, seq, MAX_FRAMES)
        ended = await self._ledger.ended_after(conversation_id, seq)
        return [
            *map(outgoing_frame, rows),
            *(run_frame(run["run_id"], run["status"], run["feed_seq"]) for run in ended),
        ]

    async def _publish_outcomes(self) -> None:
        awaited = self._core.outcomes.awaited_events()[:MAX_EVENTS]
        if not awaited:
            return
        events = where(event_seq=one_of(*awaited))
        pending = {row["event_seq"] for row in await self._journal.read(Select(INBOX, events, ("event_seq",)))}
        self._core.outcomes.publish(
            InboxOutcome(row["event_seq"], row["outcome"], row["reason"], row["run_id"])
            for row in await self._journal.read(Select(OUTCOMES, events))
            if row["event_seq"] not in pending
        )
