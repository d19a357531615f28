"""The control connection of a Host: its identity, the status of plugins, and changes to them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour_sdk.wire import WireError

from .. import disk_errors
from ..remote import messages
from .sessions import HostSession, HostSessions, OpenPeer
from .status_broadcast import StatusBroadcast
from .tokens import Token
from .uploads import Uploads

logger = logging.getLogger(__name__)


class ControlChannel:
    """Serves the calls of one Host on its control connection."""

    def __init__(
        self,
        token: Token,
        manager: PluginManager,
        broadcast: StatusBroadcast,
        sessions: HostSessions,
        uploads: Uploads,
        version: str,
        connect: OpenPeer,
    ) -> None:
        self._token = token
        self._manager = manager
        self._broadcast = broadcast
        self._sessions = sessions
        self._uploads = uploads
        self._version = version
        self._session: HostSession | None = None
        self._active_tasks: set[asyncio.Task[Any]] = set()
        self._actions: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
            "log": self._log,
            "upload": self._upload,
            "upload_part": self._upload_part,
            "install": self._install,
            "change": self._change,
            "restart": self._restart,
            "remove": self._remove,
        }
        self.peer = connect(self)

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "hello":
            return self._hello(data)
        if self._session is None:
            raise WireError("unauthorized", "the first call on a connection is hello")
        if action == "watch":
            return self._broadcast.watch()
        if action not in self._actions:
            raise WireError("not_supported", f"the control connection has no action '{action}'")
        return self._run_to_completion(self._actions[action](data))

    def close(self) -> None:
        if self._session is not None:
            self._sessions.end(self._session)
        self._uploads.close()

    async def _hello(self, data: Any) -> dict[str, Any]:
        hello = messages.parse_message(messages.ControlHello, data)
        if hello.protocol != messages.RUNTIME_PROTOCOL_VERSION:
            raise WireError(
                "not_supported", messages.protocol_mismatch_text(hello.protocol, messages.RUNTIME_PROTOCOL_VERSION)
            )
        if self._session is not None:
            raise WireError("conflict", messages.HELLO_AGAIN)
        self._session = self._sessions.begin(self._token, self.peer)
        return messages.ControlWelcome(
            protocol=messages.RUNTIME_PROTOCOL_VERSION, version=self._version, session=self._session.id
        ).model_dump()

    async def _run_to_completion(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Completes a change even if the Host is lost, so that nothing stays half done."""
        task = asyncio.create_task(work)
        self._active_tasks.add(task)
        task.add_done_callback(self._on_task_done)
        try:
            return await asyncio.shield(task)
        except PluginError as problem:
            raise self._to_wire_error(problem) from problem
        except OSError as error:
            raise self._to_wire_error(disk_errors.disk_error(error, "the plugin runtime can't do this")) from error

    def _on_task_done(self, task: "asyncio.Task[Any]") -> None:
        self._active_tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.debug("a request of the Host failed: %s", task.exception())  # sent to the Host if it is there

    def _to_wire_error(self, problem: PluginError) -> WireError:
        return WireError(
            problem.code, problem.message, {"details": problem.details, "revision": self._broadcast.announce_change()}
        )

    async def _log(self, data: Any) -> dict[str, Any]:
        request = messages.parse_message(messages.LogRequest, data)
        return {"lines": _last_lines(await self._manager.log(request.plugin_id, request.limit))}

    async def _upload(self, data: Any) -> dict[str, Any]:
        return {"upload": self._uploads.begin()}

    async def _upload_part(self, data: Any) -> dict[str, Any]:
        part = messages.parse_message(messages.UploadPart, data)
        self._uploads.add(part.upload, part.data)
        return {}

    async def _install(self, data: Any) -> dict[str, Any]:
        request = messages.parse_message(messages.InstallRequest, data)
        path = self._uploads.finish(request.upload)
        try:
            with self._broadcast.poll_changes():
                info = await self._manager.install(str(path), request.shown, request.granted, request.upgrade)
        finally:
            self._uploads.drop(request.upload)
        return self._change_result(info.plugin_id)

    async def _change(self, data: Any) -> dict[str, Any]:
        request = messages.parse_message(messages.ChangeRequest, data)
        with self._broadcast.poll_changes():
            await self._manager.change(request.plugin_id, request.granted, request.enabled)
        return self._change_result(request.plugin_id)

    async def _restart(self, data: Any) -> dict[str, Any]:
        request = messages.parse_message(messages.RestartRequest, data)
        with self._broadcast.poll_changes():
            await self._manager.restart(request.plugin_id)
        return self._change_result(request.plugin_id)

    async def _remove(self, data: Any) -> dict[str, Any]:
        request = messages.parse_message(messages.RemoveRequest, data)
        with self._broadcast.poll_changes():
            await self._manager.remove(request.plugin_id, request.delete_data)
        return self._change_result(request.plugin_id)

    def _change_result(self, plugin_id: PluginId) -> dict[str, Any]:
        return {"plugin_id": plugin_id, "revision": self._broadcast.announce_change()}


def _last_lines(lines: list[str]) -> list[str]:
    """Returns as many of the last lines as are sure to fit in one frame."""
    remaining = messages.CHUNK_BYTES * 2
    last_lines: list[str] = []
    for line in reversed(lines):
        remaining -= len(line) + 4
        if remaining < 0:
            break
        last_lines.append(line)
    return last_lines[::-1]
