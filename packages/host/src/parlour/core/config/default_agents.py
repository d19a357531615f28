"""All default agents. They are few and looked at for every event, so they are kept in memory and written through."""

from collections.abc import Callable, Iterator

from parlour.core.journal import ANY, Delete, GuardFailed, Insert, Journal, Row, Select, Statement, Unit, Update, where
from parlour.core.model.default_scope import WORKSPACE, Place, around
from parlour.core.model.event import ConversationKey, EventEnvelope
from parlour.core.store.tables import AGENTS, DEFAULT_AGENTS
from parlour_sdk.values import dataclass

from .bots import there

PLACED = ("platform", "bot_id", "chat", "thread_id", "actor_id")


@dataclass(frozen=True, slots=True)
class DefaultAgent:
    default_id: str
    place: Place
    agent_id: str
    created_at: int = 0
    updated_at: int = 0


Claims = tuple[DefaultAgent, ...]
"""Of one place. More than one is a mistake that the database refuses; whoever reads them says so if it got in."""


class PlaceTaken(Exception):
    """Another agent is the default one there."""


class NamedGone(Exception):
    """What it names was deleted just now; `field` is where it is named."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class DefaultAgentBook:
    """Whoever changes it hands over what is to be written with the change: the audit's entry of it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._claims: dict[Place, Claims] = {}

    async def load(self) -> None:
        self._claims = {}
        for row in await self._journal.read(Select(DEFAULT_AGENTS, order=("default_id",))):
            self._keep(_decode(row))

    def get(self, default_id: str) -> DefaultAgent | None:
        return next((each for each in self._each() if each.default_id == default_id), None)

    def all(self) -> list[DefaultAgent]:
        """In the order they were made."""
        return sorted(self._each(), key=lambda each: each.default_id)

    def at(self, place: Place) -> Claims:
        return self._claims.get(place, ())

    def nearest(self, event: EventEnvelope) -> Claims:
        """Of the most specific place around an event that has a default agent; the workspace is not looked at."""
        if not self._claims:
            return ()
        return next((claims for place in around(event) if (claims := self.at(place))), ())

    def of_workspace(self) -> Claims:
        return self.at(WORKSPACE)

    def of_conversation(self, key: ConversationKey) -> Claims:
        """Those of its thread, or of its chat if it is in none."""
        if key.principal or not key.bot_id:
            return ()
        if key.thread_id:
            return self.at(Place("thread", bot_id=key.bot_id, chat=key.chat, thread_id=key.thread_id))
        return self.at(Place("conversation", bot_id=key.bot_id, chat=key.chat))

    async def add(self, default: DefaultAgent, *also: Statement) -> None:
        """Raises PlaceTaken and NamedGone; then nothing was written."""
        placed = {name: getattr(default.place, name) for name in PLACED}
        row = {"default_id": default.default_id, "scope": default.place.scope, **placed, "agent_id": default.agent_id}
        insert = Insert(DEFAULT_AGENTS, {**row, "created_at": default.created_at, "updated_at": default.updated_at})
        await self._write("default_agent.add", insert, default, also)

    async def replace(self, before: DefaultAgent, default: DefaultAgent, *also: Statement) -> None:
        """Raises PlaceTaken when it is not any more what it was before, and NamedGone."""
        values: dict[str, str | int] = {"agent_id": default.agent_id, "updated_at": default.updated_at}
        known = where(default_id=before.default_id, agent_id=before.agent_id)
        await self._write("default_agent.replace", Update(DEFAULT_AGENTS, {**values}, known), default, also)

    async def remove(self, default_id: str, *also: Statement) -> None:
        removal = Delete(DEFAULT_AGENTS, where(default_id=default_id))
        await self._journal.commit(Unit("default_agent.remove", (removal, *also)))
        self.forget(lambda each: each.default_id == default_id)

    def forget(self, gone: Callable[[DefaultAgent], bool]) -> None:
        """Those whose rows were deleted with something else."""
        kept = {place: tuple(each for each in claims if not gone(each)) for place, claims in self._claims.items()}
        self._claims = {place: claims for place, claims in kept.items() if claims}

    def forget_agent(self, agent_id: str) -> None:
        self.forget(lambda each: each.agent_id == agent_id)

    def forget_bot(self, bot_id: str) -> None:
        self.forget(lambda each: each.place.bot_id == bot_id)

    async def _write(self, name: str, change: Statement, default: DefaultAgent, also: tuple[Statement, ...]) -> None:
        """Whom it names must be there still: nobody takes along what is written after they have gone.

        They come first, as they do where they are removed, so that neither waits for the other.
        """
        named: list[Statement] = [Update(AGENTS, {"agent_id": default.agent_id}, where(agent_id=default.agent_id))]
        if bot_id := default.place.bot_id:
            named.append(there(bot_id))
        try:
            await self._journal.commit(Unit(name, (*named, change, *also)))
        except GuardFailed as error:
            if error.statement == len(named):
                raise PlaceTaken from error
            raise NamedGone(("agent_id", "bot_id")[error.statement]) from error
        self.forget(lambda each: each.default_id == default.default_id)
        self._keep(default)

    def _keep(self, default: DefaultAgent) -> None:
        self._claims[default.place] = (*self.at(default.place), default)

    def _each(self) -> Iterator[DefaultAgent]:
        for claims in self._claims.values():
            yield from claims


def _decode(row: Row) -> DefaultAgent:
    place = Place(row["scope"], **{name: row[name] for name in PLACED})
    return DefaultAgent(row["default_id"], place, row["agent_id"], row["created_at"], row["updated_at"])


def removing(claims: Claims) -> list[Statement]:
    """To be written with what takes them along."""
    return [Delete(DEFAULT_AGENTS, where(default_id=each.default_id), expect=ANY) for each in claims]
