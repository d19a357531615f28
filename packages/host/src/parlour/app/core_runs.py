"""Builds the parts of the core that decide about runs and execute them."""

from parlour.core.approvals.action_parser import ActionParser
from parlour.core.approvals.creation import ApprovalFactory
from parlour.core.approvals.live_questions import LiveQuestions
from parlour.core.approvals.planner import ApprovalActionPlanner
from parlour.core.approvals.requests import ActionRequestHandler
from parlour.core.approvals.tool_approvals import ToolApprovals
from parlour.core.approvals.tool_calls import ApprovedToolCalls
from parlour.core.approvals.tracker import PendingApprovals
from parlour.core.message_policy.limits import MessageLimits
from parlour.core.plugin_hooks.arrival_hooks import ArrivingHooks
from parlour.core.remote.queue import RemoteRunQueue
from parlour.core.runs.action_plan import ActionPlanner
from parlour.core.runs.active_run import ActiveRuns, RecorderFactory
from parlour.core.runs.admission import RunAdmission
from parlour.core.runs.attachment_prefetch import AttachmentPrefetcher
from parlour.core.runs.completion import RunCompleter
from parlour.core.runs.context_builder import ContextFacts, RunContextBuilder
from parlour.core.runs.event_completion import EventCompleter
from parlour.core.runs.executor import RunExecutor
from parlour.core.runs.input_checks import InputChecks
from parlour.core.runs.loop_guard import LoopGuard
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.plugin_call import PluginRunner
from parlour.core.runs.run_checks import RunChecks
from parlour.core.runs.run_grants import RunGrants
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour.core.runs.session_registry import RunSessions
from parlour.core.runs.slots import RunSlotPool
from parlour.core.runs.starter import RunStarter
from parlour.core.store.known_messages import KnownMessages
from parlour.version import VERSION
from parlour_sdk.values import dataclass

from .core_ports import CorePorts
from .core_records import ConfigParts, DeliveryParts, HookParts, RecordParts


@dataclass(frozen=True, slots=True)
class RunBasics:
    """The registries and limits of runs."""

    registry: RunnerRegistry
    sessions: RunSessions
    slots: RunSlotPool
    loop_guard: LoopGuard
    outcomes: Outcomes
    checks: RunChecks
    arriving: ArrivingHooks
    admission: RunAdmission
    grants: RunGrants


def build_run_basics(
    ports: CorePorts, config: ConfigParts, records: RecordParts, hooks: HookParts, delivery: DeliveryParts
) -> RunBasics:
    """Builds what decides whether a run may begin, and what it may use."""
    arriving = ArrivingHooks(hooks.path, delivery.service, ports.bots, ports.journal, ports.clock)
    limits = MessageLimits(ports.journal, lambda: records.days.time_zone, ports.clock)
    loop_guard = LoopGuard(ports.runs_per_sender, ports.runs_per_group, ports.clock)
    return RunBasics(
        registry=ports.runners,
        sessions=RunSessions(records.audit_log.add),
        slots=RunSlotPool(ports.concurrent_runs, ports.runs_per_person),
        loop_guard=loop_guard,
        outcomes=Outcomes(),
        checks=RunChecks(ports.runners, ports.secrets, loop_guard),
        arriving=arriving,
        admission=RunAdmission(
            arriving, InputChecks(delivery.checks, ports.journal, ports.clock), limits, config.filters, ports.clock
        ),
        grants=RunGrants(ports.journal, ports.providers),
    )


@dataclass(frozen=True, slots=True)
class ActionParts:
    """The parts that plan the actions which runs request, and keep those that wait for an approval or an answer."""

    pending: PendingApprovals
    planner: ApprovalActionPlanner
    requests: ActionRequestHandler
    tool_calls: ApprovedToolCalls
    tool_approvals: ToolApprovals
    live_questions: LiveQuestions


def build_run_actions(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
) -> ActionParts:
    """Builds the planning of actions. Decisions about them are built after runs, since they queue events."""
    journal, clock, service = ports.journal, ports.clock, delivery.service
    pending, rows = PendingApprovals(clock), delivery.action_rows
    approvals = ApprovalFactory(pending, service.composer, config.languages, ports.ids, clock)
    parser = ActionParser(ports.bots, records.artifacts, KnownMessages(journal))
    planner = ApprovalActionPlanner(parser, approvals, pending, rows, clock)
    requests = ActionRequestHandler(journal, planner, pending, service, delivery.outbox, basics.slots, clock)
    tool_calls = ApprovedToolCalls(journal, hooks.jobs, ports.providers.tools, service, config.languages)
    hooks.jobs.register(tool_calls)
    tool_approvals = ToolApprovals(journal, approvals, pending, service.publisher, tool_calls, basics.slots, clock)
    live_questions = LiveQuestions(journal, approvals, pending, service.publisher, basics.slots, clock)
    return ActionParts(pending, planner, requests, tool_calls, tool_approvals, live_questions)


@dataclass(frozen=True, slots=True)
class RunParts:
    """The execution of runs."""

    contexts: RunContextBuilder
    starter: RunStarter
    active_runs: ActiveRuns
    runner: PluginRunner
    remote_queue: RemoteRunQueue
    executor: RunExecutor
    run_completer: RunCompleter
    event_completer: EventCompleter


def build_runs(
    ports: CorePorts,
    config: ConfigParts,
    records: RecordParts,
    hooks: HookParts,
    delivery: DeliveryParts,
    basics: RunBasics,
    planner: ActionPlanner,
) -> RunParts:
    """Builds the way of a run: context, start, plugin, results, end."""
    journal, ids, clock = ports.journal, ports.ids, ports.clock
    sessions, outcomes = basics.sessions, basics.outcomes
    service, publisher = delivery.service, delivery.service.publisher
    contexts = RunContextBuilder(
        journal,
        ports.providers,
        records.history,
        service.composer,
        hooks.prompt_hooks,
        config.filters,
        ContextFacts(VERSION, records.days, config.languages),
    )
    starter = RunStarter(journal, ports.ownership, basics.grants, contexts, hooks.filtered, ids, clock)
    completer = RunCompleter(
        service, delivery.notice_policy, config.languages, ports.redactor, records.reported_usage, ids, clock
    )
    recorders = RecorderFactory(journal, records.artifacts, service, planner, completer, ids, clock)
    active = ActiveRuns(journal, recorders, sessions, publisher, outcomes)
    remote = RemoteRunQueue(journal, starter, contexts, active, sessions, ids, clock)
    runner = PluginRunner(ports.plugins, ports.ownership, records.reported_usage, clock)
    executor = RunExecutor(starter, runner, AttachmentPrefetcher(records.artifacts), active, sessions, remote)
    events = EventCompleter(journal, completer, publisher, outcomes, hooks.filtered, clock)
    return RunParts(contexts, starter, active, runner, remote, executor, completer, events)
