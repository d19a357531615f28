"""Repository of default agents, cached in memory and written through: they are few and read for every event."""

from collections.abc import Callable, Iterator

from parlour.core.journal import ANY, Delete, GuardFailed, Insert, Journal, Row, Select, Statement, Unit, Update, where
from parlour.core.model.default_scope import WORKSPACE_SCOPE, DefaultScope, event_scopes
from parlour.core.model.event import ConversationKey, EventEnvelope
from parlour.core.model.ids import AgentId, BotId, DefaultAgentId
from parlour.core.store.tables import AGENTS, DEFAULT_AGENTS
from parlour_sdk.values import dataclass

from .bots import require_bot_exists

SCOPE_COLUMNS = ("platform", "bot_id", "chat", "thread_id", "actor_id")


@dataclass(frozen=True, slots=True)
class DefaultAgent:
    """Makes an agent the default of one scope."""

    default_id: DefaultAgentId
    place: DefaultScope
    agent_id: AgentId
    created_at: int = 0
    updated_at: int = 0


ScopeDefaults = tuple[DefaultAgent, ...]
"""Default agents of one scope.

The database rejects more than one; if there are several anyway, the reader reports a misconfiguration.
"""


class ScopeTaken(Exception):
    """Raised when another agent is the default of the scope."""


class TargetMissing(Exception):
    """Raised when the agent or bot of a new default agent was just deleted; `field` names which of them."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class DefaultAgentRepository:
    """All default agents. A caller that changes one passes further statements for the same unit: the audit entry."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._by_scope: dict[DefaultScope, ScopeDefaults] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(DEFAULT_AGENTS, order=("default_id",)))
        self._by_scope = {}
        for row in rows:
            self._cache(_decode(row))

    def get(self, default_id: DefaultAgentId) -> DefaultAgent | None:
        return next((each for each in self._iterate() if each.default_id == default_id), None)

    def all(self) -> list[DefaultAgent]:
        """Returns all default agents in the order of their creation."""
        return sorted(self._iterate(), key=lambda each: each.default_id)

    def for_scope(self, scope: DefaultScope) -> ScopeDefaults:
        return self._by_scope.get(scope, ())

    def nearest(self, event: EventEnvelope) -> ScopeDefaults:
        """Returns the default agents of the most specific scope of the event that has any, except the workspace."""
        if not self._by_scope:
            return ()
        return next((defaults for scope in event_scopes(event) if (defaults := self.for_scope(scope))), ())

    def for_workspace(self) -> ScopeDefaults:
        return self.for_scope(WORKSPACE_SCOPE)

    def for_conversation(self, key: ConversationKey) -> ScopeDefaults:
        """Returns the default agents of a conversation's thread, or of its chat if it has no thread."""
        if key.principal or not key.bot_id:
            return ()
        if key.thread_id:
            return self.for_scope(DefaultScope("thread", bot_id=key.bot_id, chat=key.chat, thread_id=key.thread_id))
        return self.for_scope(DefaultScope("conversation", bot_id=key.bot_id, chat=key.chat))

    async def add(self, default: DefaultAgent, *extra_statements: Statement) -> None:
        """Adds a default agent. Raises ScopeTaken or TargetMissing, and then nothing was written."""
        scope_columns = {name: getattr(default.place, name) for name in SCOPE_COLUMNS}
        row = {
            "default_id": default.default_id,
            "scope": default.place.scope,
            **scope_columns,
            "agent_id": default.agent_id,
        }
        insert = Insert(DEFAULT_AGENTS, {**row, "created_at": default.created_at, "updated_at": default.updated_at})
        await self._write("default_agent.add", insert, default, extra_statements)

    async def replace(self, previous: DefaultAgent, default: DefaultAgent, *extra_statements: Statement) -> None:
        """Replaces a default agent. Raises ScopeTaken if it was changed since it was read, or TargetMissing."""
        values: dict[str, str | int] = {"agent_id": default.agent_id, "updated_at": default.updated_at}
        conditions = where(default_id=previous.default_id, agent_id=previous.agent_id)
        await self._write(
            "default_agent.replace", Update(DEFAULT_AGENTS, {**values}, conditions), default, extra_statements
        )

    async def remove(self, default_id: DefaultAgentId, *extra_statements: Statement) -> None:
        removal = Delete(DEFAULT_AGENTS, where(default_id=default_id))
        await self._journal.commit(Unit("default_agent.remove", (removal, *extra_statements)))
        self.evict(lambda each: each.default_id == default_id)

    def evict(self, is_removed: Callable[[DefaultAgent], bool]) -> None:
        """Drops default agents from the cache whose rows were deleted together with something else."""
        remaining = {
            scope: tuple(each for each in defaults if not is_removed(each))
            for scope, defaults in self._by_scope.items()
        }
        self._by_scope = {scope: defaults for scope, defaults in remaining.items() if defaults}

    def evict_agent(self, agent_id: AgentId) -> None:
        self.evict(lambda each: each.agent_id == agent_id)

    def evict_bot(self, bot_id: BotId) -> None:
        self.evict(lambda each: each.place.bot_id == bot_id)

    async def _write(
        self, name: str, change: Statement, default: DefaultAgent, extra_statements: tuple[Statement, ...]
    ) -> None:
        """Commits a change, guarded by the existence of its agent and bot.

        Rows written after their removal would never be deleted. These guards come first, in the order in which a
        removal locks the same rows, so that the two can't deadlock.
        """
        guards: list[Statement] = [Update(AGENTS, {"agent_id": default.agent_id}, where(agent_id=default.agent_id))]
        if bot_id := default.place.bot_id:
            guards.append(require_bot_exists(bot_id))
        try:
            await self._journal.commit(Unit(name, (*guards, change, *extra_statements)))
        except GuardFailed as error:
            if error.statement == len(guards):
                raise ScopeTaken from error
            raise TargetMissing(("agent_id", "bot_id")[error.statement]) from error
        self.evict(lambda each: each.default_id == default.default_id)
        self._cache(default)

    def _cache(self, default: DefaultAgent) -> None:
        self._by_scope[default.place] = (*self.for_scope(default.place), default)

    def _iterate(self) -> Iterator[DefaultAgent]:
        for defaults in self._by_scope.values():
            yield from defaults


def _decode(row: Row) -> DefaultAgent:
    scope = DefaultScope(row["scope"], **{name: row[name] for name in SCOPE_COLUMNS})
    return DefaultAgent(row["default_id"], scope, row["agent_id"], row["created_at"], row["updated_at"])


def delete_statements(defaults: ScopeDefaults) -> list[Statement]:
    """Builds the statements that delete default agents, for the unit that removes what they belong to."""
    return [Delete(DEFAULT_AGENTS, where(default_id=each.default_id), expect=ANY) for each in defaults]
