"""All sessions of a Box: created on first use, limited in number, ended when they are idle, out of time or replaced."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.box.messages import (
    ExecRequest,
    FileRequest,
    ManagedProcessStart,
    ProcessRequest,
    SessionSpec,
    WorkspaceRequest,
)

from .backend import Backend, Fields, SandboxFolders
from .errors import BoxError, SandboxGone
from .processes import ManagedProcess
from .quota import wait_until_over
from .session import BoxSession, ends_session
from .skill_store import SkillStore
from .workspaces import OpenWorkspace, Workspaces

logger = logging.getLogger(__name__)

REAP_SECONDS = 30.0
"""Seconds between two looks for idle sessions."""
SWEEP_SECONDS = 3600.0
CAPACITY_RETRY_SECONDS = 30
WATCHED = ("advisory", "project")
"""Workspaces whose size is looked at: where there are no user namespaces, a command could leave its project."""
Result = TypeVar("Result")


class BoxSessions:
    """The sessions by their ids. A slow start of one delays no other."""

    def __init__(
        self,
        backend: Backend,
        workspaces: Workspaces,
        skills: SkillStore,
        idle_seconds: float,
        max_sessions: int,
        quota_mb: int = 0,
    ) -> None:
        self._backend = backend
        self._workspaces = workspaces
        self._skills = skills
        self._idle_seconds = idle_seconds
        self._max_sessions = max_sessions
        self._quota_mb = quota_mb
        self._sessions: dict[str, asyncio.Future[BoxSession]] = {}
        self._orders: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """A lock exists as long as a request of the session holds it or waits for it."""
        self._tasks = BackgroundTasks("a session of the Box could not be ended")
        self._swept_at = self._reaped_at = 0.0

    def start(self) -> None:
        """Starts the timer that ends idle sessions."""
        self._tasks.start(self._reap_regularly(), "box reaper")

    async def close(self) -> None:
        """Ends all sessions. Their workspaces stay."""
        await asyncio.gather(*(self.end(session_id) for session_id in list(self._sessions)))
        await self._tasks.aclose()

    def all(self) -> list[BoxSession]:
        """Returns the sessions that have started."""
        done = (each for each in self._sessions.values() if each.done() and not each.cancelled())
        return [each.result() for each in done if each.exception() is None]

    def get(self, session_id: str) -> BoxSession | None:
        return next((each for each in self.all() if each.spec.session_id == session_id), None)

    async def exec(self, request: ExecRequest) -> Fields:
        """Runs a command. A session is ended if parts of the command may linger: it ran out of time or of processes."""
        result = await self._use(request.session, lambda session: session.exec(request))
        if ends_session(result):
            await self.end(request.session.session_id)
        return result

    async def file(self, request: FileRequest) -> Fields:
        return await self._use(request.session, lambda session: session.file(request.operation, request.fields))

    async def end(self, session_id: str) -> bool:
        """Ends a session with everything in it. Returns whether there was one."""
        future = self._sessions.pop(session_id, None)
        if future is None:
            return False
        try:
            session = await asyncio.shield(future)
        except BoxError:
            return False
        session.state = "stopping"
        await self._close(session)
        return True

    async def delete_workspace(self, request: WorkspaceRequest) -> None:
        """Ends a session and deletes its files, after the requests that wait for it."""
        async with self._orders.setdefault(request.session_id, asyncio.Lock()):
            await self.end(request.session_id)
            await self._workspaces.delete(request.workspace_id, request.session_id)

    async def start_process(self, request: ManagedProcessStart) -> ManagedProcess:
        """Starts a managed process, which keeps its session from being ended when it is idle."""
        return await self._use(request.session, lambda session: session.processes.start(request.process))

    def find_process(self, request: ProcessRequest) -> ManagedProcess:
        """Returns a managed process. Raises BoxError."""
        session = self.get(request.session_id)
        if session is None or not session.is_alive:
            raise BoxError("session_not_found", f"there is no session '{request.session_id}'")
        return session.processes.get(request.process_id)

    async def _use(self, spec: SessionSpec, work: Callable[[BoxSession], Awaitable[Result]]) -> Result:
        """Does work in a session, in the order of the requests. A sandbox that has vanished is made again once."""
        async with self._orders.setdefault(spec.session_id, asyncio.Lock()):
            session = await self._session(spec)
            try:
                return await self._work_in(session, work)
            except SandboxGone:
                await self._forget(session)
            return await self._work_in(await self._session(spec), work)

    async def _work_in(self, session: BoxSession, work: Callable[[BoxSession], Awaitable[Result]]) -> Result:
        session.users += 1
        try:
            return await work(session)
        finally:
            session.users -= 1
            session.used_at, session.last_used_at = asyncio.get_running_loop().time(), time.time()
            if not session.is_alive:
                await self._forget(session)

    async def _session(self, spec: SessionSpec) -> BoxSession:
        while True:
            future = self._sessions.get(spec.session_id)
            if future is None:
                return await self._create(spec)
            session = await asyncio.shield(future)
            if not session.is_alive:
                await self._forget(session)
                continue
            conflicts = spec.conflicts_with(session.spec)
            if not conflicts and not session.spec.lacks_skills_of(spec):
                return session
            if session.processes:
                if not conflicts:
                    message = "the skills have changed while processes run; try again when they ended"
                    raise BoxError("session_stale", message, retryable=True)
                message = f"the session has processes and another {', '.join(conflicts)}; try again when they ended"
                raise BoxError("session_conflict", message, retryable=True)
            await self.end(spec.session_id)

    async def _create(self, spec: SessionSpec) -> BoxSession:
        await self._make_room()
        if (existing := self._sessions.get(spec.session_id)) is not None:
            return await asyncio.shield(existing)
        future: asyncio.Future[BoxSession] = asyncio.get_running_loop().create_future()
        self._sessions[spec.session_id] = future
        # The start goes on if the caller is cancelled, since others may wait for it.
        task = asyncio.ensure_future(self._start(spec, future))
        await asyncio.shield(task)
        return future.result()

    async def _start(self, spec: SessionSpec, future: "asyncio.Future[BoxSession]") -> None:
        workspace: OpenWorkspace | None = None
        try:
            skills = await self._skills.folders(spec.skills)
            workspace = await self._workspaces.open(spec)
            folders = SandboxFolders(workspace.folder, skills, workspace.memory_mb)
            sandbox = await self._backend.start(spec, folders, lambda event: self._on_event(spec.session_id, event))
        except BaseException as error:
            self._sessions.pop(spec.session_id, None)
            failure = error if isinstance(error, BoxError) else BoxError("backend_unavailable", str(error), True)
            future.set_exception(failure)
            future.exception()  # it may have no reader
            if workspace is not None:
                await self._workspaces.close(spec)
            if isinstance(error, Exception):
                return
            raise
        session = BoxSession(spec, sandbox, workspace, asyncio.get_running_loop().time(), time.time())
        future.set_result(session)
        self._tasks.start(self._watch_end(session))
        if self._quota_mb and workspace.quota in WATCHED:
            self._tasks.start(self._watch_quota(session, workspace.folder))
        if self._sessions.get(spec.session_id) is not future:  # it was ended while it started
            await self._close(session)

    async def _watch_end(self, session: BoxSession) -> None:
        """Forgets a session whose sandbox has ended by itself, so that its processes are known to have ended."""
        await session.sandbox.closed.wait()
        await self._forget(session)

    async def _watch_quota(self, session: BoxSession, folder: Path) -> None:
        """Ends a session whose workspace is over its quota."""
        over, closed = (
            asyncio.ensure_future(wait_until_over(folder, self._quota_mb)),
            asyncio.ensure_future(session.sandbox.closed.wait()),
        )
        try:
            await asyncio.wait({over, closed}, return_when=asyncio.FIRST_COMPLETED)
            if over.done() and not over.cancelled() and session.is_alive:
                logger.warning("session %s is over its quota: %d bytes", session.spec.session_id, over.result())
                session.is_over_quota = True
                await self._forget(session)
        finally:
            over.cancel()
            closed.cancel()

    async def _make_room(self) -> None:
        """Ends the session that was idle for the longest time if there are too many. Raises BoxError."""
        while len(self._sessions) >= self._max_sessions:
            idle = sorted((each for each in self.all() if each.is_idle), key=lambda session: session.used_at)
            if not idle:
                message = f"all {self._max_sessions} sandboxes are in use; try again in {CAPACITY_RETRY_SECONDS} s"
                raise BoxError("capacity_exceeded", message, retryable=True)
            await self.end(idle[0].spec.session_id)

    async def _forget(self, session: BoxSession) -> None:
        future = self._sessions.get(session.spec.session_id)
        if future is not None and future.done() and future.exception() is None and future.result() is session:
            del self._sessions[session.spec.session_id]
        await self._close(session)

    async def _close(self, session: BoxSession) -> None:
        """Ends the sandbox of a session, and the use of its workspace."""
        session.processes.end()
        await session.sandbox.close()
        if session.release is None:
            session.release = asyncio.ensure_future(self._workspaces.close(session.spec))
        await asyncio.shield(session.release)

    async def _reap_regularly(self) -> None:
        while True:
            await asyncio.sleep(REAP_SECONDS)
            await self.reap()

    async def reap(self) -> None:
        """Ends sessions that are idle for too long, and deletes workspaces that were not used for days."""
        now = asyncio.get_running_loop().time()
        for session in self.all():
            if not session.is_alive or (session.is_idle and now - session.used_at >= self._idle_seconds):
                await self.end(session.spec.session_id)
        await self._workspaces.touch([session.spec for session in self.all() if session.last_used_at > self._reaped_at])
        self._reaped_at = time.time()
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            await self._workspaces.sweep(set(self._sessions))
            await self._skills.sweep({each for session in self.all() for each in session.spec.skills.values()})

    def _on_event(self, session_id: str, event: dict[str, Any]) -> None:
        session = self.get(session_id)
        if session is not None:
            session.processes.on_event(event)
