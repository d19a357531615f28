"""The port for the administration of plugins: their description, operations and errors. It knows no process or file."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from parlour_sdk.protocol.form import FormItem
from parlour_sdk.values import dataclass

from .ids import PluginId

PermissionMap = Mapping[str, Sequence[str]]
"""Permissions by key, such as `{"network": ["api.example.org"]}`."""
DeletePluginData = Callable[[PluginId], Awaitable[None]]
"""Deletes the data that a plugin has stored with the Host. It is called after the plugin's process has ended."""


UNUSABLE = "plugin_unusable"
"""Error code of a plugin that is too incomplete for anything but installing it again or removing it."""


class PluginError(Exception):
    """Raised when an operation on a plugin fails; nothing was changed unless the message says so."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class PluginManifestReport:
    """Runners and components that a plugin's process declares when it is ready, not yet validated."""

    runners: list[Any]
    components: list[Any]


@dataclass(frozen=True, slots=True)
class BundledPlugin:
    """A plugin that comes with Parlour and can be installed from its own files."""

    plugin_id: PluginId
    source: str
    """What to install it from."""
    version: str
    label: dict[str, str] | None
    description: dict[str, str] | None
    icon: str = ""
    """A data URL; empty if it has none."""


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """Describes an installed plugin for operators."""

    plugin_id: PluginId
    version: str
    status: str
    reason: str
    label: dict[str, str] | None
    description: dict[str, str] | None
    asked: PermissionMap
    granted: PermissionMap
    enabled: bool
    source: str
    sha256: str
    installed_at: int
    components: tuple[dict[str, str], ...]
    warnings: tuple[str, ...] = ()
    """Harmless problems of its files."""
    sandbox: str = ""
    """Kind of its sandbox; empty if it is not known."""
    sandbox_reason: str = ""
    sandbox_remedy: str = ""
    sandbox_missing: bool = False
    """True if a sandbox is required but not available."""
    config_schema: tuple[FormItem, ...] = ()
    """The form of its own configuration."""
    programs: tuple[dict[str, Any], ...] = ()
    """The programs that it asks for, as its manifest declares them."""
    sandbox_command: str = ""
    """Command that makes the sandbox available on the machine of the plugin, if known."""

    @property
    def ungranted(self) -> dict[str, list[str]]:
        """Permissions that the plugin asks for and was not granted."""
        missing = {
            key: [each for each in values if each not in self.granted.get(key, ())]
            for key, values in self.asked.items()
        }
        return {key: values for key, values in missing.items() if values}


class PluginManager(Protocol):
    """Installs, changes and removes plugins. Every method raises PluginError."""

    def all(self) -> list[PluginInfo]: ...

    def get(self, plugin_id: PluginId) -> PluginInfo | None: ...

    async def log(self, plugin_id: PluginId, limit: int) -> list[str]: ...

    async def install(
        self, source: str, shown: str | None, granted: Sequence[str] | None, upgrade: str | None
    ) -> PluginInfo:
        """Installs a plugin from a folder, zip or git address, which operators see as `shown`.

        `granted` lists the permissions it receives of those it asks for.
        """
        ...

    async def change(self, plugin_id: PluginId, granted: Sequence[str] | None, enabled: bool | None) -> PluginInfo: ...

    async def restart(self, plugin_id: PluginId) -> PluginInfo: ...

    async def remove(self, plugin_id: PluginId, delete_data: bool) -> None: ...
