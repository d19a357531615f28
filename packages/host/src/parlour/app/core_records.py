"""Builds the parts of the core below runs: configuration, records, plugin hooks and delivery."""

from parlour.core.access.audit_writer import AuditWriter
from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import BotRepository
from parlour.core.config.budgets import BudgetRepository
from parlour.core.config.default_agents import DefaultAgentRepository
from parlour.core.config.pipelines import PipelineRepository
from parlour.core.config.plugin_configs import PluginConfigs
from parlour.core.config.routes import RouteRepository
from parlour.core.config.schedules import ScheduleRepository
from parlour.core.config.webhooks import WebhookRepository
from parlour.core.config.word_lists import WordListRepository
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.composer import MessageComposer
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.held_replies import HeldReplies
from parlour.core.delivery.notices import FailureNotices, NoticePolicy
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.platform_surface import PlatformSurface
from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.delivery.rate_limits import PlatformRateLimiter
from parlour.core.delivery.reply_policy import ReplyPolicy
from parlour.core.delivery.row_states import RowStates
from parlour.core.delivery.sender import Sender
from parlour.core.delivery.service import DeliveryService
from parlour.core.delivery.streaming.stream_publisher import StreamPublisher
from parlour.core.delivery.streaming.streams import Streams
from parlour.core.delivery.typing_indicator import TypingIndicator
from parlour.core.jobs.jobs import Jobs
from parlour.core.memory.service import MemoryService
from parlour.core.message_policy.checks import FilterChecks
from parlour.core.message_policy.filters import TextFilters
from parlour.core.message_policy.moderation import ModerationFilter
from parlour.core.message_policy.outputs import OutputPolicies
from parlour.core.message_policy.word_lists import CompiledWordLists
from parlour.core.model.command_rules import CommandRules
from parlour.core.models.budgeted_models import BudgetedModels
from parlour.core.models.days import Days
from parlour.core.models.gated_models import with_effect_gate
from parlour.core.models.reported_usage import ReportedUsage
from parlour.core.models.reservations import Reservations
from parlour.core.platforms.directory import Directory
from parlour.core.platforms.names import NameDirectory
from parlour.core.plugin_hooks.dispatcher import ListenerDispatcher
from parlour.core.plugin_hooks.filtered_events import FilteredEvents
from parlour.core.plugin_hooks.host_events import HostEvents, ResponseEvents
from parlour.core.plugin_hooks.path_hooks import PathHooks
from parlour.core.plugin_hooks.prompt_hooks import PluginPromptHooks
from parlour.core.plugin_hooks.reply_hooks import PluginReplyHooks
from parlour.core.plugin_hooks.retries import ListenerRetries
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.plugin_hooks.text_filters import PluginFilter
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.conversations import Conversations
from parlour.core.store.event_attachments import EventAttachments
from parlour.core.store.history import HistoryReader
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from .core_ports import CorePorts


@dataclass(frozen=True, slots=True)
class ConfigParts:
    """The configuration that operators change."""

    agents: AgentRepository
    bots: BotRepository
    routes: RouteRepository
    default_agents: DefaultAgentRepository
    schedules: ScheduleRepository
    inbound_webhooks: WebhookRepository
    budgets: BudgetRepository
    word_lists: WordListRepository
    plugin_configs: PluginConfigs
    pipelines: PipelineRepository
    filters: TextFilters
    """Filters of message policies, which use the word lists."""
    languages: Languages
    command_rules: CommandRules


def build_config(ports: CorePorts) -> ConfigParts:
    """Builds the repositories of the configuration, empty until they are loaded, and the filters, languages and
    command rules.
    """
    journal, clock = ports.journal, ports.clock
    default_agents, word_lists = DefaultAgentRepository(journal), WordListRepository(journal, clock)
    return ConfigParts(
        agents=AgentRepository(journal, clock, default_agents.evict_agent),
        bots=BotRepository(journal, clock, default_agents.evict_bot),
        routes=RouteRepository(journal, ports.ids),
        default_agents=default_agents,
        schedules=ScheduleRepository(journal, ports.ownership, clock),
        inbound_webhooks=WebhookRepository(journal, clock),
        budgets=BudgetRepository(journal, clock),
        word_lists=word_lists,
        plugin_configs=PluginConfigs(journal, clock),
        pipelines=PipelineRepository(journal, clock),
        filters=TextFilters(CompiledWordLists(word_lists).find),
        languages=Languages(ports.language),
        command_rules=CommandRules(),
    )


@dataclass(frozen=True, slots=True)
class RecordParts:
    """The records that the core keeps, besides events and runs."""

    audit_log: AuditWriter
    model_calls: ModelCallLog
    history: HistoryReader
    artifacts: ArtifactService
    attachments: EventAttachments
    names: NameDirectory
    directory: Directory
    days: Days
    reservations: Reservations
    reported_usage: ReportedUsage
    memory: MemoryService


def build_records(ports: CorePorts, budgets: BudgetRepository) -> RecordParts:
    """Builds the parts that write and read records."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    artifacts = ArtifactService(journal, ports.objects, ports.fetcher, ids, clock, ports.sizes)
    days = Days(clock, ports.time_zone)
    return RecordParts(
        audit_log=AuditWriter(journal),
        model_calls=ModelCallLog(journal, ports.redactor, ids, clock, ports.record_model_calls),
        history=HistoryReader(journal, ports.cursors),
        artifacts=artifacts,
        attachments=EventAttachments(artifacts),
        names=NameDirectory(journal, ports.bots, clock),
        directory=Directory(journal),
        days=days,
        reservations=Reservations(journal, days, ids, clock),
        reported_usage=ReportedUsage(journal, budgets, days, clock),
        memory=MemoryService(journal, clock),
    )


@dataclass(frozen=True, slots=True)
class HookParts:
    """The calls of plugins about events."""

    subscriptions: ListenerSubscriptions
    listeners: ListenerDispatcher
    jobs: Jobs
    retries: ListenerRetries
    host_events: HostEvents
    responses: ResponseEvents
    prompt_hooks: PluginPromptHooks
    path: PathHooks
    filtered: FilteredEvents


def build_hooks(ports: CorePorts, config: ConfigParts, records: RecordParts) -> HookParts:
    """Builds the calls of plugin listeners and prompt hooks."""
    subscriptions = ListenerSubscriptions(ports.components, ports.plugin_grants)
    listeners = ListenerDispatcher(subscriptions, ports.plugins, config.bots, records.names, ports.listener_seconds)
    jobs = Jobs(ports.journal, ports.ids, ports.clock, ports.ownership, ports.job_owner)
    retries = ListenerRetries(ports.journal, jobs, listeners, ports.clock)
    jobs.register(retries)
    host_events = HostEvents(subscriptions, retries)
    responses = ResponseEvents(host_events, ports.clock)
    path = PathHooks(subscriptions, listeners)
    prompt_hooks = PluginPromptHooks(path, ports.clock)
    filtered = FilteredEvents(host_events, ports.ids, ports.clock)
    return HookParts(subscriptions, listeners, jobs, retries, host_events, responses, prompt_hooks, path, filtered)


@dataclass(frozen=True, slots=True)
class DeliveryParts:
    """The way of messages and actions to platforms and to the web chat."""

    feed: Feed
    outbox: Outbox
    service: DeliveryService
    notice_policy: NoticePolicy
    action_rows: ActionRowFactory
    conversations: Conversations
    reply_policy: ReplyPolicy
    held_replies: HeldReplies
    checks: FilterChecks


def build_delivery(ports: CorePorts, config: ConfigParts, records: RecordParts, hooks: HookParts) -> DeliveryParts:
    """Builds the outbox with its sender, and the parts that compose and publish messages."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    feed, limits, policy = Feed(clock), PlatformRateLimiter(), NoticePolicy(clock)
    streams = Streams(journal, ports.bots, ids, clock, limits, config.languages)
    platforms = PlatformSurface(ports.bots, streams, limits, OutboxStore(journal), config.languages)
    failures = FailureNotices(journal, policy, config.languages, ids, clock)
    states = RowStates(journal, ports.ownership, hooks.responses, failures, ports.send_log, clock)
    reply_policy = ReplyPolicy(journal, clock)
    surfaces = {"platform": platforms, **ports.surfaces}
    sender = Sender(surfaces, ports.ownership, states, reply_policy, ports.send_log, clock)
    outbox, typing = Outbox(journal, sender, ports.ownership, clock), TypingIndicator(ports.bots)
    checks = _build_checks(ports, config, records, hooks)
    service = DeliveryService(
        MessageComposer(feed, outbox, ports.bots, limits, config.languages, ids, clock),
        StreamPublisher(streams, feed, outbox, ports.bots, typing),
        DeliveryPublisher(feed, outbox, streams, typing, policy, hooks.responses),
        feed,
        OutputPolicies(config.filters, checks, config.languages, ports.pictures),
        PluginReplyHooks(hooks.path, clock),
        hooks.filtered,
    )
    action_rows = ActionRowFactory(outbox, ports.bots, ids, clock)
    return DeliveryParts(
        feed,
        outbox,
        service,
        policy,
        action_rows,
        Conversations(journal, feed.publish_replacement, ports.ownership),
        reply_policy,
        HeldReplies(journal, outbox, clock),
        checks,
    )


def _build_checks(ports: CorePorts, config: ConfigParts, records: RecordParts, hooks: HookParts) -> FilterChecks:
    """Builds the filters that ask models and plugins, within the budgets of the models."""
    models = BudgetedModels(
        with_effect_gate(ports.providers.models, ports.ownership), config.budgets, records.reservations
    )
    return FilterChecks(config.filters, ModerationFilter(models, ports.clock), PluginFilter(hooks.path, ports.clock))
