"""Conversations: opaque ids, made by the Host, one per chat, thread and (for web chat and API) agent and person.

A chat that is restarted gets a new conversation of the next generation; the earlier ones stay unchanged.
"""

from collections import OrderedDict
from collections.abc import Callable

from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.cluster.parts import part_of, shard_part
from parlour.core.journal import GuardFailed, Insert, Journal, Row, Select, Unit, where
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import AgentId, BotId, ConversationId
from parlour.core.model.ports import Clock, Ids

from .tables import CONVERSATIONS

MAX_CACHED_CONVERSATIONS = 4096
"""Number of conversation ids that are cached; the least recently used is dropped first."""

MAX_ID_ATTEMPTS = 256
"""Ids to try for one in a part of this Host."""


def create(conversation_id: ConversationId, key: ConversationKey, now: int, generation: int = 0) -> Insert:
    """Builds the statement that inserts a conversation. It fails its guard if it was created concurrently."""
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
    """Finds the current conversation of a chat; the most recently used ones are cached.

    `on_replaced` is called with the previous and the new conversation when a chat is restarted.
    """

    def __init__(
        self,
        journal: Journal,
        on_replaced: Callable[[ConversationId, ConversationId], None] = lambda previous, new: None,
        ownership: Ownership | None = None,
    ) -> None:
        self._ownership = ownership or SoleOwner()
        self._journal = journal
        self._on_replaced = on_replaced
        self._recent: OrderedDict[ConversationKey, ConversationId] = OrderedDict()

    async def find(self, key: ConversationKey) -> ConversationId | None:
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        latest = await self._latest(key)
        if latest is None:
            return None
        return self.cache(key, latest["conversation_id"])

    def new_id(self, bot_id: BotId, ids: Ids) -> ConversationId:
        """Returns the id of a new conversation. One without a bot falls into a part that this Host owns, if any."""
        new_id = ConversationId(ids.new())
        if bot_id or self._ownership.is_sole:
            return new_id
        for _ in range(MAX_ID_ATTEMPTS):
            if self._ownership.owns(shard_part(new_id)):
                break
            new_id = ConversationId(ids.new())
        return new_id

    def forget_cached(self) -> None:
        """Empties the cache, because another Host may have restarted chats that this one owns from now on."""
        self._recent.clear()

    def cache(self, key: ConversationKey, conversation_id: ConversationId) -> ConversationId:
        """Remembers the conversation of a chat, unless another Host owns it and so may restart the chat."""
        if not (self._ownership.is_sole or self._ownership.owns(part_of(key.bot_id, conversation_id))):
            self._recent.pop(key, None)
            return conversation_id
        self._recent[key] = conversation_id
        if len(self._recent) > MAX_CACHED_CONVERSATIONS:
            self._recent.popitem(last=False)
        return conversation_id

    async def get_or_create(self, key: ConversationKey, ids: Ids, clock: Clock) -> ConversationId:
        """Returns the chat's conversation, and creates it if there is none."""
        while True:
            existing_id = await self.find(key)
            if existing_id is not None:
                return existing_id
            new_id = self.new_id(key.bot_id, ids)
            try:
                await self._journal.commit(Unit("conversation.open", (create(new_id, key, clock.now()),)))
            except GuardFailed:
                continue  # it was created concurrently
            return self.cache(key, new_id)

    async def start_new(self, key: ConversationKey, ids: Ids, clock: Clock) -> ConversationId:
        """Starts a new conversation in the chat. Active runs finish in the previous one."""
        while True:
            latest = await self._latest(key)
            new_id, generation = self.new_id(key.bot_id, ids), latest["generation"] + 1 if latest else 0
            try:
                statement = create(new_id, key, clock.now(), generation)
                await self._journal.commit(Unit("conversation.renew", (statement,)))
            except GuardFailed:
                continue  # another one was created concurrently
            self.cache(key, new_id)
            if latest is not None:
                self._on_replaced(latest["conversation_id"], new_id)
            return new_id

    async def start_new_if_idle(self, key: ConversationKey, seconds: float, ids: Ids, clock: Clock) -> None:
        """Starts a new conversation if the current one has been idle for longer than `seconds`."""
        latest = await self._latest(key)
        if latest is not None and clock.now() - latest["updated_at"] > seconds * 1000:
            await self.start_new(key, ids, clock)

    async def get_key(self, conversation_id: ConversationId) -> ConversationKey | None:
        """Returns the key of a conversation."""
        rows = await self._journal.read(Select(CONVERSATIONS, where(conversation_id=conversation_id), limit=1))
        return _key(rows[0]) if rows else None

    async def sessions(self, source: str, agent_id: AgentId, principal: str) -> list[Row]:
        """Returns the current conversation of each chat of a principal with an agent, in no particular order."""
        conditions = where(principal=principal, source=source, agent_id=agent_id)
        rows = await self._journal.read(Select(CONVERSATIONS, conditions, order=("generation",)))
        return list({row["chat"]: row for row in rows}.values())

    async def _latest(self, key: ConversationKey) -> Row | None:
        columns = ("conversation_id", "generation", "updated_at")
        query = Select(
            CONVERSATIONS, where(**_columns(key)), columns, ("generation",), "descending", 1, point_read=True
        )
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
