"""Conversations: opaque ids, made by the Host, one per chat, thread and (for web chat and API) agent and person.

A chat that begins anew has a further one, of the next generation; those before it stay as they are.
"""

from collections import OrderedDict
from collections.abc import Callable

from parlour.core.journal import GuardFailed, Insert, Journal, Row, Select, Unit, where
from parlour.core.model.event import ConversationKey
from parlour.core.model.ports import Clock, Ids

from .tables import CONVERSATIONS

REMEMBERED = 4096


def create(conversation_id: str, key: ConversationKey, now: int, generation: int = 0) -> Insert:
    """Fails its guard when someone else was faster."""
    return Insert(
        CONVERSATIONS,
        {
            "conversation_id": conversation_id,
            **_columns(key),
            "generation": generation,
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
    """Finds a chat's conversation; the most recently used ones are remembered.

    `moved` is told of a chat that began anew: the conversation before, and the one now.
    """

    def __init__(self, journal: Journal, moved: Callable[[str, str], None] = lambda before, now: None) -> None:
        self._journal = journal
        self._moved = moved
        self._recent: OrderedDict[ConversationKey, str] = OrderedDict()

    async def find(self, key: ConversationKey) -> str | None:
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        latest = await self._latest(key)
        if latest is None:
            return None
        return self.remember(key, latest["conversation_id"])

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

    async def renew(self, key: ConversationKey, ids: Ids, clock: Clock) -> str:
        """The chat begins anew. What goes on in the conversation before ends there."""
        while True:
            latest = await self._latest(key)
            fresh, generation = ids.new(), latest["generation"] + 1 if latest else 0
            try:
                statement = create(fresh, key, clock.now(), generation)
                await self._journal.commit(Unit("conversation.renew", (statement,)))
            except GuardFailed:
                continue  # somebody else did the same just now
            self.remember(key, fresh)
            if latest is not None:
                self._moved(latest["conversation_id"], fresh)
            return fresh

    async def renew_after(self, key: ConversationKey, seconds: float, ids: Ids, clock: Clock) -> None:
        """Begins anew if nothing was said for so long."""
        latest = await self._latest(key)
        if latest is not None and clock.now() - latest["updated_at"] > seconds * 1000:
            await self.renew(key, ids, clock)

    async def key(self, conversation_id: str) -> ConversationKey | None:
        """Whose conversation that is."""
        rows = await self._journal.read(Select(CONVERSATIONS, where(conversation_id=conversation_id), limit=1))
        return _key(rows[0]) if rows else None

    async def sessions(self, source: str, agent_id: str, principal: str) -> list[Row]:
        """Somebody's chats with an agent: of each the conversation that it goes on in, in no promised order."""
        own = where(principal=principal, source=source, agent_id=agent_id)
        rows = await self._journal.read(Select(CONVERSATIONS, own, order=("generation",)))
        return list({row["chat"]: row for row in rows}.values())

    async def _latest(self, key: ConversationKey) -> Row | None:
        columns = ("conversation_id", "generation", "updated_at")
        query = Select(CONVERSATIONS, where(**_columns(key)), columns, ("generation",), "descending", 1, few=True)
        rows = await self._journal.read(query)
        return rows[0] if rows else None


def _key(row: Row) -> ConversationKey:
    return ConversationKey(
        row["workspace_id"],
        row["source"],
        row["bot_id"],
        row["chat"],
        row["thread_id"],
        row["agent_id"],
        row["principal"],
    )
