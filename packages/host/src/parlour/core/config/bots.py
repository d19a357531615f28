"""Repository of bots, cached in memory and written through.

Secrets are sealed here; the code that connects a bot opens them.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, Statement, Unit, Update, Upsert, where
from parlour.core.model.ports import Clock
from parlour.core.store.tables import BOT_CURSORS, BOTS, DEFAULT_AGENTS, NAMES, ROUTES
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Bot:
    """One configured account of a platform."""

    bot_id: str
    name: str
    adapter: str
    config: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    """Sealed secrets, by the name of their field in the adapter's form."""
    enabled: bool = True

    def encode(self) -> str:
        definition = {name: getattr(self, name) for name in ("name", "adapter", "config", "secrets", "enabled")}
        return dumps(definition)


class BotRepository:
    """All bots. A caller that changes one passes further statements for the same unit: audit entry, first routes.

    `gone` is called with the id of a bot after it was removed.
    """

    def __init__(self, journal: Journal, clock: Clock, gone: Callable[[str], None] = lambda bot_id: None) -> None:
        self._journal = journal
        self._clock = clock
        self._on_removed = gone
        self._bots: dict[str, Bot] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(BOTS, order=("bot_id",)))
        self._bots = {row["bot_id"]: _decode(row) for row in rows}

    def get(self, bot_id: str) -> Bot | None:
        return self._bots.get(bot_id)

    def all(self) -> list[Bot]:
        """Returns all bots in the order of their creation."""
        return [self._bots[bot_id] for bot_id in sorted(self._bots)]

    async def add(self, bot: Bot, *also: Statement) -> None:
        now = self._clock.now()
        row: dict[str, str | int] = {"bot_id": bot.bot_id, "definition": bot.encode()}
        statement = Insert(BOTS, {**row, "created_at": now, "updated_at": now})
        await self._journal.commit(Unit("bot.add", (statement, *also)))
        self._bots[bot.bot_id] = bot

    async def replace(self, bot: Bot, *also: Statement) -> None:
        values: dict[str, str | int] = {"definition": bot.encode(), "updated_at": self._clock.now()}
        statement = Update(BOTS, {**values}, where(bot_id=bot.bot_id))
        await self._journal.commit(Unit("bot.replace", (statement, *also)))
        self._bots[bot.bot_id] = bot

    async def remove(self, bot_id: str, *also: Statement) -> None:
        """Removes a bot with its routes, default agents, names and platform cursor.

        Its conversations stay readable.
        """
        own = where(bot_id=bot_id)
        with_it = (Delete(table, own, expect=ANY) for table in (ROUTES, DEFAULT_AGENTS, BOT_CURSORS, NAMES))
        await self._journal.commit(Unit("bot.remove", (Delete(BOTS, own), *with_it, *also)))
        self._bots.pop(bot_id, None)
        self._on_removed(bot_id)


def require_bot_exists(bot_id: str) -> Statement:
    """Builds a statement that fails its guard if the bot does not exist.

    It is committed with rows that belong to a bot: rows written after its removal would never be deleted.
    """
    return Update(BOTS, {"bot_id": bot_id}, where(bot_id=bot_id))


def _decode(row: Row) -> Bot:
    return Bot(row["bot_id"], **loads(row["definition"]))


class PlatformCursors:
    """Stores how far each bot has read its platform's stream of events."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    async def get(self, bot_id: str) -> str | None:
        rows = await self._journal.read(Select(BOT_CURSORS, where(bot_id=bot_id), limit=1))
        return str(rows[0]["cursor"]) if rows else None

    def save_statement(self, bot_id: str, cursor: str) -> Insert:
        """Builds the statement that saves the cursor, to be committed with the last events before it."""
        row: dict[str, str | int] = {"bot_id": bot_id, "cursor": cursor, "updated_at": self._clock.now()}
        return Insert(BOT_CURSORS, {**row}, conflict=Upsert(("bot_id",), ("cursor", "updated_at")))

    async def save(self, bot_id: str, cursor: str) -> None:
        """Saves the cursor in a unit of its own, if there are no events to commit it with."""
        await self._journal.commit(Unit("bot.cursor", (self.save_statement(bot_id, cursor),)))
