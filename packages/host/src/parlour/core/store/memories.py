"""Statements and queries of agents' memory."""

import hashlib
from typing import Any

from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, Statement, Update, Upsert, where
from parlour.core.model.chats import split_chat_key
from parlour.core.model.ids import BotId, ConversationId, RunId
from parlour.core.model.memory import CHAT_OWNER, Memory, MemoryOwner

from .tables import MEMORIES, MEMORY_CONSENTS

GRANTED, REFUSED = "granted", "refused"
PERSON_OWNER = "user"
"""Type of the people of platforms."""


def memory_id(owner: MemoryOwner, text: str) -> str:
    """Returns the id of a memory. The same sentence of the same owner has the same id, so it is stored once."""
    parts = "\0".join((*owner.columns().values(), " ".join(text.casefold().split())))
    return hashlib.blake2b(parts.encode(errors="replace"), digest_size=16).hexdigest()


def put(
    owner: MemoryOwner,
    memory: Memory,
    conversation_id: ConversationId,
    run_id: RunId,
    expires_at: int,
) -> Insert:
    """Stores a memory, or renews the one that says the same."""
    row: dict[str, Any] = {
        "memory_id": memory.memory_id,
        **owner.columns(),
        "chat": memory.chat,
        "conversation_id": conversation_id,
        "run_id": run_id,
        "text": memory.text,
        "origin": "agent",
        "private": int(memory.is_private),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": expires_at,
    }
    return Insert(MEMORIES, row, conflict=Upsert(("memory_id",), ("updated_at", "expires_at")))


def change(memory_id: str, text: str, now: int, before: int) -> Update:
    """Changes the text of a memory, if it was not changed since it was read."""
    values: dict[str, Any] = {"text": text, "origin": "operator", "updated_at": now}
    return Update(MEMORIES, values, where(memory_id=memory_id, updated_at=before))


def decide(owner: MemoryOwner, decision: str, now: int) -> Insert:
    """Stores whether the owner agrees to be remembered."""
    key = MEMORY_CONSENTS.key
    values: dict[str, Any] = {**owner.columns(), "decision": decision, "updated_at": now}
    return Insert(MEMORY_CONSENTS, values, conflict=Upsert(key, ("decision", "updated_at")))


def consent_guard(owner: MemoryOwner, needs_consent: bool) -> Update:
    """Fails its guard if the owner has refused, or has not agreed although that is needed."""
    decision = GRANTED if needs_consent else REFUSED
    conditions = where(**owner.columns(), decision=decision)
    return Update(MEMORY_CONSENTS, {"decision": decision}, conditions, expect=int(needs_consent))


def forget_all(owner: MemoryOwner) -> Delete:
    return Delete(MEMORIES, where(**owner.columns()), expect=ANY)


def forget_conversation(conversation_id: ConversationId, bot_id: BotId, chat: str, principal: str) -> list[Statement]:
    """Deletes what was said in a conversation, what belongs to its chat, and the person of a private chat."""
    mine = where(bot_id=bot_id, owner_type=CHAT_OWNER, owner_id=chat, principal=principal)
    key = split_chat_key(chat) if bot_id else None
    person = forget_person(PERSON_OWNER, key[1], bot_id) if key is not None and key[0] == "private" else []
    return [
        Delete(MEMORIES, where(conversation_id=conversation_id), expect=ANY),
        Delete(MEMORIES, mine, expect=ANY),
        Delete(MEMORY_CONSENTS, mine, expect=ANY),
        *person,
    ]


def forget_person(owner_type: str, owner_id: str, bot_id: BotId | None = None) -> list[Statement]:
    """Deletes everything about a person, and what the person decided; of one bot only if it is named."""
    bots = {} if bot_id is None else {"bot_id": bot_id}
    mine = where(owner_type=owner_type, owner_id=owner_id, **bots)
    return [Delete(MEMORIES, mine, expect=ANY), Delete(MEMORY_CONSENTS, mine, expect=ANY)]


class MemoryRecords:
    """Reads memories and decisions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def memory(self, memory_id: str) -> Row | None:
        rows = await self._journal.read(Select(MEMORIES, where(memory_id=memory_id), limit=1, point_read=True))
        return rows[0] if rows else None

    async def of_owner(self, owner: MemoryOwner, limit: int) -> list[Row]:
        """Returns the memories of an owner, the oldest first."""
        return await self._journal.read(
            Select(MEMORIES, where(**owner.columns()), order=("created_at", "memory_id"), limit=limit)
        )

    async def decision(self, owner: MemoryOwner) -> str:
        """Returns what the owner decided; empty if nothing."""
        query = Select(MEMORY_CONSENTS, where(**owner.columns()), ("decision",), limit=1, point_read=True)
        rows = await self._journal.read(query)
        return str(rows[0]["decision"]) if rows else ""
