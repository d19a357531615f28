"""The composition root: builds everything, in one readable place. Everyone else receives."""

from collections.abc import Mapping
from dataclasses import field, replace

from parlour.core.access.audit_log import AuditLog
from parlour.core.access.gate import Gate, PluginGrants
from parlour.core.agents.book import AgentBook
from parlour.core.agents.registry import Registry
from parlour.core.approvals.approvals import Approvals
from parlour.core.approvals.decided_event import DecidedEvents
from parlour.core.approvals.decided_run_event import DecidedRunEvents
from parlour.core.approvals.keywords import Keywords
from parlour.core.approvals.planning import Planner
from parlour.core.approvals.requests import ActionRequests
from parlour.core.approvals.webhook_actions import WebhookActions
from parlour.core.budgets.book import BudgetBook
from parlour.core.budgets.budgeted import Budgeted
from parlour.core.budgets.days import Days
from parlour.core.budgets.reservations import Reservations
from parlour.core.commands.plugin_commands import PluginCommands
from parlour.core.components import Components
from parlour.core.cursors import Cursors
from parlour.core.delivery.bots import NoBots, RunningBots
from parlour.core.delivery.delivery import Delivery
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.growing.streams import Streams
from parlour.core.delivery.handovers import Handovers, NoHandovers
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.pace import Pace
from parlour.core.delivery.platform_surface import PlatformSurface
from parlour.core.delivery.tact import Tact
from parlour.core.delivery.typing_signs import TypingSigns
from parlour.core.delivery.undelivered import Undelivered
from parlour.core.events.commands import Commands
from parlour.core.events.control import Control
from parlour.core.events.gateway import Gateway
from parlour.core.events.media import EventMedia
from parlour.core.events.obeying import Obeying
from parlour.core.facts.conversations import Conversations
from parlour.core.facts.feedback import Feedback
from parlour.core.facts.history import EventRecords, History
from parlour.core.facts.keeping import Artifacts, Fetcher, NoFetcher, Sizes
from parlour.core.facts.outgoing import OutgoingRows
from parlour.core.inbound.book import WebhookBook
from parlour.core.journal import Journal
from parlour.core.listeners.audience import Audience
from parlour.core.listeners.host_events import HostEvents
from parlour.core.listeners.later import LaterListening
from parlour.core.listeners.listening import Listening
from parlour.core.listeners.prompting import Prompting
from parlour.core.listeners.responses import ResponseEvents
from parlour.core.objects import NoObjects, ObjectStore
from parlour.core.platforms.book import BotBook
from parlour.core.platforms.executing import Executor
from parlour.core.platforms.known_messages import KnownMessages
from parlour.core.platforms.names import NameDirectory
from parlour.core.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.providers import Providers
from parlour.core.routing.default_agents import DefaultAgentBook
from parlour.core.routing.resolving import DefaultResolver
from parlour.core.routing.router import Router
from parlour.core.routing.routes import RouteBook
from parlour.core.runs.beginning import Beginnings
from parlour.core.runs.bringing import Bringing
from parlour.core.runs.claims import Claims
from parlour.core.runs.commissions import Commissions
from parlour.core.runs.control import RunControl
from parlour.core.runs.creating import Creating
from parlour.core.runs.dispatcher import Dispatcher
from parlour.core.runs.ending import Endings
from parlour.core.runs.erasing import Erasing
from parlour.core.runs.handing import Handing
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.live import Recording
from parlour.core.runs.loop_cap import LoopCap
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.opening import Openings
from parlour.core.runs.orchestrator import Orchestrator
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.reruns import Reruns
from parlour.core.runs.session import Sessions
from parlour.core.runs.slots import Slots
from parlour.core.runs.steering import Steering
from parlour.core.runs.workers import Workers
from parlour.core.scheduling.book import ScheduleBook
from parlour.core.scheduling.scheduler import Scheduler
from parlour.core.secrets import NoSecrets, SecretBox
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE
from parlour.core.texts.languages import Languages
from parlour.core.webhooks.answers import Answers
from parlour.core.webhooks.hooks import Webhooks
from parlour.core.webhooks.sending import HookSender, NoHookSender, Sending
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass

from . import actions
from .actions.conversations import ConversationActions
from .actions.listing import InstalledPlugins, ListingActions
from .actions.platform_action import PlatformActionRequests
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
    components: Components = field(default_factory=Components)
    bots: RunningBots = field(default_factory=NoBots)
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    handovers: Handovers = field(default_factory=NoHandovers)
    providers: Providers = field(default_factory=Providers)
    objects: ObjectStore = field(default_factory=NoObjects)
    fetcher: Fetcher = field(default_factory=NoFetcher)
    sizes: Sizes = field(default_factory=Sizes)
    cursors: Cursors = field(default_factory=lambda: Cursors(""))
    plugin_grants: PluginGrants = lambda plugin_id: PluginPermissions()
    plugin_list: InstalledPlugins = tuple
    concurrent_runs: int = 256
    runs_per_person: int = 8
    runs_per_sender: int = 20
    """That one sender may begin in a minute on a platform; 0 is no limit."""
    runs_per_group: int = 120
    """The same for a whole group."""
    listener_seconds: float = 30
    hook_sender: HookSender = field(default_factory=NoHookSender)
    secrets: SecretBox = field(default_factory=NoSecrets)
    time_zone: str = "UTC"
    """The workspace's, by which its days begin and runs tell the time."""
    record_model_calls: bool = True
    language: str = DEFAULT_LANGUAGE
    """The workspace's, in which the Host speaks to people whose own it does not know."""


@dataclass(frozen=True, slots=True)
class Core:
    agents: AgentBook
    bots: BotBook
    routes: RouteBook
    default_agents: DefaultAgentBook
    router: Router
    audience: Audience
    webhooks: Webhooks
    later: LaterListening
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
    model_calls: ModelCallLog
    erasing: Erasing
    names: NameDirectory
    schedules: ScheduleBook
    budgets: BudgetBook
    days: Days
    slots: Slots
    loop_cap: LoopCap
    languages: Languages
    reservations: Reservations
    scheduler: Scheduler
    inbound: WebhookBook
    reruns: Reruns
    approvals: Approvals

    async def load(self) -> None:
        """What is configured."""
        await self.agents.load()
        await self.bots.load()
        await self.routes.load()
        await self.default_agents.load()
        await self.schedules.load()
        await self.inbound.load()
        await self.budgets.load()

    async def take_up(self) -> None:
        """What is owed. Plugins should be discovered by then."""
        await self.reservations.take_up()
        await self.outbox.recover()
        await self.workers.take_up()
        await self.reruns.take_up()
        await self.erasing.take_up()
        await self.webhooks.take_up()
        await self.later.take_up()
        await self.approvals.take_up(self.lanes.offer)
        await self.gateway.take_up()
        self.lanes.open(await self.recovery.everything())


def build_core(ports: Ports) -> Core:
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    default_agents = DefaultAgentBook(journal)
    agents = AgentBook(journal, clock, default_agents.forget_agent)
    routes = RouteBook(journal, ids)
    audience = Audience(ports.components, ports.plugin_grants)
    router = Router(routes, agents, DefaultResolver(agents, default_agents, audience.handled), clock)
    registry = Registry()
    audit_log = AuditLog(journal)
    model_calls = ModelCallLog(journal, ids, clock, ports.record_model_calls)
    sessions = Sessions(audit_log.add)
    history = History(journal, ports.cursors)
    artifacts = Artifacts(journal, ports.objects, ports.fetcher, ids, clock, ports.sizes)
    outcomes = Outcomes()
    feed = Feed(clock)
    pace = Pace()
    streams = Streams(journal, ports.bots, ids, clock, pace)
    surfaces = {"platform": PlatformSurface(ports.bots, streams, pace, OutgoingRows(journal)), **ports.surfaces}
    bots = BotBook(journal, clock, default_agents.forget_bot)
    names = NameDirectory(journal, ports.bots, clock)
    listeners = Listening(audience, ports.plugins, bots, names, ports.listener_seconds)
    later = LaterListening(journal, listeners, clock)
    host_events = HostEvents(audience, later)
    responses = ResponseEvents(host_events, clock)
    prompting = Prompting(audience, listeners, clock)
    tact = Tact(clock)
    languages = Languages(ports.language)
    losses = Undelivered(journal, tact, languages, ids, clock)
    outbox = Outbox(journal, surfaces, responses, losses, clock, ports.handovers)
    delivery = Delivery(feed, outbox, ports.bots, streams, TypingSigns(ports.bots), pace, tact, responses, ids, clock)
    endings = Endings(delivery, tact, languages, ids, clock)
    days = Days(clock, ports.time_zone)
    openings = Openings(
        journal, ports.providers, ports.secrets, history, delivery, prompting, ids, clock, days, VERSION
    )
    executor = Executor(outbox, ports.bots, ids, clock)
    decided, decided_in_runs = DecidedEvents(agents, host_events), DecidedRunEvents(journal, sessions)
    approvals = Approvals(journal, delivery, outbox, executor, decided, decided_in_runs, languages, clock)
    messages = KnownMessages(journal)
    planner = Planner(ports.bots, artifacts, messages, approvals, executor, delivery, languages, ids, clock)
    slots = Slots(ports.concurrent_runs, ports.runs_per_person)
    requests = ActionRequests(journal, planner, approvals, delivery, outbox, slots, clock)
    recording = Recording(journal, artifacts, delivery, planner, endings, ids, clock)
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
        Bringing(artifacts),
        clock,
    )
    answers = Answers(delivery, WebhookActions(ports.bots, executor), journal)
    webhooks = Webhooks(journal, Sending(ports.hook_sender, ports.secrets), answers, names, clock)
    handing = Handing(audience, listeners, later, webhooks, bots, endings, outcomes, journal, ids, clock)
    cap = LoopCap(ports.runs_per_sender, ports.runs_per_group, clock)
    dispatcher = Dispatcher(
        router, registry, orchestrator, handing, cap, endings, delivery, outcomes, names, journal, clock
    )
    steering = Steering(journal, sessions, router, ids, clock)
    recovery = Recovery(journal, agents, endings, delivery, outcomes, sessions)
    lanes = Lanes(dispatcher.handle, steering.claim, recovery.lane, dispatcher.give_up, slots)
    conversations = Conversations(journal, feed.moved)
    media = EventMedia(artifacts)
    workers = Workers(journal, claims, clock)
    control = RunControl(journal, sessions, lanes, claims, recording, endings, delivery, outcomes, clock)
    creating = Creating(journal, router, registry, ports.providers, conversations, media, lanes, ids, clock)
    reruns = Reruns(
        journal, ports.plugins, agents, registry, ports.providers, openings, artifacts, sessions, ids, clock
    )
    commands = Commands(router, conversations, control, languages, ids, clock)
    plugin_commands = PluginCommands(
        ports.components, ports.plugins, router, bots, ports.bots, delivery, languages, journal
    )
    gateway = Gateway(
        journal,
        conversations,
        media,
        Feedback(journal),
        router,
        audience,
        later,
        Control([commands, Keywords(approvals, languages), plugin_commands]),
        Obeying(journal, conversations, delivery, outcomes, host_events, languages, ids, clock),
        lanes,
        Beginnings(registry, openings, sessions, lanes, cap, names),
        ids,
        clock,
    )
    schedules = ScheduleBook(journal, clock)
    budgets = BudgetBook(journal, clock)
    reservations = Reservations(journal, days, ids, clock)
    budgeted = replace(ports.providers, models=Budgeted(ports.providers.models, budgets, reservations))
    return Core(
        agents=agents,
        bots=bots,
        routes=routes,
        default_agents=default_agents,
        router=router,
        audience=audience,
        webhooks=webhooks,
        later=later,
        registry=registry,
        conversations=conversations,
        feed=feed,
        outbox=outbox,
        outcomes=outcomes,
        sessions=sessions,
        lanes=lanes,
        artifacts=artifacts,
        gateway=gateway,
        gate=Gate(
            actions.handlers(
                journal,
                steering,
                budgeted,
                history,
                EventRecords(journal, ports.cursors),
                artifacts,
                RunActions(journal, control, creating, Commissions(journal, ids, clock), ports.cursors),
                RuntimeActions(journal, workers, claims, control, clock),
                ConversationActions(conversations, ids, clock),
                ListingActions(ports.plugin_list, ports.components),
                PlatformActionRequests(requests),
                model_calls,
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
        model_calls=model_calls,
        erasing=Erasing(journal, control, names, model_calls, ids, clock),
        names=names,
        schedules=schedules,
        inbound=WebhookBook(journal, clock),
        budgets=budgets,
        days=days,
        slots=slots,
        loop_cap=cap,
        languages=languages,
        reservations=reservations,
        scheduler=Scheduler(schedules, gateway, ids, clock),
        reruns=reruns,
        approvals=approvals,
    )
