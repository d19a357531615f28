"""The composition root: builds everything, in one readable place. Everyone else receives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from parlour.core.access.gate import Gate
from parlour.core.agents.book import AgentBook
from parlour.core.agents.registry import Registry
from parlour.core.delivery.delivery import Delivery
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.outbox import Outbox
from parlour.core.events.gateway import Gateway
from parlour.core.facts.conversations import Conversations
from parlour.core.journal import Journal
from parlour.core.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.routing.router import Router
from parlour.core.routing.routes import RouteBook
from parlour.core.runs.dispatcher import Dispatcher
from parlour.core.runs.ending import Endings
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.orchestrator import Orchestrator
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.session import Sessions
from parlour.core.runs.slots import Slots
from parlour.core.runs.steering import Steering

from . import actions

VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class Ports:
    """What differs between a Host, a test and a simulation."""

    journal: Journal
    plugins: PluginCaller
    clock: Clock
    ids: Ids
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    concurrent_runs: int = 256
    runs_per_person: int = 8


@dataclass(frozen=True, slots=True)
class Core:
    agents: AgentBook
    routes: RouteBook
    registry: Registry
    conversations: Conversations
    feed: Feed
    outbox: Outbox
    outcomes: Outcomes
    sessions: Sessions
    lanes: Lanes
    gateway: Gateway
    gate: Gate
    recovery: Recovery

    async def load(self) -> None:
        """What is configured."""
        await self.agents.load()
        await self.routes.load()

    async def take_up(self) -> None:
        """What is owed. Plugins should be discovered by then."""
        await self.outbox.recover()
        self.lanes.open(await self.recovery.everything())


def build_core(ports: Ports) -> Core:
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    agents = AgentBook(journal, clock)
    routes = RouteBook(journal, ids)
    router = Router(routes, agents)
    registry = Registry()
    sessions = Sessions()
    outcomes = Outcomes()
    feed = Feed(clock)
    outbox = Outbox(journal, ports.surfaces, clock)
    delivery = Delivery(feed, outbox, ids, clock)
    endings = Endings(delivery, ids, clock)
    orchestrator = Orchestrator(
        journal, ports.plugins, registry, sessions, delivery, endings, outcomes, ids, clock, VERSION
    )
    dispatcher = Dispatcher(router, orchestrator, endings, delivery, outcomes, journal, clock)
    steering = Steering(journal, sessions, router, ids, clock)
    recovery = Recovery(journal, agents, endings, delivery, outcomes, sessions)
    slots = Slots(ports.concurrent_runs, ports.runs_per_person)
    lanes = Lanes(dispatcher.handle, steering.claim, recovery.lane, slots)
    conversations = Conversations(journal)
    return Core(
        agents=agents,
        routes=routes,
        registry=registry,
        conversations=conversations,
        feed=feed,
        outbox=outbox,
        outcomes=outcomes,
        sessions=sessions,
        lanes=lanes,
        gateway=Gateway(journal, conversations, lanes, ids, clock),
        gate=Gate(actions.handlers(journal, steering, clock, VERSION), sessions, journal, clock, ids),
        recovery=recovery,
    )
