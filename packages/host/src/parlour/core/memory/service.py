"""Remembers and forgets on behalf of agents, as far as their policy and the people concerned allow it."""

from collections.abc import Sequence

from parlour.core.access.audit import memory_entry
from parlour.core.journal import ANY, Delete, GuardFailed, Insert, Journal, Row, Unit, where
from parlour.core.model.chats import split_chat_key
from parlour.core.model.event import ConversationKey, Participant
from parlour.core.model.ids import AgentId
from parlour.core.model.memory import CHAT_OWNER, MAX_CHARACTERS, MAX_ENTRIES, Memory, MemoryOwner, MemoryPolicy
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext
from parlour.core.store import memories as records
from parlour.core.store.memories import GRANTED, REFUSED, MemoryRecords
from parlour.core.store.tables import MEMORIES
from parlour_sdk.values import dataclass

NOT_PEOPLE = ("system", "webhook", "schedule")
"""Types of actors that have no memory of their own."""
DAY_MILLISECONDS = 86_400_000


class MemoryRefused(Exception):
    """Raised when something may not be remembered, with a code and what would help."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Whose memory a message may use, and where the message was written."""

    owner: MemoryOwner
    chat: str
    is_private: bool
    """True if only the owner reads the answer."""

    def shows(self, row: Row) -> bool:
        """Returns whether a memory may be used here. What was said in private, or in another group, stays there."""
        return self.is_private or self.owner.owner_type == CHAT_OWNER or row["chat"] == self.chat


def place_of(agent_id: AgentId, policy: MemoryPolicy, key: ConversationKey, actor: Participant) -> MemoryPlace | None:
    """Returns the place of a message; None if there is no person to remember for."""
    split = split_chat_key(key.chat) if key.bot_id else None
    is_private = split is None or split[0] != "group"
    if policy.scope == "chat":
        owner = MemoryOwner(agent_id, key.bot_id, CHAT_OWNER, key.chat, key.principal)
    elif policy.scope == "person" and actor.id and actor.type not in NOT_PEOPLE:
        owner = MemoryOwner(agent_id, key.bot_id, actor.type, actor.id)
    else:
        return None
    return MemoryPlace(owner, key.chat, is_private)


class MemoryService:
    """The memory of all agents."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self.records = MemoryRecords(journal)
        self._journal = journal
        self._clock = clock

    async def remember(self, place: MemoryPlace, policy: MemoryPolicy, text: str, context: CallContext) -> str:
        """Stores a sentence and returns its id. Raises MemoryRefused."""
        text, owner, now = text.strip(), place.owner, self._clock.now()
        if not text or len(text) > MAX_CHARACTERS:
            raise MemoryRefused("invalid_argument", f"text: write 1 to {MAX_CHARACTERS} characters")
        name = records.memory_id(owner, text)
        stored = await self.records.of_owner(owner, policy.max_entries)
        if len(stored) >= policy.max_entries and name not in {row["memory_id"] for row in stored}:
            message = f"the memory holds {policy.max_entries} sentences, the most that it may; forget some first"
            raise MemoryRefused("capacity_exceeded", message)
        memory = Memory(name, text, place.chat, place.is_private, now, now)
        expires_at = now + round(policy.retention_days * DAY_MILLISECONDS) if policy.retention_days else 0
        statements = (
            records.consent_guard(owner, policy.consent),
            records.put(owner, memory, context.conversation_id, context.run_id, expires_at),
            memory_entry(context, "memory.remember", name, {"characters": len(text)}, now),
        )
        try:
            await self._journal.commit(Unit("memory.remember", statements))
        except GuardFailed:
            raise await self._refusal(owner) from None
        return name

    async def usable(self, place: MemoryPlace) -> list[Memory]:
        """Returns the memories that may be used at this place, the oldest first."""
        now = self._clock.now()
        rows = await self.records.of_owner(place.owner, MAX_ENTRIES)
        return [memory_of(row) for row in rows if place.shows(row) and not 0 < row["expires_at"] <= now]

    async def forget(self, place: MemoryPlace, memory_ids: Sequence[str], context: CallContext) -> int:
        """Deletes memories of the owner that may be used at this place. Returns how many there were."""
        known = {memory.memory_id for memory in await self.usable(place)}
        wanted = [each for each in dict.fromkeys(memory_ids) if each in known]
        if not wanted:
            return 0
        now = self._clock.now()
        deletes = [Delete(MEMORIES, where(memory_id=each, **place.owner.columns()), expect=ANY) for each in wanted]
        entries = [memory_entry(context, "memory.forget", each, {}, now) for each in wanted]
        await self._journal.commit(Unit("memory.forget", (*deletes, *entries)))
        return len(wanted)

    async def allow(self, owner: MemoryOwner) -> None:
        """Records that the owner agrees to be remembered."""
        await self._journal.commit(Unit("memory.consent", (records.decide(owner, GRANTED, self._clock.now()),)))

    async def refuse(self, owner: MemoryOwner) -> None:
        """Deletes everything about the owner, and records that nothing may be remembered."""
        refusal = records.decide(owner, REFUSED, self._clock.now())
        await self._journal.commit(Unit("memory.consent", (refusal, records.forget_all(owner))))

    async def change(self, row: Row, text: str, entry: Insert) -> None:
        """Changes a text on behalf of an operator. Raises GuardFailed if it was changed in the meantime."""
        update = records.change(row["memory_id"], text, self._clock.now(), row["updated_at"])
        await self._journal.commit(Unit("memory.change", (update, entry)))

    async def remove(self, memory_id: str, entry: Insert) -> None:
        """Deletes one memory on behalf of an operator. Raises GuardFailed if there is none."""
        await self._journal.commit(Unit("memory.remove", (Delete(MEMORIES, where(memory_id=memory_id)), entry)))

    async def remove_person(self, owner_type: str, owner_id: str, entry: Insert) -> None:
        """Deletes everything that all agents remember about a person or chat, and what was decided there."""
        statements = (*records.forget_person(owner_type, owner_id), entry)
        await self._journal.commit(Unit("memory.remove", statements))

    async def _refusal(self, owner: MemoryOwner) -> MemoryRefused:
        if await self.records.decision(owner) == REFUSED:
            message = "nothing may be remembered here: it was refused with /memory off. Don't ask for it again"
        else:
            message = (
                "nothing may be remembered yet. If it is useful, tell the user that you can remember things after they "
                "send the message /memory on, and that /memory off deletes everything again"
            )
        return MemoryRefused("consent_needed", message)


def memory_of(row: Row) -> Memory:
    """Returns the memory of a row."""
    return Memory(
        row["memory_id"], row["text"], row["chat"], bool(row["private"]), row["created_at"], row["updated_at"]
    )
