"""Which default agent an event finds, beside the bot's routes. Says whose it is and why not; binds nothing."""

from collections.abc import Callable

from parlour.core.config.agents import AgentBook
from parlour.core.config.default_agents import Claims, DefaultAgentBook
from parlour.core.model.chats import SURFACE
from parlour.core.model.default_scope import Place
from parlour.core.model.event import EventEnvelope
from parlour.core.model.reasons import Reason, reason
from parlour_sdk.values import dataclass

from .filters import mentions_bot


@dataclass(frozen=True, slots=True)
class Considered:
    """A place that has a default agent; `reason` is why it does not take the event, none if it does."""

    claims: Claims
    reason: Reason | None

    @property
    def place(self) -> Place:
        return self.claims[0].place

    @property
    def label(self) -> str:
        return f"the default agent of {self.place.label}"


class DefaultResolver:
    """`listened` says whether plugins would handle events of a type that no route takes: they go first."""

    def __init__(self, agents: AgentBook, book: DefaultAgentBook, listened: Callable[[str], bool]) -> None:
        self._agents = agents
        self._book = book
        self._listened = listened

    def routed(self, event: EventEnvelope) -> Considered | None:
        """For an event that a route gives to an agent: whoever is nearer to it than the bot."""
        claims = self._book.nearest(event)
        return Considered(claims, None) if claims else None

    def unrouted(self, event: EventEnvelope) -> Considered | None:
        """For an event that no route takes: whoever is nearest, or the workspace's."""
        claims = self._book.nearest(event) or self._book.of_workspace()
        return Considered(claims, self._beyond(event, claims)) if claims else None

    def rivals(self, claims: Claims) -> str:
        return " and ".join(f"'{self._name(each.agent_id)}'" for each in claims)

    def _beyond(self, event: EventEnvelope, claims: Claims) -> Reason | None:
        """It answers who addresses the bot, as a new bot does, and takes what else it says that it takes.

        A message that it should answer and can't is a mistake in the configuration, so its types are not asked then.
        """
        if by_bot(event):
            return reason("by_bot")
        if event.event_type.startswith("message.") and event.surface == SURFACE and not mentions_bot(event):
            return reason("unaddressed")
        if event.event_type != "message.received" and not self._taken(event.event_type, claims):
            return reason("untaken", event_type=event.event_type)
        return reason("listened") if self._listened(event.event_type) else None

    def _taken(self, event_type: str, claims: Claims) -> bool:
        agents = [agent for each in claims if (agent := self._agents.get(each.agent_id))]
        return any(agent.takes(event_type) for agent in agents)

    def _name(self, agent_id: str) -> str:
        agent = self._agents.get(agent_id)
        return agent.name if agent is not None else agent_id


def by_bot(event: EventEnvelope) -> bool:
    """Two bots must not talk each other into the night: a route takes only those that it names."""
    return event.event_type.startswith("message.") and bool(event.actor.data.get("is_bot"))
