"""Response schemas of a plugin."""

from typing import Literal

from typing_extensions import TypedDict

from ..responses import LocalizedText, TimestampMs

Permissions = dict[str, list[str]]
PluginState = Literal["building", "starting", "ready", "waiting", "failed", "stopped", "disabled"]


class PermissionTextResponse(TypedDict):
    key: str
    values: dict[str, str]
    """What the text in another language is made with."""
    text: str
    """What it may do, such as "call tools"."""


class PermissionTextsResponse(TypedDict):
    asked: list[PermissionTextResponse]
    granted: list[PermissionTextResponse]
    ungranted: list[PermissionTextResponse]


class PluginPermissionsResponse(TypedDict):
    asked: Permissions
    granted: Permissions
    ungranted: Permissions
    """Asked for and not granted."""
    words: PermissionTextsResponse


class PluginComponent(TypedDict):
    kind: str
    name: str


class BundledPluginResponse(TypedDict):
    """A plugin that comes with Parlour."""

    id: str
    """`author/name`."""
    source: str
    """What to install it from."""
    version: str
    installed_version: str | None
    """Null if it is not installed."""
    label: LocalizedText | None
    description: LocalizedText | None
    icon: str | None
    """A data URL."""


class PluginResponse(TypedDict):
    id: str
    """`author/name`."""
    version: str
    status: PluginState
    """`building`: its environment; `waiting`: for its next start; `failed`: until somebody does something."""
    reason: str | None
    """Why it does not run, or what else is to be known about it."""
    enabled: bool
    label: LocalizedText | None
    description: LocalizedText | None
    permissions: PluginPermissionsResponse
    sandbox: str | None
    """How it is confined; null when that is not known."""
    sandbox_reason: str | None
    sandbox_remedy: str | None
    sandbox_missing: bool
    """Whether a sandbox is wanted and can't be had."""
    sandbox_command: str | None
    """What to type where the plugin runs to have it; null when that is not known."""
    source: str
    """Where it came from."""
    sha256: str
    installed_at: TimestampMs | None
    components: list[PluginComponent]
    configurable: bool
    """Whether it has a form of its own, at `/plugins/{author}/{name}/config`."""
    warnings: list[str]
