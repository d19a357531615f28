"""The composition root: builds all objects of the core in one place. All other modules receive their dependencies."""

from collections.abc import Mapping
from dataclasses import field, replace

from parlour.core import actions
from parlour.core.access.audit_writer import AuditLog
from parlour.core.actions.catalog import InstalledPlugins, ListingActions
from parlour.core.actions.conversations import ConversationActions
from parlour.core.actions.gate import Gate, PluginGrants
from parlour.core.actions.platform_action import PlatformActionRequests
from parlour.core.actions.runs import RunActions
from parlour.core.actions.runtimes import RuntimeActions
from parlour.core.approvals.chat_commands import Keywords
from parlour.core.approvals.decision_events import DecidedEvents
from parlour.core.approvals.decision_run_events import DecidedRunEvents
from parlour.core.approvals.planner import Planner
from parlour.core.approvals.requests import ActionRequests
from parlour.core.approvals.service import Approvals
from parlour.core.config.agents import AgentBook
from parlour.core.config.bots import BotBook
from parlour.core.config.budgets import BudgetBook
from parlour.core.config.default_agents import DefaultAgentBook
from parlour.core.config.routes import RouteBook
from parlour.core.config.schedules import ScheduleBook
from parlour.core.config.webhooks import WebhookBook
from parlour.core.delivery.action_rows import Executor
from parlour.core.delivery.composer import Delivery
from parlour.core.delivery.failure_notices import Undelivered
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.notice_policy import Tact
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.platform_surface import PlatformSurface
from parlour.core.delivery.rate_limits import Pace
from parlour.core.delivery.send_log import Handovers, NoHandovers
from parlour.core.delivery.streaming.streams import Streams
from parlour.core.delivery.typing_indicator import TypingSigns
from parlour.core.handlers.dispatcher import Dispatcher
from parlour.core.handlers.handlers import Handing
from parlour.core.ingest.builtin_commands import Commands
from parlour.core.ingest.command_executor import Obeying
from parlour.core.ingest.gateway import Gateway
from parlour.core.ingest.scheduler import Scheduler
from parlour.core.journal import Journal
from parlour.core.model.command import Control
from parlour.core.model.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.model.providers import Providers
from parlour.core.models.budgeted_models import Budgeted
from parlour.core.models.days import Days
from parlour.core.models.reservations import Reservations
from parlour.core.pagination import Cursors
from parlour.core.platforms.connections import NoBots, RunningBots
from parlour.core.platforms.names import NameDirectory
from parlour.core.plugin_hooks.commands import PluginCommands
from parlour.core.plugin_hooks.components import Components
from parlour.core.plugin_hooks.dispatcher import Listening
from parlour.core.plugin_hooks.host_events import HostEvents
from parlour.core.plugin_hooks.prompt_hooks import Prompting
from parlour.core.plugin_hooks.response_events import ResponseEvents
from parlour.core.plugin_hooks.retries import LaterListening
from parlour.core.plugin_hooks.subscriptions import Audience
from parlour.core.remote.queue import Claims
from parlour.core.remote.workers import Workers
from parlour.core.reruns.reruns import Reruns
from parlour.core.routing.default_resolver import DefaultResolver
from parlour.core.routing.router import Router
from parlour.core.runs.active_run import Recording
from parlour.core.runs.attachment_prefetch import Bringing
from parlour.core.runs.completion import Endings
from parlour.core.runs.control import RunControl
from parlour.core.runs.conversation_deletion import Erasing
from parlour.core.runs.executor import Orchestrator
from parlour.core.runs.fast_start import Beginnings
from parlour.core.runs.loop_guard import LoopCap
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.queue import Lanes
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.run_creation import Creating
from parlour.core.runs.run_requests import Commissions
from parlour.core.runs.runner_registry import Registry
from parlour.core.runs.session import Sessions
from parlour.core.runs.slots import Slots
from parlour.core.runs.starter import Openings
from parlour.core.runs.steering import Steering
from parlour.core.secrets import NoSecrets, SecretBox
from parlour.core.store.artifact_service import Artifacts, Fetcher, NoFetcher, Sizes
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventMedia
from parlour.core.store.feedback import Feedback
from parlour.core.store.history import EventRecords, History
from parlour.core.store.known_messages import KnownMessages
from parlour.core.store.objects import NoObjects, ObjectStore
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE
from parlour.core.texts.languages import Languages
from parlour.core.webhooks.attempt import HookSender, NoHookSender, Sending
from parlour.core.webhooks.outbound import Webhooks
from parlour.core.webhooks.response_actions import Answers
from parlour.core.webhooks.webhook_actions import WebhookActions
from parlour.version import VERSION
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything that differs between a Host, a test and a simulation."""

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
    """Runs that one sender may start per minute on a platform; 0 means no limit."""
    runs_per_group: int = 120
    """Runs that all senders of a group together may start per minute on a platform; 0 means no limit."""
    listener_seconds: float = 30
    hook_sender: HookSender = field(default_factory=NoHookSender)
    secrets: SecretBox = field(default_factory=NoSecrets)
    time_zone: str = "UTC"
    """Time zone of the workspace, in which its days begin and runs are given the time."""
    record_model_calls: bool = True
    language: str = DEFAULT_LANGUAGE
    """Language of the workspace, used for people whose own language is not known."""


@dataclass(frozen=True, slots=True)
class Core:
    """The objects of the core that the rest of the program uses."""

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
        """Loads the configuration from the database."""
        await self.agents.load()
        await self.bots.load()
        await self.routes.load()
        await self.default_agents.load()
        await self.schedules.load()
        await self.inbound.load()
        await self.budgets.load()

    async def take_up(self) -> None:
        """Recovers unfinished work of an earlier process. Plugins should be discovered before."""
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
    """Builds the core on the given ports. It loads and starts nothing."""
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
    languages = Languages(ports.language)
    streams = Streams(journal, ports.bots, ids, clock, pace, languages)
    platforms = PlatformSurface(ports.bots, streams, pace, OutgoingRows(journal), languages)
    surfaces = {"platform": platforms, **ports.surfaces}
    bots = BotBook(journal, clock, default_agents.forget_bot)
    names = NameDirectory(journal, ports.bots, clock)
    listeners = Listening(audience, ports.plugins, bots, names, ports.listener_seconds)
    later = LaterListening(journal, listeners, clock)
    host_events = HostEvents(audience, later)
    responses = ResponseEvents(host_events, clock)
    prompting = Prompting(audience, listeners, clock)
    tact = Tact(clock)
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
