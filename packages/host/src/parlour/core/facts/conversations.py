"""Conversations: opaque ids, made by the Host, one per chat, thread and (for web chat and API) agent and person."""

from collections import OrderedDict

from parlour.core.events.envelope import ConversationKey
from parlour.core.journal import GuardFailed, Insert, Journal, Select, Unit, where
from parlour.core.ports import Clock, Ids

from .tables import CONVERSATIONS

REMEMBERED = 4096


def create(conversation_id: str, key: ConversationKey, now: int) -> Insert:
    """Fails its guard when someone else was faster."""
    return Insert(
        CONVERSATIONS,
        {
            "conversation_id": conversation_id,
            **_columns(key),
            "generation": 0,
            "transcript_seq": 0,
            "created_at": now,
            "updated_at": now,
        },
    )


def _columns(key: ConversationKey) -> dict[str, str]:
    return {
        "workspace_id": key.workspace_id,
        "source": key.source,
        "bot_id": key.bot_id,
        "chat": key.chat,
        "thread_id": key.thread_id,
        "agent_id": key.agent_id,
        "principal": key.principal,
    }


class Conversations:
    """Finds a chat's conversation; the most recently used ones are remembered."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._recent: OrderedDict[ConversationKey, str] = OrderedDict()

    async def find(self, key: ConversationKey) -> str | None:
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        query = Select(
            CONVERSATIONS,
            where(**_columns(key)),
            columns=("conversation_id",),
            order=("generation",),
            direction="descending",
            limit=1,
            few=True,
        )
        rows = await self._journal.read(query)
        if not rows:
            return None
        return self.remember(key, rows[0]["conversation_id"])

    def remember(self, key: ConversationKey, conversation_id: str) -> str:
        self._recent[key] = conversation_id
        if len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)
        return conversation_id

    async def open(self, key: ConversationKey, ids: Ids, clock: Clock) -> str:
        """The chat's conversation, made when it is new."""
        while True:
            found = await self.find(key)
            if found is not None:
                return found
            fresh = ids.new()
            try:
                await self._journal.commit(Unit("conversation.open", (create(fresh, key, clock.now()),)))
            except GuardFailed:
                continue  # somebody else opened it just now
            return self.remember(key, fresh)
