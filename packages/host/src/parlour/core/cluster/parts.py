"""Assigns work to parts. A part is the unit of work that exactly one Host owns at a time.

A bot and all its conversations are one part, since its connection, its lanes and its outbox need one process.
Conversations without a bot are distributed over 64 shards. Duties are work of the whole installation.
"""

from typing import Final
from zlib import crc32

from parlour.core.model.ids import BotId, ConversationId, PartId

SHARD_COUNT: Final = 64
"""Number of shards; migration 0014 uses it too. Stored parts depend on it, so it can't be changed."""
SCHEDULES_DUTY: Final = PartId("duty:schedules")
"""The duty to fire schedules."""
SWEEPS_DUTY: Final = PartId("duty:sweeps")
"""The duty to delete what is kept no longer, and to repair what an end of a Host has left."""
DUTIES: Final = (SCHEDULES_DUTY, SWEEPS_DUTY)


def bot_part(bot_id: BotId) -> PartId:
    """Returns the part of a bot's work."""
    return PartId(f"bot:{bot_id}")


def shard_part(key: str) -> PartId:
    """Returns the part of work that belongs to no bot, by a key such as a conversation's id."""
    return PartId(f"shard:{crc32(key.encode()) % SHARD_COUNT:02}")


def part_of(bot_id: BotId, conversation_id: ConversationId) -> PartId:
    """Returns the part of a conversation and of everything that belongs to it."""
    return bot_part(bot_id) if bot_id else shard_part(conversation_id)
