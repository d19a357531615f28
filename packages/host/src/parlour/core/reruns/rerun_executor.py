"""Executes a rerun that was started, and writes the end of one that was interrupted."""

import logging

from parlour.core.journal import Journal, StorageFailed, Unit, retry_on_storage_failure
from parlour.core.model.ids import RunId
from parlour.core.model.ports import Clock
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.runs.context_builder import RunContextBuilder
from parlour.core.runs.plugin_call import PluginRunner
from parlour.core.runs.session import RunSession, RunTermination
from parlour.core.runs.session_registry import RunSessions
from parlour.core.runs.unrecorded_usage import load_unrecorded_usage
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger, RunEnd

from .recorder import RerunRecorder
from .rehearsals import HookRehearsals

logger = logging.getLogger(__name__)

STOPPED_BY_PLUGIN = RunTermination("completed", "plugin_stopped_message", silent=True)
UNWRITTEN = RunTermination("failed", "runtime_error", "the database could not keep what it said")
BROKEN = RunTermination("failed", "runtime_error", "the Host failed to carry it out; its log says why")


class RerunExecutor:
    """Calls the runner of a rerun. Every rerun gets an end."""

    def __init__(
        self,
        journal: Journal,
        runner: PluginRunner,
        contexts: RunContextBuilder,
        rehearsals: HookRehearsals,
        artifacts: ArtifactService,
        sessions: RunSessions,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)
        self._runner = runner
        self._contexts = contexts
        self._rehearsals = rehearsals
        self._artifacts = artifacts
        self._sessions = sessions
        self._clock = clock

    async def execute(self, session: RunSession, descriptor: RunnerDescriptor) -> None:
        """Executes the rerun. This is a supervision boundary: no caller receives its errors."""
        assert session.dry_run is not None
        recorder = RerunRecorder(
            session,
            session.dry_run,
            self._journal,
            self._artifacts,
            self._rehearsals,
            self._runner.reported_usage,
            self._clock,
        )
        try:
            if not await self._rehearsals.admits(session):
                await recorder.finish(STOPPED_BY_PLUGIN)
                return
            # the runner receives the state as of the start; later writes to the copy must not change the request
            state = {scope: dict(values) for scope, values in session.dry_run.state.items()}
            request = await self._contexts.build(session, descriptor, state)
            await self._runner.run(descriptor, request, session, recorder)
        except StorageFailed as failure:
            logger.error("rerun %s is interrupted: %s", session.run_id, failure.message)
            await self.end_interrupted(session.run_id, UNWRITTEN)
        except Exception:
            logger.exception("rerun %s could not be executed", session.run_id)
            await self.end_interrupted(session.run_id, BROKEN)
        finally:
            self._sessions.unregister(session)

    async def end_interrupted(self, run_id: RunId, termination: RunTermination) -> None:
        """Writes the end of a rerun and retries while the database fails; if the Host stops before, the next start does
        it.
        """
        await retry_on_storage_failure(lambda: self._end(run_id, termination), f"the end of rerun {run_id}")

    async def _end(self, run_id: RunId, termination: RunTermination) -> None:
        run = await self._ledger.get_run(run_id)
        if run is None or run["status"] not in ACTIVE_STATUSES:
            return
        now = self._clock.now()
        unrecorded = await load_unrecorded_usage(self._ledger, run, now)
        end = RunEnd(termination.status, termination.code, termination.error, unrecorded.usage)
        await self._journal.commit(Unit("rerun.interrupt", (ledger.end_run(run_id, end, now), *unrecorded.rows)))
