"""The composition root: builds all objects of the core in one place. All other modules receive their dependencies."""

from collections.abc import Mapping
from dataclasses import field, replace

from parlour.core import actions
from parlour.core.access.audit_writer import AuditWriter
from parlour.core.actions.catalog import CatalogActions, InstalledPlugins
from parlour.core.actions.conversations import ConversationActions
from parlour.core.actions.gate import Gate, PluginGrants
from parlour.core.actions.platform_action import PlatformRequestActions
from parlour.core.actions.runs import RunActions
from parlour.core.actions.runtimes import RuntimeActions
from parlour.core.approvals.action_parser import ActionParser
from parlour.core.approvals.chat_commands import ApprovalCommands
from parlour.core.approvals.decisions import DecisionRecords
from parlour.core.approvals.planner import ApprovalActionPlanner
from parlour.core.approvals.requests import ActionRequestHandler
from parlour.core.approvals.service import ApprovalService
from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import BotRepository
from parlour.core.config.budgets import BudgetRepository
from parlour.core.config.default_agents import DefaultAgentRepository
from parlour.core.config.routes import RouteRepository
from parlour.core.config.schedules import ScheduleRepository
from parlour.core.config.webhooks import WebhookRepository
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.composer import MessageComposer
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.notices import FailureNotices, NoticePolicy
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.platform_surface import PlatformSurface
from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.delivery.row_states import RowStates
from parlour.core.delivery.send_log import NullSendLog, SendLog
from parlour.core.delivery.sender import Sender
from parlour.core.delivery.service import DeliveryService
from parlour.core.delivery.streaming.stream_publisher import StreamPublisher
from parlour.core.delivery.streaming.streams import Streams
from parlour.core.delivery.typing_indicator import TypingIndicator
from parlour.core.handlers.agent import AgentHandler
from parlour.core.handlers.dispatcher import EventDispatcher
from parlour.core.handlers.drop import DropHandler
from parlour.core.handlers.handler import Handlers, by_type
from parlour.core.handlers.listeners import ListenerHandler
from parlour.core.handlers.webhook import WebhookHandler
from parlour.core.ingest.acceptance import EventAcceptor
from parlour.core.ingest.builtin_commands import BuiltinCommands
from parlour.core.ingest.command_executor import CommandExecutor
from parlour.core.ingest.command_log import CommandLog
from parlour.core.ingest.gateway import Gateway
from parlour.core.ingest.observers import EventObservers
from parlour.core.ingest.scheduler import Scheduler
from parlour.core.journal import Journal
from parlour.core.model.command import CommandParser
from parlour.core.model.ports import Clock, Ids, PluginCaller, Surface
from parlour.core.model.providers import Providers
from parlour.core.models.budgeted_models import BudgetedModels
from parlour.core.models.days import Days
from parlour.core.models.reservations import Reservations
from parlour.core.pagination import Cursors
from parlour.core.platforms.connections import NullBots, PlatformBots
from parlour.core.platforms.names import NameDirectory
from parlour.core.plugin_hooks.commands import CommandReplies, PluginCommands
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour.core.plugin_hooks.dispatcher import ListenerDispatcher
from parlour.core.plugin_hooks.host_events import HostEvents, ResponseEvents
from parlour.core.plugin_hooks.prompt_hooks import PluginPromptHooks
from parlour.core.plugin_hooks.retries import ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.workers import RemoteWorkers
from parlour.core.reruns.rerun_executor import RerunExecutor
from parlour.core.reruns.reruns import Reruns, RerunTargets
from parlour.core.routing.agent_binder import AgentBinder
from parlour.core.routing.default_resolver import DefaultResolver
from parlour.core.routing.router import Router
from parlour.core.runs.active_run import ActiveRuns, RecorderFactory
from parlour.core.runs.attachment_prefetch import AttachmentPrefetcher
from parlour.core.runs.completion import RunCompleter
from parlour.core.runs.context_builder import RunContextBuilder
from parlour.core.runs.control import RunControl
from parlour.core.runs.conversation_deletion import ConversationEraser
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.fast_start import FastStart
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.loop_guard import LoopGuard
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.plugin_call import PluginRunner
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.run_checks import RunChecks
from parlour.core.runs.run_creation import RequestedTargets, RunCreator
from parlour.core.runs.run_grants import RunGrants
from parlour.core.runs.run_requests import RunRequestBuilder
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session import RunSessions
from parlour.core.runs.slots import RunSlotPool
from parlour.core.runs.starter import RunStarter
from parlour.core.runs.steering import SteeringQueue
from parlour.core.secrets import NullSecretBox, SecretBox
from parlour.core.store.artifact_service import ArtifactLimits, ArtifactService, LinkFetcher, NullLinkFetcher
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventAttachments
from parlour.core.store.feedback import FeedbackStore
from parlour.core.store.history import EventRecordReader, HistoryReader
from parlour.core.store.known_messages import KnownMessages
from parlour.core.store.objects import NullObjectStore, ObjectStore
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE
from parlour.core.texts.languages import Languages
from parlour.core.webhooks.client import NullWebhookSender, WebhookClient, WebhookSender
from parlour.core.webhooks.outbound import OutboundWebhooks
from parlour.core.webhooks.response_actions import WebhookActions, WebhookResponses
from parlour.version import VERSION
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class CorePorts:
    """Everything that differs between a Host, a test and a simulation."""

    journal: Journal
    plugins: PluginCaller
    clock: Clock
    ids: Ids
    components: ComponentRegistry = field(default_factory=ComponentRegistry)
    bots: PlatformBots = field(default_factory=NullBots)
    surfaces: Mapping[str, Surface] = field(default_factory=dict)
    send_log: SendLog = field(default_factory=NullSendLog)
    providers: Providers = field(default_factory=Providers)
    objects: ObjectStore = field(default_factory=NullObjectStore)
    fetcher: LinkFetcher = field(default_factory=NullLinkFetcher)
    sizes: ArtifactLimits = field(default_factory=ArtifactLimits)
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
    hook_sender: WebhookSender = field(default_factory=NullWebhookSender)
    secrets: SecretBox = field(default_factory=NullSecretBox)
    time_zone: str = "UTC"
    """Time zone of the workspace, in which its days begin and runs are given the time."""
    record_model_calls: bool = True
    language: str = DEFAULT_LANGUAGE
    """Language of the workspace, used for people whose own language is not known."""


@dataclass(frozen=True, slots=True)
class Core:
    """The objects of the core that the rest of the program uses."""

    agents: AgentRepository
    bots: BotRepository
    routes: RouteRepository
    default_agents: DefaultAgentRepository
    handlers: Handlers
    router: Router
    subscriptions: ListenerSubscriptions
    webhooks: OutboundWebhooks
    listener_retries: ListenerRetries
    registry: RunnerRegistry
    conversations: Conversations
    feed: Feed
    outbox: Outbox
    outcomes: Outcomes
    sessions: RunSessions
    lanes: Lanes
    artifacts: ArtifactService
    gateway: Gateway
    gate: Gate
    recovery: Recovery
    control: RunControl
    workers: RemoteWorkers
    audit_log: AuditWriter
    model_calls: ModelCallLog
    conversation_eraser: ConversationEraser
    names: NameDirectory
    schedules: ScheduleRepository
    budgets: BudgetRepository
    days: Days
    slots: RunSlotPool
    loop_guard: LoopGuard
    languages: Languages
    reservations: Reservations
    scheduler: Scheduler
    inbound_webhooks: WebhookRepository
    reruns: Reruns
    approvals: ApprovalService

    async def load(self) -> None:
        """Loads the configuration from the database."""
        await self.agents.load()
        await self.bots.load()
        await self.routes.load()
        await self.default_agents.load()
        await self.schedules.load()
        await self.inbound_webhooks.load()
        await self.budgets.load()

    async def recover(self) -> None:
        """Recovers unfinished work of an earlier process. Plugins should be discovered before."""
        await self.reservations.recover()
        await self.outbox.recover()
        await self.workers.recover()
        await self.reruns.recover()
        await self.conversation_eraser.recover()
        await self.webhooks.recover()
        await self.listener_retries.recover()
        await self.approvals.recover(self.lanes.enqueue)
        await self.gateway.recover()
        self.lanes.open(await self.recovery.recover_all())


def build_core(ports: CorePorts) -> Core:
    """Builds the core on the given ports. It loads and starts nothing."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    default_agents = DefaultAgentRepository(journal)
    agents = AgentRepository(journal, clock, default_agents.evict_agent)
    routes = RouteRepository(journal, ids)
    audience = ListenerSubscriptions(ports.components, ports.plugin_grants)
    binder = AgentBinder(agents)
    registry = RunnerRegistry()
    audit_log = AuditWriter(journal)
    model_calls = ModelCallLog(journal, ids, clock, ports.record_model_calls)
    sessions = RunSessions(audit_log.add)
    history = HistoryReader(journal, ports.cursors)
    artifacts = ArtifactService(journal, ports.objects, ports.fetcher, ids, clock, ports.sizes)
    outcomes = Outcomes()
    feed = Feed(clock)
    pace = PlatformRateLimiter()
    languages = Languages(ports.language)
    streams = Streams(journal, ports.bots, ids, clock, pace, languages)
    platforms = PlatformSurface(ports.bots, streams, pace, OutboxStore(journal), languages)
    surfaces = {"platform": platforms, **ports.surfaces}
    bots = BotRepository(journal, clock, default_agents.evict_bot)
    names = NameDirectory(journal, ports.bots, clock)
    listeners = ListenerDispatcher(audience, ports.plugins, bots, names, ports.listener_seconds)
    later = ListenerRetries(journal, listeners, clock)
    host_events = HostEvents(audience, later)
    responses = ResponseEvents(host_events, clock)
    prompting = PluginPromptHooks(audience, listeners, clock)
    tact = NoticePolicy(clock)
    losses = FailureNotices(journal, tact, languages, ids, clock)
    states = RowStates(journal, responses, losses, ports.send_log, clock)
    outbox = Outbox(journal, Sender(surfaces, states, ports.send_log, clock), clock)
    typing = TypingIndicator(ports.bots)
    delivery = DeliveryService(
        MessageComposer(feed, outbox, ports.bots, pace, ids, clock),
        StreamPublisher(streams, feed, outbox, ports.bots, typing),
        DeliveryPublisher(feed, outbox, streams, typing, tact, responses),
        feed,
    )
    endings = RunCompleter(delivery, tact, languages, ids, clock)
    days = Days(clock, ports.time_zone)
    cap = LoopGuard(ports.runs_per_sender, ports.runs_per_group, clock)
    checks = RunChecks(registry, ports.secrets, cap)
    grants = RunGrants(journal, ports.providers)
    contexts = RunContextBuilder(journal, ports.providers, history, delivery.composer, prompting, days, VERSION)
    openings = RunStarter(journal, grants, contexts, ids, clock)
    executor = ActionRowFactory(outbox, ports.bots, ids, clock)
    decisions = DecisionRecords(journal, sessions, agents, host_events)
    approvals = ApprovalService(journal, delivery, outbox, executor, decisions, languages, clock)
    parser = ActionParser(ports.bots, artifacts, KnownMessages(journal))
    planner = ApprovalActionPlanner(parser, approvals, executor, delivery.composer, languages, ids, clock)
    slots = RunSlotPool(ports.concurrent_runs, ports.runs_per_person)
    requests = ActionRequestHandler(journal, planner, approvals, delivery, outbox, slots, clock)
    recorders = RecorderFactory(journal, artifacts, delivery, planner, endings, ids, clock)
    recording = ActiveRuns(journal, recorders, sessions, delivery.publisher, outcomes)
    claims = RemoteRunQueue(journal, openings, contexts, recording, sessions, ids, clock)
    completer = EventCompleter(journal, endings, delivery.publisher, outcomes, clock)
    runner = PluginRunner(ports.plugins, clock)
    orchestrator = RunExecutor(openings, runner, AttachmentPrefetcher(artifacts), recording, sessions, claims)
    answers = WebhookResponses(delivery, WebhookActions(ports.bots, executor), journal)
    webhooks = OutboundWebhooks(journal, WebhookClient(ports.hook_sender, ports.secrets), answers, names, clock)
    handlers = by_type(
        [
            AgentHandler(binder, registry, checks, names, orchestrator, completer, clock),
            WebhookHandler(webhooks, bots, completer, ids, clock),
            ListenerHandler(journal, audience, listeners, later, completer, clock),
            DropHandler(completer),
        ]
    )
    defaults = DefaultResolver(agents, default_agents, audience.has_handlers)
    router = Router(routes, handlers, binder, defaults, clock)
    dispatcher = EventDispatcher(router, handlers, orchestrator, completer)
    steering = SteeringQueue(journal, sessions, router, ids, clock)
    recovery = Recovery(journal, agents, endings, delivery, outcomes, sessions)
    lanes = Lanes(dispatcher.handle, steering.claim, recovery.recover_lane, dispatcher.quarantine, slots)
    conversations = Conversations(journal, feed.publish_replacement)
    media = EventAttachments(artifacts)
    workers = RemoteWorkers(journal, claims, clock)
    control = RunControl(journal, sessions, lanes, claims, recording, completer, clock)
    creating = RunCreator(journal, RequestedTargets(router, checks, grants), conversations, media, lanes, ids, clock)
    rerun_executor = RerunExecutor(journal, runner, contexts, artifacts, sessions, clock)
    reruns = Reruns(journal, RerunTargets(agents, checks, grants), rerun_executor, sessions, ids, clock)
    commands = BuiltinCommands(router, conversations, control, languages, ids, clock)
    replies = CommandReplies(ports.bots, delivery, journal)
    plugin_commands = PluginCommands(ports.components, ports.plugins, router, bots, replies, languages)
    observers = EventObservers(audience, later)
    starts = FastStart(checks, openings, sessions, lanes, names)
    acceptor = EventAcceptor(journal, conversations, FeedbackStore(journal), observers, starts, ids, clock)
    command_log = CommandLog(journal, conversations, delivery, outcomes, host_events, ids, clock)
    command_parser = CommandParser([commands, ApprovalCommands(approvals, languages), plugin_commands])
    command_executor = CommandExecutor(command_parser, command_log, languages)
    gateway = Gateway(router, command_executor, observers, conversations, media, acceptor, clock)
    schedules = ScheduleRepository(journal, clock)
    budgets = BudgetRepository(journal, clock)
    reservations = Reservations(journal, days, ids, clock)
    budgeted = replace(ports.providers, models=BudgetedModels(ports.providers.models, budgets, reservations))
    return Core(
        agents=agents,
        bots=bots,
        routes=routes,
        default_agents=default_agents,
        handlers=handlers,
        router=router,
        subscriptions=audience,
        webhooks=webhooks,
        listener_retries=later,
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
            actions.bind_actions(
                journal,
                steering,
                budgeted,
                history,
                EventRecordReader(journal, ports.cursors),
                artifacts,
                RunActions(journal, control, creating, RunRequestBuilder(journal, ids, clock), ports.cursors),
                RuntimeActions(journal, workers, claims, control, clock),
                ConversationActions(conversations, ids, clock),
                CatalogActions(ports.plugin_list, ports.components),
                PlatformRequestActions(requests),
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
        conversation_eraser=ConversationEraser(journal, control, names, model_calls, ids, clock),
        names=names,
        schedules=schedules,
        inbound_webhooks=WebhookRepository(journal, clock),
        budgets=budgets,
        days=days,
        slots=slots,
        loop_guard=cap,
        languages=languages,
        reservations=reservations,
        scheduler=Scheduler(schedules, gateway, ids, clock),
        reruns=reruns,
        approvals=approvals,
    )
