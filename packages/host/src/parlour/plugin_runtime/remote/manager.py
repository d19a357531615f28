"""Administers the plugins of a standalone runtime: sends it requests, and shows the status that it reports."""

import asyncio
import base64
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import UNUSABLE, DeletePluginData, PluginError, PluginInfo
from parlour_sdk.wire import ConnectionClosed, WireError

from ..installer import Installer
from .messages import CHUNK_BYTES, RUNTIME_UNAVAILABLE
from .runtime import NotConnected, RemoteRuntime


class RemotePluginManager:
    """Fetches and checks packages on the Host, where the operator's sources are; the runtime builds and stores them."""

    def __init__(self, runtime: RemoteRuntime, installer: Installer, forget: DeletePluginData) -> None:
        self._runtime = runtime
        self._installer = installer
        self._delete_stored_data = forget

    async def refresh(self) -> None:
        """Waits until the Host knows the plugins. Which ones run is up to the runtime."""
        await self._runtime.wait_until_known()

    def all(self) -> list[PluginInfo]:
        try:
            return self._runtime.facts()
        except NotConnected as error:
            raise PluginError(RUNTIME_UNAVAILABLE, str(error)) from error

    def get(self, plugin_id: PluginId) -> PluginInfo | None:
        return next((each for each in self.all() if each.plugin_id == plugin_id), None)

    async def log(self, plugin_id: PluginId, limit: int) -> list[str]:
        answer = await self._request("log", {"plugin_id": plugin_id, "limit": limit})
        return list(answer["lines"])

    async def install(
        self, source: str, display_name: str | None, granted: Sequence[str] | None, upgrade: str | None
    ) -> PluginInfo:
        async with self._installer.package(source, display_name) as package:
            upload = await self._upload(package.plugin.folder)
            permissions = None if granted is None else list(granted)
            data = {"upload": upload, "shown": package.source, "granted": permissions, "upgrade": upgrade}
            return await self._change_plugin("install", data)

    async def change(self, plugin_id: PluginId, granted: Sequence[str] | None, enabled: bool | None) -> PluginInfo:
        permissions = None if granted is None else list(granted)
        return await self._change_plugin("change", {"plugin_id": plugin_id, "granted": permissions, "enabled": enabled})

    async def restart(self, plugin_id: PluginId) -> PluginInfo:
        return await self._change_plugin("restart", {"plugin_id": plugin_id})

    async def remove(self, plugin_id: PluginId, delete_data: bool) -> None:
        """Removes a plugin.

        Its data on the Host is deleted while it is still installed and disabled, so that an interrupted removal can be
        repeated.
        """
        if delete_data:
            await self._disable(plugin_id)
            await self._delete_stored_data(plugin_id)
        answer = await self._request("remove", {"plugin_id": plugin_id, "delete_data": delete_data})
        await self._runtime.wait_for_revision(answer["revision"], None)

    async def _disable(self, plugin_id: PluginId) -> None:
        try:
            await self.change(plugin_id, None, False)
        except PluginError as problem:
            if problem.code != UNUSABLE:  # an unusable plugin does not run anyway
                raise

    async def _change_plugin(self, action: str, data: dict[str, Any]) -> PluginInfo:
        answer = await self._request(action, data)
        plugin_id = PluginId(str(answer["plugin_id"]))
        await self._runtime.wait_for_revision(answer["revision"], plugin_id)
        info = self.get(plugin_id)
        if info is None:
            raise PluginError("not_found", f"plugin '{plugin_id}' was removed meanwhile")
        return info

    async def _request(self, action: str, data: dict[str, Any]) -> Any:
        try:
            return await self._runtime.request(action, data)
        except NotConnected as error:
            raise PluginError(RUNTIME_UNAVAILABLE, str(error)) from error
        except ConnectionClosed as error:
            message = f"the plugin runtime was lost while it worked ({error.reason}); look whether it has done it"
            raise PluginError(RUNTIME_UNAVAILABLE, message) from error
        except WireError as error:
            details = error.data if isinstance(error.data, dict) else {}
            if "revision" in details:
                await self._runtime.wait_for_revision(details["revision"], None)
            raise PluginError(error.code, error.message, details.get("details")) from error

    async def _upload(self, folder: Path) -> str:
        upload = str((await self._request("upload", {}))["upload"])
        with tempfile.TemporaryFile() as packed:
            await asyncio.to_thread(_pack, folder, packed)
            while chunk := await asyncio.to_thread(packed.read, CHUNK_BYTES):
                await self._request("upload_part", {"upload": upload, "data": base64.b64encode(chunk).decode()})
        return upload


def _pack(folder: Path, packed: Any) -> None:
    """Packs a folder uncompressed, since a high compression ratio counts as an attack on the other side."""
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    packed.seek(0)
