"""The composition root: builds everything, in one readable place. Everyone else receives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from parlour.core.access.audit_log import AuditLog
from parlour.core.access.gate import Gate, PluginGrants
from parlour.core.agents.book import AgentBook
from parlour.core.agents.registry import Registry
from parlour.core.cursors import Cursors
from parlour.core.delivery.delivery import Delivery
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.outbox import Outbox
from parlour.core.events.gateway import Gateway
from parlour.core.events.media import EventMedia
from parlour.core.facts.conversations import Conversations
from parlour.core.facts.feedback import Feedback
from parlour.core.facts.history import EventRecords, History
from parlour.core.facts.keeping import Artifacts, Fetcher, NoFetcher, Sizes
from parlour.core.journal import Journal
from parlour.core.objects import NoObjects, ObjectStore
from parlour.core.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.providers import Providers
from parlour.core.routing.router import Router
from parlour.core.routing.routes import RouteBook
from parlour.core.runs.claims import Claims
from parlour.core.runs.commissions import Commissions
from parlour.core.runs.control import RunControl
from parlour.core.runs.creating import Creating
from parlour.core.runs.dispatcher import Dispatcher
from parlour.core.runs.ending import Endings
from parlour.core.runs.erasing import Erasing
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.live import Recording
from parlour.core.runs.opening import Openings
from parlour.core.runs.orchestrator import Orchestrator
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.session import Sessions
from parlour.core.runs.slots import Slots
from parlour.core.runs.steering import Steering
from parlour.core.runs.workers import Workers
from parlour_sdk.protocol.manifest import PluginPermissions

from . import actions
from .actions.conversations import ConversationActions
from .actions.runs import RunActions
from .actions.runtimes import RuntimeActions
from .version import VERSION


@dataclass(frozen=True, slots=True)
class Ports:
    """What differs between a Host, a test and a simulation."""

    journal: Journal
    plugins: PluginCaller
    clock: Clock
    ids: Ids
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    providers: Providers = field(default_factory=Providers)
    objects: ObjectStore = field(default_factory=NoObjects)
    fetcher: Fetcher = field(default_factory=NoFetcher)
    sizes: Sizes = field(default_factory=Sizes)
    cursors: Cursors = field(default_factory=lambda: Cursors(""))
    plugin_grants: PluginGrants = lambda plugin_id: PluginPermissions()
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
    artifacts: Artifacts
    gateway: Gateway
    gate: Gate
    recovery: Recovery
    control: RunControl
    workers: Workers
    audit_log: AuditLog
    erasing: Erasing

    async def load(self) -> None:
        """What is configured."""
        await self.agents.load()
        await self.routes.load()

    async def take_up(self) -> None:
        """What is owed. Plugins should be discovered by then."""
        await self.outbox.recover()
        await self.workers.take_up()
        self.lanes.open(await self.recovery.everything())


def build_core(ports: Ports) -> Core:
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    agents = AgentBook(journal, clock)
    routes = RouteBook(journal, ids)
    router = Router(routes, agents)
    registry = Registry()
    audit_log = AuditLog(journal)
    sessions = Sessions(audit_log.add)
    history = History(journal, ports.cursors)
    artifacts = Artifacts(journal, ports.objects, ports.fetcher, ids, clock, ports.sizes)
    outcomes = Outcomes()
    feed = Feed(clock)
    outbox = Outbox(journal, ports.surfaces, clock)
    delivery = Delivery(feed, outbox, ids, clock)
    endings = Endings(delivery, ids, clock)
    openings = Openings(journal, ports.providers, history, ids, clock, VERSION)
    recording = Recording(journal, artifacts, delivery, endings, ids, clock)
    claims = Claims(journal, openings, recording.live, sessions, delivery, outcomes, ids, clock)
    orchestrator = Orchestrator(
        journal,
        ports.plugins,
        registry,
        openings,
        recording.live,
        claims,
        sessions,
        delivery,
        endings,
        outcomes,
    )
    dispatcher = Dispatcher(router, orchestrator, endings, delivery, outcomes, journal, clock)
    steering = Steering(journal, sessions, router, ids, clock)
    recovery = Recovery(journal, agents, endings, delivery, outcomes, sessions)
    slots = Slots(ports.concurrent_runs, ports.runs_per_person)
    lanes = Lanes(dispatcher.handle, steering.claim, recovery.lane, slots)
    conversations = Conversations(journal)
    media = EventMedia(artifacts)
    workers = Workers(journal, claims, clock)
    control = RunControl(journal, sessions, lanes, claims, recording, endings, delivery, outcomes, clock)
    creating = Creating(journal, router, registry, ports.providers, conversations, media, lanes, ids, clock)
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
        artifacts=artifacts,
        gateway=Gateway(journal, conversations, media, Feedback(journal), router, lanes, ids, clock),
        gate=Gate(
            actions.handlers(
                journal,
                steering,
                ports.providers,
                history,
                EventRecords(journal, ports.cursors),
                artifacts,
                RunActions(journal, control, creating, Commissions(journal, ids, clock), ports.cursors),
                RuntimeActions(journal, workers, claims, control, clock),
                ConversationActions(conversations, ids, clock),
                ids,
                clock,
                VERSION,
            ),
            sessions,
            ports.plugin_grants,
            audit_log,
            journal,
            clock,
            ids,
        ),
        recovery=recovery,
        control=control,
        workers=workers,
        audit_log=audit_log,
        erasing=Erasing(journal, control, ids, clock),
    )
