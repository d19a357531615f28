"""Finds the default agent of an event, besides the bot's routes, or the reason why none applies. It binds nothing."""

from collections.abc import Callable

from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_agents import DefaultAgentRepository, ScopeDefaults
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.default_scope import DefaultScope
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import AgentId
from parlour.core.model.reasons import Reason, make_reason
from parlour_sdk.values import dataclass

from .filters import mentions_bot


@dataclass(frozen=True, slots=True)
class DefaultCandidate:
    """Default agents of one scope; `reason` says why they don't accept the event, None if they do."""

    defaults: ScopeDefaults
    reason: Reason | None

    @property
    def place(self) -> DefaultScope:
        return self.defaults[0].place

    @property
    def label(self) -> str:
        return f"the default agent of {self.place.label}"


class DefaultResolver:
    """Finds default agents of events.

    `has_listeners` returns whether plugins handle events of a type that no route matches: they take precedence.
    """

    def __init__(
        self, agents: AgentRepository, defaults: DefaultAgentRepository, has_listeners: Callable[[str], bool]
    ) -> None:
        self._agents = agents
        self._defaults = defaults
        self._has_listeners = has_listeners

    def for_routed_event(self, event: EventEnvelope) -> DefaultCandidate | None:
        """Returns the default agent of a scope narrower than the bot, for an event that a route gives to an agent."""
        defaults = self._defaults.nearest(event)
        return DefaultCandidate(defaults, None) if defaults else None

    def for_unrouted_event(self, event: EventEnvelope) -> DefaultCandidate | None:
        """Returns the default agent of the narrowest scope or the workspace, for an event that no route matches."""
        defaults = self._defaults.nearest(event) or self._defaults.for_workspace()
        return DefaultCandidate(defaults, self._decline_reason(event, defaults)) if defaults else None

    def conflict_text(self, defaults: ScopeDefaults) -> str:
        return " and ".join(f"'{self._name(each.agent_id)}'" for each in defaults)

    def _decline_reason(self, event: EventEnvelope, defaults: ScopeDefaults) -> Reason | None:
        """Returns the reason why the default agents of a scope don't accept an event; None if they do.

        A default agent answers messages that address the bot, as a new bot does, and other events of the types it
        accepts. Its types are not checked for `message.received`: an agent that can't answer those is a
        misconfiguration, which is reported later.
        """
        if sent_by_bot(event):
            return make_reason("by_bot")
        if event.event_type.startswith("message.") and event.surface == PLATFORM_SURFACE and not mentions_bot(event):
            return make_reason("unaddressed")
        if event.event_type != "message.received" and not self._accepts(event.event_type, defaults):
            return make_reason("untaken", event_type=event.event_type)
        return make_reason("listened") if self._has_listeners(event.event_type) else None

    def _accepts(self, event_type: str, defaults: ScopeDefaults) -> bool:
        agents = [agent for each in defaults if (agent := self._agents.get(each.agent_id))]
        return any(agent.accepts(event_type) for agent in agents)

    def _name(self, agent_id: AgentId) -> str:
        agent = self._agents.get(agent_id)
        return agent.name if agent is not None else agent_id


def sent_by_bot(event: EventEnvelope) -> bool:
    """Returns whether a bot wrote the message. Routes accept only bots that they name, which prevents endless loops."""
    return event.event_type.startswith("message.") and bool(event.actor.data.get("is_bot"))
