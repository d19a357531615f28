"""Repository of bots, and of how far each has read its platform's events.

Secrets are sealed here; the code that connects a bot opens them.
"""

from dataclasses import field
from typing import Any

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import part_of
from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Statement, Unit, Update, Upsert, where
from parlour.core.model.ids import NO_CONVERSATION, BotId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import (
    BOT_CURSORS,
    BOTS,
    DEFAULT_AGENTS,
    DIRECTORY,
    DIRECTORY_MEMBERS,
    DIRECTORY_MESSAGES,
    NAMES,
    REPLY_ALLOWANCES,
    ROUTES,
)
from parlour_sdk.values import dataclass

from .cached_repository import CachedRepository, RemovalHook, RowMapping, UnitNames


@dataclass(frozen=True, slots=True)
class Bot:
    """One configured account of a platform."""

    bot_id: BotId
    name: str
    adapter: str
    config: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    """Sealed secrets, by the name of their field in the adapter's form."""
    enabled: bool = True
    keeps_heard_messages: bool = True
    """True if messages of groups that don't address the bot are kept for the agent's context."""

    def encode(self) -> str:
        return dumps({name: getattr(self, name) for name in DEFINITION_FIELDS})


DEFINITION_FIELDS = ("name", "adapter", "config", "secrets", "enabled", "keeps_heard_messages")
BOT_ROWS = RowMapping[BotId, Bot](
    BOTS,
    UnitNames(add="bot.add", replace="bot.replace", remove="bot.remove"),
    item_id=lambda bot: bot.bot_id,
    encode=lambda bot: {"definition": bot.encode()},
    decode=lambda row: Bot(row["bot_id"], **loads(row["definition"])),
    owned_tables=(
        ROUTES,
        DEFAULT_AGENTS,
        BOT_CURSORS,
        NAMES,
        DIRECTORY,
        DIRECTORY_MEMBERS,
        DIRECTORY_MESSAGES,
        REPLY_ALLOWANCES,
    ),
)


class BotRepository(CachedRepository[BotId, Bot]):
    """All bots. A bot is removed with its routes, default agents, names, directory and platform cursor.

    Its conversations stay readable.
    """

    def __init__(self, journal: Journal, clock: Clock, *on_removed: RemovalHook[BotId]) -> None:
        super().__init__(journal, clock, BOT_ROWS, *on_removed)


def require_bot_exists(bot_id: BotId) -> Statement:
    """Builds a statement that fails its guard if the bot does not exist.

    It is committed with rows that belong to a bot: rows written after its removal would never be deleted.
    """
    return Update(BOTS, {"bot_id": bot_id}, where(bot_id=bot_id))


class PlatformCursors:
    """Stores how far each bot has read its platform's stream of events."""

    def __init__(self, journal: Journal, ownership: Ownership, clock: Clock) -> None:
        self._journal = journal
        self._ownership = ownership
        self._clock = clock

    async def get(self, bot_id: BotId) -> str | None:
        rows = await self._journal.read(Select(BOT_CURSORS, where(bot_id=bot_id), limit=1))
        return str(rows[0]["cursor"]) if rows else None

    def save_statements(self, bot_id: BotId, cursor: str) -> tuple[Statement, ...]:
        """Builds the statements that save the cursor, to be committed with the last events before it.

        They fail their guard if another Host owns the bot by now.
        """
        row: dict[str, str | int] = {"bot_id": bot_id, "cursor": cursor, "updated_at": self._clock.now()}
        insert = Insert(BOT_CURSORS, {**row}, conflict=Upsert(("bot_id",), ("cursor", "updated_at")))
        return (insert, *self._ownership.guards(part_of(bot_id, NO_CONVERSATION)))

    async def save(self, bot_id: BotId, cursor: str) -> None:
        """Saves the cursor in a unit of its own, if there are no events to commit it with."""
        await self._journal.commit(Unit("bot.cursor", self.save_statements(bot_id, cursor)))
