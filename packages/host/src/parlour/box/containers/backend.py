"""Runs each session in a container of podman or docker, with the agent inside."""

import asyncio
import hashlib
import os
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from parlour.core.box.messages import SessionSpec

from ..agent_channel import AgentChannel
from ..backend import BackendInfo, Fields, SandboxFolders
from ..errors import BoxError
from ..inside import WORKSPACE_INSIDE, ShownPath, resource_limits
from ..mount_policy import MountPolicy
from ..ownership import give
from .arguments import (
    NAME_PREFIX,
    SOCKET_NAME,
    ContainerPaths,
    Engine,
    EngineName,
    list_arguments,
    remove_arguments,
    run_arguments,
)
from .engine import command, find_engine

CONNECT_SECONDS: Final = 20.0
SOCKETS_FOLDER: Final = ".sockets"
PROFILE_FILE: Final = ".seccomp.json"


class ContainerSandbox:
    """A container, and the connection to its agent."""

    def __init__(self, engine: Engine, name: str, channel: AgentChannel) -> None:
        self._engine = engine
        self._name = name
        self._channel = channel
        self._seen: dict[str, int] = {}
        self._reason = ""
        self._is_removed = False

    @property
    def closed(self) -> asyncio.Event:
        return self._channel.closed

    async def request(self, operation: str, fields: Fields) -> Fields:
        answer = await self._channel.request(operation, fields)
        pressure = {name: int(count) for name, count in dict(answer.get("pressure") or {}).items()}
        for name, count in pressure.items():
            if count > self._seen.get(name, 0) and self._reason != "memory":
                self._reason = name
        self._seen |= pressure
        return answer

    def death_reason(self) -> str:
        reason, self._reason = self._reason, ""
        return reason

    async def close(self) -> None:
        self._channel.close()
        if not self._is_removed:
            self._is_removed = True
            await command(remove_arguments(self._engine, [self._name]))


class ContainerBackend:
    """Starts containers."""

    def __init__(
        self,
        name: EngineName,
        image: str,
        root: Path,
        tools: Sequence[ShownPath] = (),
        mounts: MountPolicy | None = None,
    ) -> None:
        """`root` is the folder of the workspaces; `mounts` decides which files of the machine sessions may show."""
        self._name = name
        self._image = image
        self._root = root
        self._tools = tools
        self._mounts = mounts or MountPolicy((), ())
        self._engine: Engine | None = None

    async def probe(self) -> BackendInfo:
        self._engine = engine = await find_engine(
            self._name, self._image, _owner(self._root), self._root / PROFILE_FILE
        )
        quota = "advisory" if engine.name == "docker" else ""  # its engine does not see what the Box mounts
        weaker = engine.name == "podman" and not engine.seccomp_profile
        notices = [
            "" if engine.has_groups else f"{engine.name} limits memory per process only: it has no control groups",
            "system calls are filtered by podman's own profile, which allows namespaces" if weaker else "",
        ]
        return BackendInfo(engine.name, engine.program, engine.limits, quota, "; ".join(filter(None, notices)))

    async def remove_orphans(self) -> int:
        engine = self._probed()
        shutil.rmtree(self._root / SOCKETS_FOLDER, ignore_errors=True)
        found = (await command(list_arguments(engine))).lines
        if found:
            await command(remove_arguments(engine, found))
        return len(found)

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]
    ) -> ContainerSandbox:
        engine = self._probed()
        name = f"{NAME_PREFIX}{engine.owner[:8]}-{uuid4().hex[:16]}"
        limits = {"RLIMIT_CORE": 0}
        if not engine.has_groups:
            limits |= resource_limits(spec.memory_mb, spec.processes)
        if not folders.memory_mb:
            await asyncio.to_thread(give, folders.workspace, engine.user, engine.group)
        with self._mounts.open(spec.mounts) as (_, descriptors):
            expected = {str(WORKSPACE_INSIDE): (0, 0) if folders.memory_mb else _identity(os.stat(folders.workspace))}
            expected |= {path: _identity(os.fstat(each)) for path, each in zip(spec.mounts, descriptors, strict=True)}
            async with _listening(self._root / SOCKETS_FOLDER / name, engine) as listener:
                paths = ContainerPaths(folders, self._root / SOCKETS_FOLDER / name, self._tools, spec.mounts)
                started = await command(run_arguments(engine, name, spec, paths, limits))
                if started.status != 0:
                    reason = started.lines[-1] if started.lines else f"exit status {started.status}"
                    await command(remove_arguments(engine, [name]))
                    raise BoxError("backend_unavailable", f"{engine.name} did not start a container: {reason}", True)
                try:
                    return await self._connect(engine, name, listener, expected, on_event)
                except BaseException:
                    await asyncio.shield(command(remove_arguments(engine, [name])))
                    raise

    async def close(self) -> None:
        """Has nothing to remove: each container is removed with its sandbox."""

    async def _connect(
        self,
        engine: Engine,
        name: str,
        listener: socket.socket,
        expected: dict[str, tuple[int, int]],
        on_event: Callable[[Fields], None],
    ) -> ContainerSandbox:
        """Waits for the agent, and compares what it sees before the first command with what it was to see."""
        channel: AgentChannel | None = None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                connection, _ = await asyncio.get_running_loop().sock_accept(listener)
                channel = await AgentChannel.over(connection, on_event)
                await channel.ready
                seen = await channel.request("identify", {"paths": list(expected)})
        except TimeoutError:
            if channel is not None:
                channel.close()
            message = f"the agent in the container did not answer within {CONNECT_SECONDS:g} s"
            raise BoxError("backend_unavailable", message, retryable=True) from None
        for path, identity in expected.items():
            if identity != (0, 0) and tuple(seen[path]) != identity:
                channel.close()
                message = f"the container shows another file at {path}; {engine.name} must see the disk as the Box does"
                raise BoxError("mount_refused", message)
        return ContainerSandbox(engine, name, channel)

    def _probed(self) -> Engine:
        if self._engine is None:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        return self._engine


@asynccontextmanager
async def _listening(folder: Path, engine: Engine) -> AsyncIterator[socket.socket]:
    """Yields a socket in a folder of its own. Both are gone before the first command of the session."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _bind_in(folder, listener, engine)
        listener.setblocking(False)
        listener.listen(1)
        yield listener
    finally:
        listener.close()
        shutil.rmtree(folder, ignore_errors=True)


def _bind_in(folder: Path, listener: socket.socket, engine: Engine) -> None:
    """Binds a socket in a new folder, through a descriptor, since the path of a socket has at most 107 bytes."""
    folder.mkdir(mode=0o700, parents=True)
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{SOCKET_NAME}")
        if os.geteuid() == 0:
            for path in (folder, folder / SOCKET_NAME):
                os.chown(path, engine.user, engine.group)
    finally:
        os.close(descriptor)


def _owner(root: Path) -> str:
    """Returns the label of the containers of the Box that uses a folder."""
    return hashlib.sha256(os.path.realpath(root).encode()).hexdigest()[:16]


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino
