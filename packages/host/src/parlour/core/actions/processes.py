"""Actions that start granted programs for a plugin and write to them."""

import base64
import binascii
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.protocol.processes import ProcessOutput, ProcessPermission, ProcessStart, ProcessWrite

from .gate import PluginGrants
from .handlers import Handler


class GrantedProcesses(Protocol):
    """Starts programs for plugins. They raise CallRejected for what can't be started or written."""

    def run(
        self, plugin_id: PluginId, permission: ProcessPermission, request: ProcessStart
    ) -> AsyncGenerator[ProcessOutput, None]:
        """Starts a program and yields its output. The program ends with the generator, and all that it started."""
        ...

    async def write(self, plugin_id: PluginId, process_id: str, content: bytes, close: bool) -> None: ...

    async def append_file(self, plugin_id: PluginId, process_id: str, file: str, content: bytes) -> None: ...

    def locate(self, command: str) -> Path | None:
        """Returns the path of a program, or None if it is not installed."""
        ...

    def count_running(self, plugin_id: PluginId) -> Mapping[str, int]:
        """Returns how many programs of a plugin run, by the names of their permissions."""
        ...

    def has_folders(self, conversation_id: str) -> bool:
        """Returns whether programs have working directories of this conversation."""
        ...

    async def delete_folders(self, conversation_id: str) -> bool:
        """Ends the programs that work for a conversation, and deletes its working directories.

        Returns False if a program has not ended yet.
        """
        ...

    def clean_up(self) -> None:
        """Deletes folders that were not used for long, in the background."""
        ...


class NoProcesses:
    """Refuses to start programs, for a Host whose plugins run elsewhere."""

    def run(
        self, plugin_id: PluginId, permission: ProcessPermission, request: ProcessStart
    ) -> AsyncGenerator[ProcessOutput, None]:
        raise _UNAVAILABLE

    async def write(self, plugin_id: PluginId, process_id: str, content: bytes, close: bool) -> None:
        raise _UNAVAILABLE

    async def append_file(self, plugin_id: PluginId, process_id: str, file: str, content: bytes) -> None:
        raise _UNAVAILABLE

    def locate(self, command: str) -> Path | None:
        return None

    def count_running(self, plugin_id: PluginId) -> Mapping[str, int]:
        return {}

    def has_folders(self, conversation_id: str) -> bool:
        return False

    async def delete_folders(self, conversation_id: str) -> bool:
        return True

    def clean_up(self) -> None:
        pass


_UNAVAILABLE = CallRejected(
    "not_supported", "programs are started beside the Host only, and its plugins run in a standalone runtime"
)


class ProcessActions:
    def __init__(self, processes: GrantedProcesses, grants: PluginGrants) -> None:
        self._processes = processes
        self._grants = grants

    def handlers(self) -> Mapping[str, Handler]:
        return {"process_start": self.start, "process_write": self.write}

    async def start(self, caller: ActionCaller, request: ProcessStart) -> AsyncGenerator[ProcessOutput, None]:
        permission = _granted(self._grants(caller.plugin_id), request.process)
        async with aclosing(self._processes.run(caller.plugin_id, permission, request)) as parts:
            async for part in parts:
                yield part

    async def write(self, caller: ActionCaller, request: ProcessWrite) -> Done:
        try:
            content = base64.b64decode(request.content_base64, validate=True)
        except binascii.Error:
            raise CallRejected("invalid_argument", "process_write: content_base64: it is not base64") from None
        if request.file:
            await self._processes.append_file(caller.plugin_id, request.process_id, request.file, content)
        else:
            await self._processes.write(caller.plugin_id, request.process_id, content, request.close)
        return Done()


def _granted(permissions: PluginPermissions, name: str) -> ProcessPermission:
    """Returns the permission of this name. Raises CallRejected if the operator did not grant it."""
    for permission in permissions.processes:
        if permission.name == name:
            return permission
    raise CallRejected("unauthorized", f"processes: '{name[:40]}' was not granted; grant it on the plugin's page")
