"""Builds the parts of the core above runs: handlers, lanes, the gateway of events and the gate of plugin calls."""

from dataclasses import replace

from parlour.core.access.denial_log import DenialLog
from parlour.core.actions.catalog import CatalogActions
from parlour.core.actions.conversations import ConversationActions
from parlour.core.actions.effect_gate import with_effect_gate
from parlour.core.actions.gate import Gate
from parlour.core.actions.gateway import GatewayActions, GatewayTokens
from parlour.core.actions.history import EventActions, HistoryActions
from parlour.core.actions.host import HostInfoActions
from parlour.core.actions.live_questions import LiveQuestionActions
from parlour.core.actions.platform_action import PlatformRequestActions
from parlour.core.actions.plugin_config import PluginConfigActions
from parlour.core.actions.processes import ProcessActions
from parlour.core.actions.runs import RunActions
from parlour.core.actions.runtimes import RuntimeActions
from parlour.core.actions.steering import SteeringActions
from parlour.core.approvals.chat_commands import ApprovalCommands
from parlour.core.approvals.decisions import DecisionRecords
from parlour.core.approvals.service import ApprovalService
from parlour.core.handlers.agent import AgentHandler
from parlour.core.handlers.dispatcher import EventDispatcher
from parlour.core.handlers.drop import DropHandler
from parlour.core.handlers.handler import Handlers, by_type
from parlour.core.handlers.listeners import ListenerHandler
from parlour.core.handlers.pipeline import PipelineHandler
from parlour.core.handlers.webhook import WebhookHandler
from parlour.core.ingest.acceptance import EventAcceptor
from parlour.core.ingest.arrivals import Arrivals
from parlour.core.ingest.builtin_commands import BuiltinCommands
from parlour.core.ingest.command_executor import CommandExecutor
from parlour.core.ingest.command_log import CommandLog
from parlour.core.ingest.gateway import Gateway
from parlour.core.ingest.info_commands import InfoCommands
from parlour.core.ingest.memory_commands import MemoryCommands
from parlour.core.ingest.observers import EventObservers
from parlour.core.ingest.preparation import EventPreparer, OutdatedSuggestions
from parlour.core.message_policy.limits import MessageLimits
from parlour.core.model.command import CommandParser
from parlour.core.models import gated_models
from parlour.core.models.budgeted_models import BudgetedModels
from parlour.core.plugin_hooks.commands import CommandReplies, PluginCommands
from parlour.core.plugin_hooks.direct_replies import DirectReplies
from parlour.core.remote.workers import RemoteWorkers
from parlour.core.reruns.rehearsals import HookRehearsals
from parlour.core.reruns.rerun_executor import RerunExecutor
from parlour.core.reruns.reruns import Reruns, RerunTargets
from parlour.core.routing.agent_binder import AgentBinder
from parlour.core.routing.default_resolver import DefaultResolver
from parlour.core.routing.router import Router
from parlour.core.runs.control import RunControl
from parlour.core.runs.fast_start import FastStart
from parlour.core.runs.gathering import Gathering
from parlour.core.runs.heard_messages import HeardMessages
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.policy_turns import PolicyTurns
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.run_creation import RequestedTargets, RunCreator
from parlour.core.runs.run_requests import RunRequestBuilder
from parlour.core.runs.steering import SteeringQueue
from parlour.core.runs.transcript_corrections import TranscriptCorrections
from parlour.core.store.feedback import FeedbackStore
from parlour.core.store.history import EventRecordReader
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.webhooks.client import WebhookClient
from parlour.core.webhooks.outbound import OutboundWebhooks
from parlour.core.webhooks.response_actions import WebhookActions, WebhookResponses
from parlour.version import VERSION
from parlour_sdk.values import dataclass

from .actions import build_handlers, resource_groups
from .command_facts import HostCommandFacts
from .core_ports import CorePorts
from .core_records import ConfigParts, DeliveryParts, HookParts, RecordParts
from .core_runs import ActionParts, RunBasics, RunParts


@dataclass(frozen=True, slots=True)
class RoutingParts:
    """The handlers of events and the router that chooses them."""

    handlers: Handlers
    router: Router


def build_routing(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    runs: RunParts,
) -> RoutingParts:
    """Builds one handler per type, and the router. A new handler type gets its line here."""
    journal, ids, clock, completer = ports.journal, ports.ids, ports.clock, runs.event_completer
    binder = AgentBinder(config.agents)
    client = WebhookClient(ports.hook_sender, ports.secrets)
    answers = WebhookResponses(delivery.service, WebhookActions(ports.bots, delivery.action_rows), journal)
    webhooks = OutboundWebhooks(journal, hooks.jobs, client, answers, records.names, clock)
    hooks.jobs.register(webhooks)
    defaults = DefaultResolver(config.agents, config.default_agents, hooks.subscriptions.has_handlers)
    handlers: Handlers = {}
    router = Router(config.routes, handlers, binder, defaults, clock)
    policies = PolicyTurns(basics.admission, Gathering(router, clock), clock)
    agents = AgentHandler(binder, basics.checks, policies, records.names, runs.executor, completer, clock)
    handlers |= by_type(
        [
            agents,
            PipelineHandler(config.pipelines, binder, agents),
            WebhookHandler(webhooks, config.bots, completer, ids),
            ListenerHandler(
                journal,
                hooks.subscriptions,
                hooks.listeners,
                hooks.retries,
                completer,
                HeardMessages(config.bots, ids, clock),
                clock,
            ),
            DropHandler(completer),
        ]
    )
    return RoutingParts(handlers, router)


@dataclass(frozen=True, slots=True)
class LaneParts:
    """The queues of conversations, and the operations on their runs."""

    lanes: Lanes
    steering: SteeringQueue
    recovery: Recovery
    control: RunControl
    creator: RunCreator
    workers: RemoteWorkers
    reruns: Reruns


def build_lanes(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    runs: RunParts,
    routing: RoutingParts,
) -> LaneParts:
    """Builds the lanes with their dispatcher, and the parts that create, cancel and repeat runs."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    sessions, router, remote = basics.sessions, routing.router, runs.remote_queue
    dispatcher = EventDispatcher(
        router, routing.handlers, runs.executor, runs.event_completer, TranscriptCorrections(journal)
    )
    steering = SteeringQueue(journal, sessions, router, basics.admission, hooks.filtered, ids, clock)
    recovery = Recovery(journal, config.agents, runs.run_completer, delivery.service, basics.outcomes, sessions)
    lanes = Lanes(
        dispatcher.handle,
        steering.claim,
        recovery.recover_lane,
        dispatcher.quarantine,
        runs.starter.prepare,
        basics.slots,
        ports.ownership,
    )
    control = RunControl(journal, sessions, lanes, remote, runs.active_runs, runs.event_completer, clock)
    targets = RequestedTargets(router, basics.checks, basics.grants)
    creator = RunCreator(journal, targets, delivery.conversations, records.attachments, lanes, ids, clock)
    rerun_targets = RerunTargets(
        config.agents, basics.checks, basics.grants, lambda plugin_id: bool(ports.plugin_grants(plugin_id).processes)
    )
    rehearsals = HookRehearsals(basics.arriving, delivery.service.reply_hooks, delivery.service.output_policies)
    rerun_executor = RerunExecutor(journal, runs.runner, runs.contexts, rehearsals, records.artifacts, sessions, clock)
    reruns = Reruns(journal, rerun_targets, rerun_executor, sessions, ids, clock)
    return LaneParts(lanes, steering, recovery, control, creator, RemoteWorkers(journal, remote, clock), reruns)


def build_approvals(
    ports: CorePorts,
    config: ConfigParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    actions: ActionParts,
    lanes: Lanes,
) -> ApprovalService:
    """Builds the decisions about actions of runs."""
    records = DecisionRecords(
        ports.journal,
        basics.sessions,
        config.agents,
        delivery.action_rows,
        actions.tool_calls,
        hooks.host_events,
        lanes,
    )
    return ApprovalService(
        ports.journal, delivery.service, delivery.outbox, records, actions.pending, config.languages, ports.clock
    )


def build_gateway(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    runs: RunParts,
    router: Router,
    lanes: LaneParts,
    approvals: ApprovalService,
) -> Gateway:
    """Builds the entry of events, with the chat commands."""
    journal, ids, clock, languages = ports.journal, ports.ids, ports.clock, config.languages
    conversations = delivery.conversations
    rules, limits = config.command_rules, MessageLimits(journal, lambda: records.days.time_zone, clock)
    facts = HostCommandFacts(journal, ports.components, ports.runners, ports.providers.models, limits, clock)
    replies = CommandReplies(ports.bots, delivery.service, journal, clock)
    parser = CommandParser(
        [
            InfoCommands(router, rules, facts, languages),
            BuiltinCommands(router, rules, conversations, lanes.control, languages, ids, clock),
            MemoryCommands(router, rules, records.memory, languages),
            ApprovalCommands(approvals, languages),
            OutdatedSuggestions(languages),
            PluginCommands(ports.components, ports.plugins, router, config.bots, replies, languages, rules),
        ]
    )
    log = CommandLog(journal, conversations, delivery.service, basics.outcomes, hooks.host_events, ids, clock)
    observers = EventObservers(hooks.subscriptions, hooks.retries)
    starts = FastStart(basics.checks, basics.admission, runs.starter, basics.sessions, lanes.lanes, records.names)
    acceptor = EventAcceptor(journal, conversations, FeedbackStore(journal), observers, starts, ids, clock)
    commands = CommandExecutor(parser, log, languages)
    preparer = EventPreparer(records.attachments, conversations, OutboxStore(journal))
    arrivals = Arrivals(ports.ownership, conversations)
    return Gateway(router, commands, observers, preparer, acceptor, arrivals, clock)


def build_gate(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    runs: RunParts,
    lanes: LaneParts,
    actions: ActionParts,
    tokens: GatewayTokens,
) -> Gate:
    """Builds the gate with all actions that plugins may call."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    budgeted = BudgetedModels(
        gated_models.with_effect_gate(ports.providers.models, ports.ownership), config.budgets, records.reservations
    )
    providers = replace(ports.providers, models=budgeted)
    groups = [
        *resource_groups(
            providers,
            actions.tool_approvals,
            records.artifacts,
            records.model_calls,
            DirectReplies(journal, delivery.service, clock),
            journal,
            ids,
            clock,
        ),
        HistoryActions(records.history),
        EventActions(EventRecordReader(journal, ports.cursors)),
        SteeringActions(lanes.steering),
        RunActions(journal, lanes.control, lanes.creator, RunRequestBuilder(journal, ids, clock), ports.cursors),
        RuntimeActions(journal, lanes.workers, runs.remote_queue, lanes.control, clock),
        ConversationActions(delivery.conversations, ids, clock),
        CatalogActions(ports.plugin_list, ports.components),
        PlatformRequestActions(actions.requests),
        LiveQuestionActions(actions.live_questions),
        HostInfoActions(VERSION),
        GatewayActions(tokens),
        PluginConfigActions(config.plugin_configs, ports.plugin_list, ports.secrets),
        ProcessActions(ports.processes, ports.plugin_grants),
    ]
    handlers = with_effect_gate(build_handlers(groups, providers, journal, clock), ports.ownership)
    denials = DenialLog(journal, clock, ids)
    return Gate(handlers, basics.sessions, ports.plugin_grants, records.audit_log, denials, ports.redactor, clock)
