"""The composition root of the core: builds its subsystems in layer order. All other modules receive their
dependencies.
"""

from parlour.core.access.audit_writer import AuditWriter
from parlour.core.actions.gate import Gate
from parlour.core.actions.gateway import GatewayTokens
from parlour.core.approvals.service import ApprovalService
from parlour.core.cluster.ownership import Ownership
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
from parlour.core.delivery.feed import Feed
from parlour.core.delivery.held_replies import HeldReplies
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.reply_policy import ReplyPolicy
from parlour.core.handlers.handler import Handlers
from parlour.core.ingest.gateway import Gateway
from parlour.core.ingest.scheduler import Scheduler
from parlour.core.jobs.jobs import Jobs
from parlour.core.memory.service import MemoryService
from parlour.core.message_policy.filters import TextFilters
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.ids import PartId
from parlour.core.models.days import Days
from parlour.core.models.reservations import Reservations
from parlour.core.platforms.directory import Directory
from parlour.core.platforms.names import NameDirectory
from parlour.core.plugin_hooks.subscriptions import ListenerSubscriptions
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.remote.workers import RemoteWorkers
from parlour.core.reruns.reruns import Reruns
from parlour.core.routing.router import Router
from parlour.core.runs.control import RunControl
from parlour.core.runs.conversation_deletion import ConversationEraser
from parlour.core.runs.lanes import Lanes
from parlour.core.runs.loop_guard import LoopGuard
from parlour.core.runs.model_call_log import ModelCallLog
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.recovery import Recovery
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session_registry import RunSessions
from parlour.core.runs.slots import RunSlotPool
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.conversations import Conversations
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from .core_handlers import build_approvals, build_gate, build_gateway, build_lanes, build_routing
from .core_ports import CorePorts
from .core_records import build_config, build_delivery, build_hooks, build_records
from .core_runs import build_run_actions, build_run_basics, build_runs


@dataclass(frozen=True, slots=True)
class Core:
    """The objects of the core that the rest of the program uses."""

    ownership: Ownership
    agents: AgentRepository
    bots: BotRepository
    routes: RouteRepository
    default_agents: DefaultAgentRepository
    handlers: Handlers
    router: Router
    subscriptions: ListenerSubscriptions
    jobs: Jobs
    registry: RunnerRegistry
    conversations: Conversations
    feed: Feed
    outbox: Outbox
    reply_policy: ReplyPolicy
    held_replies: HeldReplies
    outcomes: Outcomes
    sessions: RunSessions
    lanes: Lanes
    artifacts: ArtifactService
    gateway: Gateway
    gate: Gate
    gateway_tokens: GatewayTokens
    """Tokens of the MCP server of runs."""
    recovery: Recovery
    control: RunControl
    workers: RemoteWorkers
    remote_queue: RemoteRunQueue
    audit_log: AuditWriter
    model_calls: ModelCallLog
    conversation_eraser: ConversationEraser
    names: NameDirectory
    directory: Directory
    schedules: ScheduleRepository
    budgets: BudgetRepository
    word_lists: WordListRepository
    plugin_configs: PluginConfigs
    pipelines: PipelineRepository
    filters: TextFilters
    days: Days
    slots: RunSlotPool
    loop_guard: LoopGuard
    languages: Languages
    command_rules: CommandRules
    reservations: Reservations
    memory: MemoryService
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
        await self.word_lists.load()
        await self.pipelines.load()

    async def recover(self) -> None:
        """Recovers unfinished work of an earlier process. Plugins should be discovered before."""
        await self.reservations.recover()
        await self.outbox.recover()
        await self.workers.recover()
        await self.reruns.recover()
        await self.conversation_eraser.recover()
        await self.jobs.recover()
        await self.approvals.recover()
        await self.gateway.recover()
        self.lanes.open(await self.recovery.recover_all())

    async def recover_part(self, part: PartId) -> None:
        """Recovers the unfinished work of a part whose owner this Host has become."""
        self.lanes.hold_part(part)
        self.conversations.forget_cached()
        await self.outbox.recover(part)
        await self.reruns.recover(part)
        await self.conversation_eraser.recover(part)
        await self.jobs.recover((part,))
        await self.approvals.recover(part)
        await self.gateway.recover(part)
        self.lanes.open_part(part, await self.recovery.recover_all(part))


def build_core(ports: CorePorts) -> Core:
    """Builds the core on the given ports, one subsystem after the other. It loads and starts nothing."""
    config = build_config(ports)
    records = build_records(ports, config.budgets)
    hooks = build_hooks(ports, config, records)
    delivery = build_delivery(ports, config, records, hooks)
    basics = build_run_basics(ports, config, records, hooks, delivery)
    actions = build_run_actions(ports, config, records, hooks, delivery, basics)
    runs = build_runs(ports, config, records, hooks, delivery, basics, actions.planner)
    routing = build_routing(ports, config, records, hooks, delivery, basics, runs)
    lanes = build_lanes(ports, config, records, hooks, delivery, basics, runs, routing)
    approvals = build_approvals(ports, config, hooks, delivery, basics, actions, lanes.lanes)
    gateway = build_gateway(ports, config, records, hooks, delivery, basics, runs, routing.router, lanes, approvals)
    tokens = GatewayTokens(basics.sessions, ports.redactor)
    gate = build_gate(ports, config, records, delivery, basics, runs, lanes, actions, tokens)
    return Core(
        ownership=ports.ownership,
        agents=config.agents,
        bots=config.bots,
        routes=config.routes,
        default_agents=config.default_agents,
        schedules=config.schedules,
        inbound_webhooks=config.inbound_webhooks,
        budgets=config.budgets,
        word_lists=config.word_lists,
        plugin_configs=config.plugin_configs,
        pipelines=config.pipelines,
        filters=config.filters,
        languages=config.languages,
        command_rules=config.command_rules,
        audit_log=records.audit_log,
        model_calls=records.model_calls,
        artifacts=records.artifacts,
        names=records.names,
        directory=records.directory,
        days=records.days,
        reservations=records.reservations,
        memory=records.memory,
        subscriptions=hooks.subscriptions,
        jobs=hooks.jobs,
        feed=delivery.feed,
        outbox=delivery.outbox,
        reply_policy=delivery.reply_policy,
        held_replies=delivery.held_replies,
        conversations=delivery.conversations,
        registry=basics.registry,
        sessions=basics.sessions,
        slots=basics.slots,
        loop_guard=basics.loop_guard,
        outcomes=basics.outcomes,
        approvals=approvals,
        handlers=routing.handlers,
        router=routing.router,
        lanes=lanes.lanes,
        recovery=lanes.recovery,
        control=lanes.control,
        workers=lanes.workers,
        remote_queue=runs.remote_queue,
        reruns=lanes.reruns,
        gateway=gateway,
        gate=gate,
        gateway_tokens=tokens,
        scheduler=Scheduler(config.schedules, ports.ownership, gateway, ports.ids, ports.clock),
        conversation_eraser=ConversationEraser(
            ports.journal,
            lanes.control,
            records.names,
            records.directory,
            records.model_calls,
            ports.ids,
            ports.clock,
        ),
    )
