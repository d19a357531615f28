"""The state of an active run in memory. Everything that must survive a crash is in the ledger."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Protocol

from parlour.core.access.grants import Grant
from parlour.core.access.rate_limit import PacedBucket, TokenBucket
from parlour.core.journal import Insert, Statement
from parlour.core.message_policy.filters import FilterHit, Verdicts
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN, ConversationId, PluginId, RunId
from parlour.core.model.providers import CallContext
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.store.inbox import AttemptCounts
from parlour.core.store.ledger import RunStatus
from parlour.core.store.uploads import ArtifactWriter
from parlour_sdk.values import dataclass

from .dry_run_state import DryRunState
from .message_hooks import HookedMessage
from .usage import RunMeter

StateSnapshot = dict[str, dict[str, Any]]
"""State values by scope and name, as of the start of a run."""
CALLS_PER_SECOND = 50
"""Calls per second that a run may make continuously; further calls are rejected."""
CALLS_BURST = 100
"""Calls that a run may make in a burst."""
CALL_START_BURST = 16
"""Calls of a run that may start at the same moment."""
CALL_STARTS_PER_SECOND = 500
"""Calls of a run that start per second beyond those, so that a burst of a hundred calls does not make others wait."""


@dataclass(slots=True)
class QueuedEvent:
    """A pending event in its lane."""

    event: RecordedEvent
    attempts: int = 0
    transcript_seq: int = 0
    """Number of its transcript item; zero until it has one."""
    tries: AttemptCounts = AttemptCounts()
    claimed_at: int = 0
    parent_run_id: RunId = NO_RUN
    run_id: RunId = NO_RUN
    """Id of a run that was created for the event and has not started; the first attempt uses it."""
    queued_remotely: bool = False
    """True if that run was queued for remote workers before this Host was started."""
    started_run: "StartedRun | None" = None
    """Run that was started in the unit that accepted the event and has not been executed yet."""
    queue: "LaneQueue | None" = None
    """Lane in which it has its turn."""
    hooked: HookedMessage | None = None
    """What plugins decided about the message; None until they were asked."""
    verdicts: Verdicts | None = None
    """Verdicts of models and plugins that filter the message; None until they were asked."""
    host_calls: tuple[Mapping[str, Any], ...] = ()
    """Model calls of filters that the next run for the message records."""
    prepared: EventEnvelope | None = None
    """The message as the agent reads it, once the message policy was applied."""
    filter_hits: tuple[FilterHit, ...] = ()
    """Input filters that found something and let the message pass."""
    admission: tuple[Statement, ...] = ()
    """Statements of its message policy for the unit that opens the run."""
    gathered: "tuple[QueuedEvent, ...]" = ()
    """Later messages that are answered by the same run."""
    gathering_ended: bool = False
    """True if it has waited for later messages."""

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def lane(self) -> ConversationId:
        return self.event.conversation_id

    @property
    def was_admitted(self) -> bool:
        """True if an earlier run was opened for it, or took it in; it is not counted again."""
        return bool(self.transcript_seq)

    @property
    def has_new_hits(self) -> bool:
        """True if input filters found something and nothing was recorded about it yet."""
        return bool(self.filter_hits and self.seq and not self.attempts)

    @property
    def arrived(self) -> EventEnvelope:
        """The message as plugins changed it, before the message policy is applied."""
        return self.event.envelope if self.hooked is None else self.hooked.apply(self.event.envelope)

    @property
    def variables(self) -> Mapping[str, Any]:
        """Values that plugins set for the event."""
        return self.hooked.variables if self.hooked is not None else {}

    @property
    def readable_event(self) -> RecordedEvent:
        """The event as the agent reads it."""
        envelope = self.arrived if self.prepared is None else self.prepared
        return self.event if envelope is self.event.envelope else replace(self.event, envelope=envelope)


class LaneQueue(Protocol):
    """The events that wait behind one that has its turn."""

    waiting: list[QueuedEvent]

    async def wait_changed(self) -> None:
        """Returns when another event was added."""
        ...


@dataclass(frozen=True, slots=True)
class RunTermination:
    """The status with which a run ends, and the reason."""

    status: RunStatus
    code: str = ""
    error: str = ""
    """Sentence for users."""
    retryable: bool = False
    silent: bool = False
    by_host: bool = False
    """True if the Host stopped; the run did not fail by itself."""
    usage: dict[str, Any] = field(default_factory=dict)

    by_runner: bool = False
    """True if the runner itself reported this end."""

    @property
    def by_user(self) -> bool:
        return self.status == "cancelled"


class RunStopped(Exception):
    """Raised in the stream of a run that the Host ended; the session contains the reason."""


class AbortableWork(Protocol):
    """Work that can be aborted when its run is stopped."""

    def abort(self, error: BaseException) -> None: ...


class RemoteExecution(Protocol):
    """The execution of a run by a remote worker, which continues when this process ends."""

    @property
    def holder(self) -> PluginId:
        """Plugin whose worker executes the run; empty while none does."""
        ...

    @property
    def lease_token(self) -> str:
        """Token of the current lease; empty while no worker holds one."""
        ...

    @property
    def write_guards(self) -> tuple[Statement, ...]:
        """Guards that are part of every unit with results."""
        ...

    @property
    def final_statements(self) -> tuple[Statement, ...]:
        """Statements that are added to the run's last unit."""
        ...

    async def start(self) -> None:
        """Marks the run as started, at its first call or result."""
        ...

    def abort(self, error: BaseException) -> None: ...


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The fixed part of a run: its event, its agent, its grant, and the abilities of its runner."""

    run_id: RunId
    entry: QueuedEvent
    binding: Binding
    grant: Grant
    steerable: bool = False
    multimodal: bool = True
    """True if the runner accepts media; otherwise media are replaced by text notes."""
    dry_run: DryRunState | None = None
    """Set for a rerun, whose effects are discarded with it."""

    @property
    def caches_calls(self) -> bool:
        """True if the results of its calls are cached for a repetition of the run."""
        return self.binding.agent.journal_calls

    def calls_over_host(self, tool_name: str) -> bool:
        """Returns whether calls of this tool are made through the Host, which then knows them without the runner's
        report.
        """
        return self.caches_calls and self.grant.allows("tools", tool_name, "call")


class RunSession:
    """The progress of one active run."""

    def __init__(self, identity: RunIdentity) -> None:
        self.identity = identity
        self.rate = TokenBucket(CALLS_PER_SECOND, CALLS_BURST)
        self.spacing = PacedBucket(CALL_STARTS_PER_SECOND, CALL_START_BURST)
        self.uploads: dict[str, ArtifactWriter] = {}
        """Unfinished uploads of the runner, by upload id."""
        self.deadline_at = 0
        self.remote: RemoteExecution | None = None
        """Set if a remote worker executes the run."""
        self.audit_rows: list[Insert] = []
        """Audit rows of allowed calls, written with the run's next unit."""
        self.created_files: list[dict[str, Any]] = []
        """References to files that tools of the Host created for the next message; they are in the ledger, too."""
        self.meter = RunMeter()
        self.stream: AbortableWork | None = None
        self.stopping: RunTermination | None = None
        self.cancel_requested_at = 0
        self.has_output = False
        self.has_effects = False
        self.claimed: deque[QueuedEvent] = deque()
        """Events that wait to be pulled by the runner."""
        self.injected: list[QueuedEvent] = []
        self.commit_lock = asyncio.Lock()
        """Lock for the commit of a claim, a pull or the end, so that each sees the others complete."""
        self.ended = asyncio.Event()
        self._sequence = 0

    @property
    def run_id(self) -> RunId:
        return self.identity.run_id

    @property
    def entry(self) -> QueuedEvent:
        return self.identity.entry

    @property
    def event(self) -> RecordedEvent:
        return self.identity.entry.event

    @property
    def binding(self) -> Binding:
        return self.identity.binding

    @property
    def grant(self) -> Grant:
        return self.identity.grant

    @property
    def dry_run(self) -> DryRunState | None:
        return self.identity.dry_run

    @property
    def caches_calls(self) -> bool:
        return self.identity.caches_calls

    @property
    def executor(self) -> PluginId:
        """Plugin whose calls belong to the run; empty while none executes it."""
        return self.grant.plugin_id if self.remote is None else self.remote.holder

    def execute_remotely(self, execution: RemoteExecution) -> None:
        """Hands the run to a remote worker. Stopping the run then ends that execution."""
        self.remote = self.stream = execution

    def mark_effect(self) -> bool:
        """Records that a call changes something. Returns True if that rules out a repetition of the run, because its
        calls are not cached.
        """
        self.has_effects = self.has_effects or not self.caches_calls
        return self.has_effects

    def is_closed(self) -> bool:
        """Returns whether the run accepts no further results from its runner."""
        return self.stopping is not None or self.ended.is_set()

    def call_context(self, plugin_id: PluginId) -> CallContext:
        """Returns on whose behalf this run uses a resource, for budgets."""
        event, agent_id = self.event, self.binding.agent.agent_id
        actor, bot_id = event.envelope.actor, event.envelope.bot_id
        return CallContext(plugin_id, self.run_id, agent_id, event.conversation_id, actor.type, actor.id, bot_id)

    def next_sequence(self) -> int:
        self._sequence += 1
        return self._sequence

    def resume(self, sequence: int) -> None:
        """Continues after this ledger number, but never goes back below a number that was assigned and is not written
        yet.
        """
        self._sequence = max(self._sequence, sequence)

    def drain_audit_rows(self) -> list[Insert]:
        rows, self.audit_rows = self.audit_rows, []
        return rows

    def stop(self, termination: RunTermination) -> None:
        """Ends the run now, regardless of its runner."""
        if self.stopping is None:
            self.stopping = termination
            if self.stream is not None:
                self.stream.abort(RunStopped())


@dataclass(slots=True)
class StartedRun:
    """A run whose first unit is committed or being committed, with the inputs of its request."""

    session: RunSession
    descriptor: RunnerDescriptor
    state: StateSnapshot | None = None
    """State that was read during the commit."""
    request: dict[str, object] | None = None
    """Request for the runner, if it could be built during the commit."""
