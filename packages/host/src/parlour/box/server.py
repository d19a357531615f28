"""Serves the requests of a Host: first its configuration, then commands, files and sessions."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from parlour.core.box.messages import (
    BOX_PROTOCOL_VERSION,
    BoxConfig,
    BoxInit,
    ExecRequest,
    FileRequest,
    ManagedProcessStart,
    ProcessRequest,
    SessionRequest,
    SkillCheck,
    SkillPiece,
    WheelPiece,
    WheelsComplete,
    WheelsRequest,
    WorkspaceRequest,
)

from .backend import BackendUnavailable
from .backend_choice import ChosenBackend
from .errors import BoxError
from .private_mounts import PrivateMounts
from .project_quotas import ProjectQuotas
from .session import BoxSession
from .sessions import BoxSessions
from .skill_store import SkillStore
from .wheel_store import WheelStore
from .workspace_images import WorkspaceImages
from .workspaces import Workspaces

logger = logging.getLogger(__name__)

Model = TypeVar("Model", bound=BaseModel)
MakeBackend = Callable[[BoxConfig], ChosenBackend]


class BoxServer:
    """Dispatches the requests of one Host. Until it is initialized, nothing but `box_init` is served."""

    def __init__(self, make_backend: MakeBackend, version: str) -> None:
        self._make_backend = make_backend
        self._version = version
        self._backend: ChosenBackend | None = None
        self._sessions: BoxSessions | None = None
        self._skills: SkillStore | None = None
        self._wheels: WheelStore | None = None
        self._quota = ""
        self._initializing = asyncio.Lock()
        self._initialized_by: tuple[str, BoxConfig] | None = None
        self._actions: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
            "box_exec": self._exec,
            "box_file": self._file,
            "box_session_list": self._list,
            "box_session_delete": self._delete,
            "box_status": self._status,
            "box_workspace_delete": self._delete_workspace,
            "box_process_start": self._start_process,
            "box_process_feed": self._feed_process,
            "box_process_stop": self._stop_process,
            "box_skill_check": self._check_skills,
            "box_skill_put": self._put_skill,
            "box_wheels_check": self._check_wheels,
            "box_wheel_put": self._put_wheel,
            "box_wheels_complete": self._complete_wheels,
        }

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "box_init":
            return self.initialize(data)
        if action == "box_process_attach":
            return self._attach(data)
        handler = self._actions.get(action)
        if handler is None:
            raise BoxError("not_supported", f"this Box has no action '{action[:100]}'")
        if self._sessions is None:
            raise BoxError("not_ready", "the Box is not initialized; call box_init first", retryable=True)
        return handler(data)

    async def close(self) -> None:
        """Ends all sessions and removes what the backend holds."""
        if self._sessions is not None:
            await self._sessions.close()
        if self._backend is not None:
            await self._backend.close()

    async def initialize(self, data: Any) -> dict[str, Any]:
        """Configures the Box for a Host, and tries its backend out. Raises BoxError."""
        request = _parse(BoxInit, data)
        if request.protocol != BOX_PROTOCOL_VERSION:
            message = f"the Host speaks Box protocol {request.protocol} and this Box {BOX_PROTOCOL_VERSION}"
            raise BoxError("not_supported", f"{message}; use the same version of Parlour on both sides")
        async with self._initializing:
            config = request.config
            if self._sessions is not None and self._initialized_by == (request.host_id, config):
                return await self._status(None)  # the Host has connected again
            self._initialized_by = None
            await self.close()
            self._backend = backend = self._make_backend(config)
            try:
                await backend.probe()
            except BackendUnavailable as missing:
                self._sessions = None
                details = {"reason": missing.reason, "remedy": missing.remedy, "command": missing.command}
                error = BoxError("backend_unavailable", str(missing))
                error.data = {"retryable": False, **details, "refused": [each.fields() for each in backend.refused]}
                raise error from missing
            await backend.remove_orphans()
            info = backend.info
            assert info is not None, "it was probed"
            images = None if info.quota else await self._usable_images(config)
            projects = None if images is not None or info.quota == "remote" else await self._usable_projects(config)
            self._quota = "loop" if images is not None else "project" if projects is not None else "advisory"
            if info.quota == "remote":
                self._quota = info.quota
            quota_mb = 0 if info.quota == "remote" else config.workspace_mb
            workspaces = Workspaces(Path(config.root), config.workspace_days, quota_mb, images, projects=projects)
            root = Path(config.skills_root) if config.skills_root else Path(config.root).with_name("skills")
            self._skills = SkillStore(root, config.workspace_days)
            self._wheels = WheelStore(Path(config.wheels)) if config.wheels else None
            self._sessions = BoxSessions(
                backend, workspaces, self._skills, config.idle_seconds, config.max_sessions, quota_mb
            )
            self._sessions.start()
            self._initialized_by = (request.host_id, config)
        return await self._status(None)

    async def _usable_images(self, config: BoxConfig) -> WorkspaceImages | None:
        """Returns what keeps workspaces in images; None if that is off or does not work here."""
        if config.quota == "advisory" or not PrivateMounts.is_entered:
            return None
        images = WorkspaceImages(config.workspace_mb)
        problem = await asyncio.to_thread(images.problem, Path(config.root))
        if problem:
            logger.info("workspaces are not kept in images: %s", problem)
            return None
        return images

    async def _usable_projects(self, config: BoxConfig) -> ProjectQuotas | None:
        """Returns what limits folders by project quotas; None if that is off or does not work here."""
        if config.quota == "advisory":
            return None
        projects = ProjectQuotas(config.workspace_mb)
        problem = await asyncio.to_thread(projects.problem, Path(config.root))
        if problem:
            logger.info("the sizes of workspaces are watched, since project quotas can't be used: %s", problem)
            return None
        return projects

    async def _status(self, data: Any) -> dict[str, Any]:
        assert self._backend is not None
        assert self._sessions is not None
        info = self._backend.info
        assert info is not None, "it was probed"
        return {
            "version": self._version,
            "backend": info.name,
            "program": info.version,
            "limits": info.limits,
            "quota": self._quota,
            "notice": info.notice,
            "refused": [each.fields() for each in self._backend.refused],
            "sessions": len(self._sessions.all()),
        }

    async def _exec(self, data: Any) -> dict[str, Any]:
        return await self._ready.exec(_parse(ExecRequest, data))

    async def _file(self, data: Any) -> dict[str, Any]:
        return await self._ready.file(_parse(FileRequest, data))

    async def _list(self, data: Any) -> dict[str, Any]:
        return {"sessions": [_session_fields(session) for session in self._ready.all()]}

    async def _delete(self, data: Any) -> dict[str, Any]:
        return {"deleted": await self._ready.end(_parse(SessionRequest, data).session_id)}

    async def _delete_workspace(self, data: Any) -> dict[str, Any]:
        await self._ready.delete_workspace(_parse(WorkspaceRequest, data))
        return {}

    async def _start_process(self, data: Any) -> dict[str, Any]:
        return (await self._ready.start_process(_parse(ManagedProcessStart, data))).fields()

    async def _feed_process(self, data: Any) -> dict[str, Any]:
        request = _parse(ProcessRequest, data)
        await self._ready.find_process(request).feed(request.data)
        return {}

    async def _stop_process(self, data: Any) -> dict[str, Any]:
        request = _parse(ProcessRequest, data)
        process = self._ready.find_process(request)
        await process.stop(request.force)
        return process.fields()

    async def _attach(self, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        async with aclosing(self._ready.find_process(_parse(ProcessRequest, data)).attach()) as output:
            async for part in output:
                yield part

    async def _check_skills(self, data: Any) -> dict[str, Any]:
        return {"missing": await self._skill_store.missing(_parse(SkillCheck, data).digests)}

    async def _put_skill(self, data: Any) -> dict[str, Any]:
        piece = _parse(SkillPiece, data)
        await self._skill_store.receive(piece.sha256, piece.offset, piece.data, piece.last)
        return {}

    async def _check_wheels(self, data: Any) -> dict[str, Any]:
        return {"present": await self._wheel_store.has(_parse(WheelsRequest, data).digest)}

    async def _put_wheel(self, data: Any) -> dict[str, Any]:
        piece = _parse(WheelPiece, data)
        await self._wheel_store.receive(piece.digest, piece.name, piece.offset, piece.data)
        return {}

    async def _complete_wheels(self, data: Any) -> dict[str, Any]:
        request = _parse(WheelsComplete, data)
        await self._wheel_store.complete(request.digest, request.needed)
        return {}

    @property
    def _wheel_store(self) -> WheelStore:
        if self._wheels is None:
            raise BoxError("not_supported", "this Box has no folder for wheels")
        return self._wheels

    @property
    def _skill_store(self) -> SkillStore:
        if self._skills is None:
            raise BoxError("not_ready", "the Box is being initialized", retryable=True)
        return self._skills

    @property
    def _ready(self) -> BoxSessions:
        if self._sessions is None:
            raise BoxError("not_ready", "the Box is being initialized", retryable=True)
        return self._sessions


def _session_fields(session: BoxSession) -> dict[str, Any]:
    spec = session.spec
    return {
        "session_id": spec.session_id,
        "title": spec.title,
        "workspace_id": spec.workspace_id,
        "state": session.state if session.is_alive else "stopping",
        "created_at": round(session.created_at * 1000),
        "last_used_at": round((time.time() if session.users else session.last_used_at) * 1000),
        "busy": session.users > 0,
        "execs": session.execs,
        "cpus": spec.cpus,
        "memory_mb": spec.memory_mb,
        "processes": spec.processes,
        "network": spec.network,
        "read_only": spec.read_only,
        "persistent": spec.persistent,
        "quota": session.workspace.quota,
        "mounts": spec.mounts,
        "process_list": [process.fields() for process in session.processes.all()],
    }


def _parse(model: type[Model], data: Any) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "data"
        raise BoxError("invalid_spec", f"{field}: {first['msg']}") from error
