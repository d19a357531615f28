"""Operations on runs from outside their own stream: reading, cancelling, appending results and ending, with access
checks.
"""

from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Row
from parlour.core.model.ids import ConversationId, RunId
from parlour.core.model.ports import Clock
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger
from parlour.core.store.remote_workers import RemoteWorkerStore
from parlour_sdk.protocol.results import AgentRunResult

from .active_run import ActiveRun, ActiveRuns, result_digest
from .caller import ActionCaller
from .event_completion import EventCompleter
from .lanes import Lanes
from .remote_queue import RemoteQueue, RemoteRun
from .run_state import load_progress
from .session import RunSession, RunTermination
from .session_registry import RunSessions

ADMIN = ("agent_runs", "admin")
_RUN_ENDED_CODES = {"cancelled": "cancelled", "timeout": "deadline_exceeded"}


class RunControl:
    """Reads, cancels, feeds and ends runs for chat commands, the HTTP interface and plugins."""

    def __init__(
        self,
        journal: Journal,
        sessions: RunSessions,
        lanes: Lanes,
        remote_queue: RemoteQueue,
        active_runs: ActiveRuns,
        completer: EventCompleter,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._runtimes = RemoteWorkerStore(journal)
        self._sessions = sessions
        self._lanes = lanes
        self._remote_queue = remote_queue
        self._active_runs = active_runs
        self._completer = completer
        self._clock = clock

    async def get_visible(self, caller: ActionCaller, run_id: RunId) -> Row:
        """Returns the run's row. A run of another plugin is reported as not found, like one that never existed."""
        run = await self._ledger.get_run(run_id)
        if run is None or not (caller.grant.has(ADMIN) or _belongs_to_caller(caller, run)):
            raise CallRejected("not_found", "no run that this plugin may see has this id")
        return run

    def find_active(self, conversation_id: ConversationId) -> RunSession | None:
        """Returns the run of this conversation that can be cancelled, even if its runner has not been called yet."""
        registered = self._sessions.in_lane(conversation_id)
        if registered is not None:
            return registered
        candidates = (each for each in self._sessions.all() if each.entry.lane == conversation_id)
        return next((each for each in candidates if each.dry_run is None), None)

    async def cancel(self, run_id: RunId, termination: RunTermination) -> bool:
        """Cancels a run and returns when it is over; returns False if there was nothing to end."""
        session = self._sessions.get(run_id)
        if session is not None:
            session.cancel_requested_at = self._clock.now()
            session.stop(termination)
            await session.ended.wait()
            return True
        run = await self._ledger.get_run(run_id)
        if run is None or run["status"] not in ACTIVE_STATUSES:
            return False
        entry = self._lanes.remove(run["conversation_id"], run["event_seq"])
        if entry is None:
            raise CallRejected("runtime_error", "the run is just being started; ask again", retryable=True)
        try:
            await self._completer.cancel(run_id, entry, termination)
        except BaseException:
            self._lanes.enqueue(entry)
            raise
        return True

    async def append(self, caller: ActionCaller, run_id: RunId, result: AgentRunResult, lease: str | None) -> None:
        """Applies one result that a plugin sends for a run."""
        if result.run_id != run_id:
            raise CallRejected("invalid_argument", f"result.run_id: it must be {run_id}, the run that is named")
        active_run, remote_run = await self._get_executing(caller, run_id)
        if active_run is None:
            await self._accept_duplicate(run_id, result)
            return
        async with active_run.lock:
            if remote_run is not None:
                remote_run.verify(lease, caller.plugin_id)
                await remote_run.ensure_started()
            await active_run.append(result)

    async def finalize(
        self, caller: ActionCaller, run_id: RunId, termination: RunTermination, lease: str | None
    ) -> None:
        """Ends a run on request of the plugin that executes it."""
        active_run, remote_run = await self._get_executing(caller, run_id)
        if active_run is None:
            run = await self._ledger.get_run(run_id)
            if run is None or run["status"] != termination.status:
                raise _run_ended_error(run)
            return
        async with active_run.lock:
            if remote_run is not None:
                remote_run.verify(lease, caller.plugin_id)
                if termination.status == "completed":
                    await remote_run.ensure_started()
            await active_run.finalize(termination)
        await active_run.session.ended.wait()

    async def run_ended_error(self, caller: ActionCaller, run_id: RunId) -> CallRejected:
        """Returns the error for a run that is over, if the caller holds it or did."""
        return _run_ended_error(await self._require_holder(caller, run_id))

    async def was_cancelled(self, caller: ActionCaller, run_id: RunId) -> bool:
        """Returns whether the holder of a run that is over has to be notified that it was cancelled."""
        if self._remote_queue.get(run_id) is not None:
            return False
        return (await self._require_holder(caller, run_id))["status"] in _RUN_ENDED_CODES

    async def _get_executing(self, caller: ActionCaller, run_id: RunId) -> tuple[ActiveRun | None, RemoteRun | None]:
        """Returns the run if it is active, and its remote part if it has one. Only the runner's own plugin and the
        holder get it, and for a remote run also plugins that may administer runtimes.
        """
        remote_run = self._remote_queue.get(run_id)
        active_run = remote_run.active_run if remote_run is not None else self._active_runs.find(run_id)
        if active_run is None or active_run.session.ended.is_set():
            await self._require_holder(caller, run_id)
            return None, None
        holder = remote_run.holder if remote_run is not None else ""
        is_admin = remote_run is not None and caller.grant.has(("runtimes", "admin"))
        if caller.plugin_id not in (active_run.session.grant.plugin_id, holder) and not is_admin:
            raise CallRejected("not_found", "no run that this plugin executes has this id")
        return active_run, remote_run

    async def _require_holder(self, caller: ActionCaller, run_id: RunId) -> Row:
        """Returns the row of a run that the caller executes or has executed."""
        run = await self._ledger.get_run(run_id)
        runtime = await self._runtimes.get(run["claimed_by"]) if run is not None and run["claimed_by"] else None
        holder = runtime.plugin_id if runtime is not None else ""
        if run is None or caller.plugin_id not in (run["plugin_id"], holder):
            raise CallRejected("not_found", "no run that this plugin executes has this id")
        return run

    async def _accept_duplicate(self, run_id: RunId, result: AgentRunResult) -> None:
        """Accepts the repetition of a result after the end of the run, because the response to it may have been
        lost.
        """
        progress = await load_progress(self._ledger, run_id)
        if result.sequence is None or progress.digest(result.sequence) != result_digest(result):
            raise _run_ended_error(await self._ledger.get_run(run_id))


def _belongs_to_caller(caller: ActionCaller, run: Row) -> bool:
    return caller.plugin_id in (run["plugin_id"], run["created_by"])


def _run_ended_error(run: Row | None) -> CallRejected:
    status = run["status"] if run is not None else "gone"
    return CallRejected(_RUN_ENDED_CODES.get(status, "unauthorized"), f"the run is over: its status is {status}")
