"""The single entry of every run: starts it, calls its plugin, applies its results, and ends it in every case.

A run for remote workers is passed to the remote queue, which keeps its lane suspended until the run is over.
"""

from collections.abc import Awaitable

from parlour.core.log_context import run_log_context
from parlour.core.model.runner import RunnerDescriptor

from . import lane_result
from .active_run import ActiveRuns
from .attachment_prefetch import AttachmentPrefetcher
from .lane_result import LaneResult
from .plugin_call import PluginRunner
from .remote_queue import RemoteQueue
from .run_checks import RunTarget
from .session import QueuedEvent, RunSession, StartedRun
from .session_registry import RunSessions
from .starter import RunStarter


class RunExecutor:
    """Executes the runs of queued events."""

    def __init__(
        self,
        starter: RunStarter,
        runner: PluginRunner,
        prefetcher: AttachmentPrefetcher,
        active_runs: ActiveRuns,
        sessions: RunSessions,
        remote: RemoteQueue,
    ) -> None:
        self._starter = starter
        self._runner = runner
        self._prefetcher = prefetcher
        self._active_runs = active_runs
        self._sessions = sessions
        self._remote = remote

    async def execute(self, entry: QueuedEvent, target: RunTarget) -> LaneResult:
        """Starts a run for the event and executes it here, or queues it for a remote worker if its request says so."""
        session = await self._starter.new_session(entry, target)
        request = entry.event.envelope.run_request
        if request is not None and request.queue:
            return await self._remote.enqueue(session, target.descriptor, request.labels)
        if target.binding.agent.on_workers or entry.queued_remotely:
            return await self._remote.enqueue(session, target.descriptor, target.binding.agent.worker_labels)
        self._sessions.register_pending(session)
        pending_request = self._starter.start(session, target.descriptor)
        with run_log_context(session.run_id):
            return await self._execute(entry, session, target.descriptor, pending_request)

    async def execute_started(self, entry: QueuedEvent, started_run: StartedRun) -> LaneResult:
        """Executes a run that was started in the unit that accepted its event."""
        entry.started_run = None
        session, descriptor = started_run.session, started_run.descriptor
        with run_log_context(session.run_id):
            return await self._execute(entry, session, descriptor, self._starter.prepared_request(started_run))

    async def _execute(
        self,
        entry: QueuedEvent,
        session: RunSession,
        descriptor: RunnerDescriptor,
        pending_request: Awaitable[dict[str, object]],
    ) -> LaneResult:
        try:
            request = await pending_request
            self._active_runs.announce(session)
            await self._prefetcher.prefetch(session)
            run = self._active_runs.create(session)
            completion = await self._runner.run(descriptor, request, session, run)
        finally:
            self._sessions.unregister(session)
        self._active_runs.publish(completion)
        return lane_result.from_completion(entry, session.run_id, completion)
