"""Deletes the working directories of programs with the conversations for which they were made."""

import asyncio
from collections.abc import Sequence

from parlour.core.actions.processes import GrantedProcesses
from parlour.core.jobs.job import Job, JobDone, JobHandler, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Statement
from parlour.core.model.ids import ConversationId

RETRY_SECONDS = 1.0


class ProgramFolderDeletion(JobHandler):
    """Ends programs of deleted conversations, and deletes their working directories. The key is the conversation."""

    kind = "programs.folders"
    keeps_done = False

    def __init__(self, programs: GrantedProcesses, jobs: Jobs) -> None:
        self._programs = programs
        self._jobs = jobs

    async def prepare(self, conversation_id: ConversationId) -> Sequence[Statement]:
        """Returns statements for the unit that deletes a conversation. Call `wake` after the commit."""
        if not await asyncio.to_thread(self._programs.has_folders, conversation_id):
            return ()
        return [self._jobs.enqueue(self.kind, conversation_id, {"conversation_id": conversation_id})]

    def wake(self, conversation_id: ConversationId) -> None:
        self._jobs.wake(self.kind, conversation_id)

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        if await self._programs.delete_folders(str(job.payload["conversation_id"])):
            return JobDone()
        return JobRetry("a program still works in a folder of the conversation", after_seconds=RETRY_SECONDS)
