"""Deletes workspaces with the conversations that used them. One that another conversation uses, too, stays."""

from collections.abc import Sequence
from typing import Final

from parlour.core.box.messages import SessionSpec
from parlour.core.jobs.job import Job, JobDone, JobFailed, JobHandler, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import ANY, Condition, Delete, Insert, Journal, Row, Select, Statement, Upsert, where
from parlour.core.model.ids import ConversationId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.store.tables import BOX_WORKSPACES

from .connection import BoxConnection

DAY_MILLISECONDS: Final = 86_400_000
READY_SECONDS: Final = 30.0
CALL_SECONDS: Final = 60.0


class WorkspaceUses:
    """Records which conversations use which workspaces."""

    def __init__(self, clock: Clock, workspace_days: float) -> None:
        self._clock = clock
        self._kept = round((workspace_days + 1) * DAY_MILLISECONDS)

    def record(self, conversation_id: ConversationId, session: SessionSpec) -> Insert:
        """Returns the statement that records a use."""
        row: dict[str, str | int] = {
            "conversation_id": conversation_id,
            "session_id": session.session_id,
            "workspace_id": session.workspace_id,
            "expires_at": self._clock.now() + self._kept,
        }
        return Insert(BOX_WORKSPACES, row, conflict=Upsert(BOX_WORKSPACES.key, ("expires_at",)))


class WorkspaceDeletion(JobHandler):
    """Deletes the workspaces of deleted conversations."""

    kind = "box.workspaces"
    keeps_done = False

    def __init__(self, connection: BoxConnection, journal: Journal, jobs: Jobs) -> None:
        self._connection = connection
        self._journal = journal
        self._jobs = jobs

    async def prepare(self, conversation_id: ConversationId) -> Sequence[Statement]:
        """Returns statements for the unit that deletes a conversation. Call `wake` after the commit."""
        if not await self._used(where(conversation_id=conversation_id)):
            return ()
        return [self._jobs.enqueue(self.kind, conversation_id, {"conversation_id": conversation_id})]

    def wake(self, conversation_id: ConversationId) -> None:
        self._jobs.wake(self.kind, conversation_id)

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        conversation_id = str(job.payload["conversation_id"])
        deletes: list[Statement] = []
        for row in await self._used(where(conversation_id=conversation_id)):
            users = await self._used(where(session_id=row["session_id"]))
            if all(each["conversation_id"] == conversation_id for each in users):
                status = await self._connection.wait_until_known(READY_SECONDS)
                if status.state == "disabled":
                    return JobFailed("the Box is off, so the files of the conversation could not be deleted", deletes)
                request = {"session_id": row["session_id"], "workspace_id": row["workspace_id"]}
                try:
                    await self._connection.call("box_workspace_delete", request, CALL_SECONDS)
                except ProviderFailed as failure:
                    return JobRetry(failure.message, statements=deletes)
            names = where(conversation_id=conversation_id, session_id=row["session_id"])
            deletes.append(Delete(BOX_WORKSPACES, names, expect=ANY))
        return JobDone(deletes)

    async def _used(self, conditions: tuple[Condition, ...]) -> list[Row]:
        return list(await self._journal.read(Select(BOX_WORKSPACES, conditions)))
