"""A run while it is alive. What must last is in the ledger."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any, Protocol
from weakref import WeakValueDictionary

from parlour.core.access.grants import Grant
from parlour.core.access.rate_limit import Rate, Spacing
from parlour.core.journal import Insert, Statement
from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.runner import Descriptor
from parlour.core.store.inbox import Tries
from parlour.core.store.ledger import Status
from parlour.core.store.uploads import Incoming
from parlour_sdk.values import dataclass

from .dry_run_state import Rehearsal
from .usage import Meter

StateSnapshot = dict[str, dict[str, Any]]
"""By scope and name, as a run finds it."""
CALLS_PER_SECOND = 50
CALLS_BURST = 100
CALLS_BEGUN_AT_ONCE = 16
CALLS_BEGUN_PER_SECOND = 500
"""A hundred calls in one moment are a run's right, but not to have everybody wait until they are done."""


@dataclass(slots=True)
class Entry:
    """An owed event in its lane."""

    event: RecordedEvent
    attempts: int = 0
    transcribed: int = 0
    """The number of its transcript item, zero until it has one."""
    tries: Tries = Tries()
    claimed_at: int = 0
    parent_run_id: str = ""
    run_id: str = ""
    """Of a run that was created for it and has yet to begin; the first attempt is that one."""
    parked: bool = False
    """That run was handed to remote runtimes before this Host was started."""
    opened: "Opened | None" = None
    """The run that began together with the event and has yet to be carried out."""

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def lane(self) -> str:
        return self.event.conversation_id


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends, and why."""

    status: Status
    code: str = ""
    error: str = ""
    """A sentence for people."""
    retryable: bool = False
    silent: bool = False
    by_host: bool = False
    """The Host stopped; the run did not fail by itself."""
    usage: dict[str, Any] = field(default_factory=dict)

    by_runner: bool = False
    """The runner itself said so."""

    @property
    def by_user(self) -> bool:
        return self.status == "cancelled"


class Stopped(Exception):
    """The Host ended the run; the session says how."""


class Stoppable(Protocol):
    def abort(self, error: BaseException) -> None: ...


class RunSession:
    def __init__(self, run_id: str, entry: Entry, binding: Binding, grant: Grant, steerable: bool) -> None:
        self.run_id = run_id
        self.entry = entry
        self.binding = binding
        self.grant = grant
        self.steerable = steerable
        self.multimodal = True
        """Whether its runner takes media as they are; otherwise it is told of them in words."""
        self.rate = Rate(CALLS_PER_SECOND, CALLS_BURST)
        self.spacing = Spacing(CALLS_BEGUN_PER_SECOND, CALLS_BEGUN_AT_ONCE)
        self.uploads: dict[str, Incoming] = {}
        """Files that its runner is sending, by upload id."""
        self.deadline_at = 0
        self.executor = grant.plugin_id
        """The plugin whose calls are the run's; empty while nobody executes it."""
        self.remote = False
        """Executed by a remote runtime: it outlives this process."""
        self.lease = ""
        """The token of whoever executes it remotely."""
        self.begin: Callable[[], Awaitable[None]] | None = None
        """What the first call of a run has to wait for, if anything."""
        self.fence: tuple[Statement, ...] = ()
        """Guards that every write of its results carries."""
        self.closing: tuple[Statement, ...] = ()
        """What its last unit does besides."""
        self.audited: list[Insert] = []
        """Calls that were allowed, to be recorded with the run's next write."""
        self.meter = Meter()
        self.rehearsal: Rehearsal | None = None
        """Set for a rerun: what it does stays with it."""
        self.stream: Stoppable | None = None
        self.stopping: Ending | None = None
        self.cancel_requested_at = 0
        self.shown = False
        self.effects = False
        self.claimed: deque[Entry] = deque()
        """Waiting to be pulled."""
        self.injected: list[Entry] = []
        self.turn = asyncio.Lock()
        """Held while a claim, a pull or the end is committed, so that each sees the others whole."""
        self.ended = asyncio.Event()
        self._sequence = 0

    @property
    def event(self) -> RecordedEvent:
        return self.entry.event

    @property
    def journals(self) -> bool:
        """The answers of its calls are kept for when it is repeated."""
        return self.binding.agent.journal_calls

    def act(self) -> bool:
        """A call of this run changes something; True when that forbids to repeat the run, being nowhere kept."""
        self.effects = self.effects or not self.journals
        return self.effects

    def calls_over_host(self, tool_name: str) -> bool:
        """What its runner tells of such a tool is known here already, by the call itself."""
        return self.journals and self.grant.allows("tools", tool_name, "call")

    def is_over(self) -> bool:
        """Nothing more is taken from its runner."""
        return self.stopping is not None or self.ended.is_set()

    def next_sequence(self) -> int:
        self._sequence += 1
        return self._sequence

    def resume(self, sequence: int) -> None:
        """Goes on after this number of the ledger; never back to one that it gave to somebody who is yet to write."""
        self._sequence = max(self._sequence, sequence)

    def take_audited(self) -> list[Insert]:
        taken, self.audited = self.audited, []
        return taken

    def stop(self, ending: Ending) -> None:
        """Ends the run now, whatever its runner does."""
        if self.stopping is None:
            self.stopping = ending
            if self.stream is not None:
                self.stream.abort(Stopped())


@dataclass(slots=True)
class Opened:
    """A run whose first unit is durable or about to be, and what its runner is to be told of."""

    session: RunSession
    descriptor: Descriptor
    state: StateSnapshot | None = None
    """As it was found while the disk was waited for."""
    request: dict[str, object] | None = None
    """What its runner is sent, if that could be said by then."""


class Sessions:
    """The active runs, by id and by lane. A lane has at most one."""

    def __init__(self, left_over: Callable[[list[Insert]], None]) -> None:
        self._left_over = left_over
        """Takes what a run's last write did not take along."""
        self._by_run: dict[str, RunSession] = {}
        self._by_lane: dict[str, RunSession] = {}
        self._counting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def counting(self, run_id: str) -> asyncio.Lock:
        """Held by whoever numbers a run's events by those that the ledger holds, until they are written or a session
        counts on from there. Two who do so at once would give the same number.
        """
        return self._counting.setdefault(run_id, asyncio.Lock())

    def announce(self, session: RunSession) -> None:
        """Its ledger row is being written: whoever reads that finds a run that can be cancelled."""
        self._by_run[session.run_id] = session

    def register(self, session: RunSession) -> None:
        self._by_run[session.run_id] = session
        self._by_lane[session.entry.lane] = session

    def unregister(self, session: RunSession) -> None:
        self._by_run.pop(session.run_id, None)
        if self._by_lane.get(session.entry.lane) is session:
            del self._by_lane[session.entry.lane]
        while session.uploads:
            session.uploads.popitem()[1].abandon()
        if session.audited:
            self._left_over(session.take_audited())
        session.ended.set()

    def get(self, run_id: str) -> RunSession | None:
        return self._by_run.get(run_id)

    def in_lane(self, lane: str) -> RunSession | None:
        return self._by_lane.get(lane)

    def all(self) -> list[RunSession]:
        return list(self._by_run.values())
